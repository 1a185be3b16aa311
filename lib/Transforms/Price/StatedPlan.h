//===- StatedPlan.h - The plan that a module states -------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_TRANSFORMS_PRICE_STATEDPLAN_H
#define AUTOPAR_LIB_TRANSFORMS_PRICE_STATEDPLAN_H

#include "autopar/Plan/Plan.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"

namespace autopar::transforms {

/// Returns the plan that `module` follows: its mesh, its strategy, its stages
/// and the placement of its experts. With the flags of this plan, the model
/// becomes the same module. Error: a mesh whose degrees contradict each other.
Result<plan::Plan> planOf(mlir::ModuleOp module);

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_PRICE_STATEDPLAN_H
