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

/// A sweep on the command line.
struct SweepArgument {
  SearchArgument search;
  /// Whether each row has the best plan of its own.
  bool searches = false;
  /// File of the plot, and its column.
  std::string svg, plot;
  /// The names of the flags that were given, in order.
  std::vector<std::string> order;
};

/// Prints a table of estimates over all listed values.
int sweepPlans(const SweepArgument &sweep, pipelines::PlanFlags &flags,
               const pipelines::PlanValues &values);

} // namespace autopar

#endif // AUTOPAR_TOOLS_AUTOPAR_SWEEPCOMMAND_H
