//===- FlagValues.h - What flags of plans were given ------------*- C++ -*-===//
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

/// What `values` have for the flag called `name`, which plans must have.
std::vector<std::string> &valuesOf(const PlanFlags &flags, PlanValues &values,
                                   const std::string &name);

/// Plan, machine and step that `values` say. Errors: a flag that cannot have
/// its value; one without a message has been printed.
Result<PlanRequest> readFlags(const PlanValues &values);

} // namespace autopar::pipelines

#endif // AUTOPAR_PIPELINES_FLAGVALUES_H
