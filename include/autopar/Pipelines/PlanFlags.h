//===- PlanFlags.h - The product flags of command lines ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PIPELINES_PLANFLAGS_H
#define AUTOPAR_PIPELINES_PLANFLAGS_H

#include "autopar/Support/Result.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace autopar::pipelines {

struct PlanOptions;

/// One option of a plan as a flag, for whatever reads the command line.
struct PlanFlag {
  std::string name, help;
  /// How its value is written in help text: "N".
  std::string value;
  /// What the flag says alone; "" of one that needs a value.
  std::string bare;
  /// The heading that it stands under in help.
  std::string group;
};

/// Values of flags by their number in `PlanFlags::all`.
using PlanValues = std::vector<std::vector<std::string>>;

/// A flag for each of `PlanOptions`, in the order of help: by group, what
/// matters most first. This header sees neither LLVM nor MLIR.
class PlanFlags {
public:
  PlanFlags();
  ~PlanFlags();

  const std::vector<PlanFlag> &all() const { return flags; }
  const PlanOptions &options() const { return *plan; }

  /// Gives the option of `flag` the value `text`, "" where the flag stood
  /// alone. The error: that it cannot have it; without a message where it has
  /// been printed.
  std::optional<Error> set(const PlanFlag &flag, const std::string &text);
  /// Gives all flags their values, as the command line of `tool`.
  std::optional<Error> setAll(const PlanValues &values, const char *tool);

private:
  std::unique_ptr<PlanOptions> plan;
  std::vector<PlanFlag> flags;
};

} // namespace autopar::pipelines

#endif // AUTOPAR_PIPELINES_PLANFLAGS_H
