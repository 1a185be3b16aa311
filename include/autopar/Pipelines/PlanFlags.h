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

/// One option of a plan as a command-line flag, for parsers of command lines.
struct PlanFlag {
  std::string name, help;
  /// The placeholder for the value in help: "N".
  std::string value;
  /// The value that the flag has if it is given without one; "" if it needs a
  /// value.
  std::string bare;
  /// The heading in help under which the flag is listed.
  std::string group;
};

/// The values of all flags, by the flag's index in `PlanFlags::all`.
using PlanValues = std::vector<std::vector<std::string>>;

/// One flag for each option of `PlanOptions`, in the order of help: by group,
/// most important first. This header includes neither LLVM nor MLIR.
class PlanFlags {
public:
  PlanFlags();
  ~PlanFlags();

  const std::vector<PlanFlag> &all() const { return flags; }
  const PlanOptions &options() const { return *plan; }

  /// Sets the option of `flag` to `text`; "" is a flag without a value. Returns
  /// an error for an invalid value, without a message if it has been printed.
  std::optional<Error> set(const PlanFlag &flag, const std::string &text);
  /// Sets the values of all flags, as if they were on the command line of
  /// `tool`.
  std::optional<Error> setAll(const PlanValues &values, const char *tool);

private:
  std::unique_ptr<PlanOptions> plan;
  std::vector<PlanFlag> flags;
};

} // namespace autopar::pipelines

#endif // AUTOPAR_PIPELINES_PLANFLAGS_H
