//===- NameRuns.h - Names of layers in one line --------------- -*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_CHECKPOINT_NAMERUNS_H
#define AUTOPAR_LIB_CHECKPOINT_NAMERUNS_H

#include "autopar/Support/Checked.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace autopar::checkpoint {

/// A name without its numbers: the texts {"model.layers.", ".mlp"} and the
/// numbers {31}.
struct NumberedName {
  /// The texts before, between and after the numbers.
  std::vector<std::string> texts;
  std::vector<uint64_t> numbers;
};
NumberedName splitNumbers(std::string_view name);

/// Names that differ only in numbers and have the same `detail`.
struct NameRun {
  std::vector<std::string> texts;
  std::string detail;
  /// For each place of a number, the numbers that occur there.
  std::vector<std::set<uint64_t>> numbers;
  uint64_t count = 0;
  Checked bytes;

  /// Returns the names as one text: "model.layers.{0..31}.mlp.up_proj.weight".
  std::string str() const;
};

/// Collects names into runs, in the order in which they were first added.
class NameRuns {
public:
  void add(std::string_view name, std::string detail, Checked bytes);
  const std::vector<NameRun> &runs() const { return list; }
  uint64_t count() const { return names; }
  Checked bytes() const { return sum; }

private:
  std::vector<NameRun> list;
  std::map<std::pair<std::vector<std::string>, std::string>, size_t> places;
  uint64_t names = 0;
  Checked sum;
};

} // namespace autopar::checkpoint

#endif // AUTOPAR_LIB_CHECKPOINT_NAMERUNS_H
