//===- ExpertLimits.h - The capacity of a module's experts ------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_ANALYSIS_EXPERTLIMITS_H
#define AUTOPAR_LIB_ANALYSIS_EXPERTLIMITS_H

#include "ExpertTables.h"

namespace autopar::analysis {

/// Reads the capacity of experts from the `training.iteration` of `module` into
/// `program`. Emits an error if no layer has experts, or if layers route
/// differently.
mlir::LogicalResult readExpertCapacity(mlir::ModuleOp module,
                                       ExpertTables &tables,
                                       WorkloadBuilder &builder,
                                       program::CostProgram &program);

} // namespace autopar::analysis

#endif // AUTOPAR_LIB_ANALYSIS_EXPERTLIMITS_H
