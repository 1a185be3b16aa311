//===- ModulePlan.h - The plan that a module follows ------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_TRANSFORMS_MODULEPLAN_H
#define AUTOPAR_LIB_TRANSFORMS_MODULEPLAN_H

#include "autopar/Plan/Plan.h"
#include "autopar/Program/CostProgram.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"

namespace autopar {

/// The plan that `module` follows, as far as the IR and its cost program show
/// it: the mesh, the formats, and how tokens, parameters and contexts are
/// split. The flags that it stands for turn the model into the same module.
/// Errors: a mesh whose degrees contradict each other.
Result<Plan> planOf(mlir::ModuleOp module, const CostProgram &program);

} // namespace autopar

#endif // AUTOPAR_LIB_TRANSFORMS_MODULEPLAN_H
