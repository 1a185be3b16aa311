//===- SweepCommand.h - autopar sweep ---------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TOOLS_AUTOPAR_SWEEPCOMMAND_H
#define AUTOPAR_TOOLS_AUTOPAR_SWEEPCOMMAND_H

#include "ModelCommands.h"

namespace autopar {

/// A sweep, as the command line describes it.
struct SweepArgument {
  SearchArgument search;
  /// Whether a search finds the best plan for each row.
  bool searches = false;
  /// The file of the plot, and the column that it shows.
  std::string svg, plot;
  /// The names of the flags that were given, in their order.
  std::vector<std::string> order;
};

/// Prints a table of estimates over all listed values. Returns the exit code.
int sweepPlans(const SweepArgument &sweep, pipelines::PlanFlags &flags,
               const pipelines::PlanValues &values);

} // namespace autopar

#endif // AUTOPAR_TOOLS_AUTOPAR_SWEEPCOMMAND_H
