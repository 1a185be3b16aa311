//===- FlagValues.h - Values of a plan's flags ------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PIPELINES_FLAGVALUES_H
#define AUTOPAR_PIPELINES_FLAGVALUES_H

#include "autopar/Pipelines/PlanFlags.h"
#include "autopar/Pipelines/PlanPasses.h"

#include <string>
#include <vector>

namespace autopar::pipelines {

/// Returns the values of the flag `name` in `values`; the flag must exist.
std::vector<std::string> &valuesOf(const PlanFlags &flags, PlanValues &values,
                                   const std::string &name);

/// Reads plan, machine and step from the values of flags. Error: an invalid
/// value; an error without a message has been printed.
Result<PlanRequest> readFlags(const PlanValues &values);

} // namespace autopar::pipelines

#endif // AUTOPAR_PIPELINES_FLAGVALUES_H
