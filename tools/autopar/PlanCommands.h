//===- PlanCommands.h - Flags of a plan, autopar groups ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TOOLS_AUTOPAR_PLANCOMMANDS_H
#define AUTOPAR_TOOLS_AUTOPAR_PLANCOMMANDS_H

#include "autopar/Pipelines/PlanFlags.h"

#include <string>
#include <vector>

namespace autopar {

/// Values of flags by their number in `PlanFlags::all`.
using PlanValues = std::vector<std::vector<std::string>>;

/// Gives `flags` their values. False, and an error on stderr, where they
/// cannot have them.
bool setFlags(PlanFlags &flags, const PlanValues &values);

/// Prints the device groups of axis or degree `name`; the exit code.
int printGroups(const std::string &name, PlanFlags &flags,
                const PlanValues &values);

} // namespace autopar

#endif // AUTOPAR_TOOLS_AUTOPAR_PLANCOMMANDS_H
