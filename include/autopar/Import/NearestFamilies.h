//===- NearestFamilies.h - Families that a model resembles ------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_IMPORT_NEARESTFAMILIES_H
#define AUTOPAR_IMPORT_NEARESTFAMILIES_H

#include "autopar/Checkpoint/Checkpoint.h"
#include "autopar/Model/Model.h"

namespace autopar::importer {

/// How like a model is to one that a family would make of the same config.
struct Likeness {
  std::string family;
  /// Tensors that both have by shape and by what names end with behind the last
  /// number, of those that either has.
  double share = 0;
  /// Whether both have the same names and shapes.
  bool isEqual = false;
  /// Whether the family builds on another: of equals, one that does not is
  /// better known.
  bool hasBase = false;
};

/// The families that read `config` as if it were of their type, at most
/// `count` of them, by the tensors that they have in common with `checkpoint`,
/// most first; those with hardly any are left out.
std::vector<Likeness>
nearestFamilies(const JsonDocument &config,
                const checkpoint::CheckpointIndex &checkpoint, size_t count);

/// "qwen3 (87 % of tensors), llama (80 %)"; "" for none.
std::string formatLikenesses(const std::vector<Likeness> &nearest);

/// The families that read `config` as if it were of their type and leave the
/// fewest keys unread, at most `count`; of equals, those that read most.
std::vector<std::string> familiesThatRead(const JsonDocument &config,
                                          size_t count);

} // namespace autopar::importer

#endif // AUTOPAR_IMPORT_NEARESTFAMILIES_H
