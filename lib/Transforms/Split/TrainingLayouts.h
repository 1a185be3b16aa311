//===- TrainingLayouts.h - Where backwards find what is theirs --*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_TRANSFORMS_SPLIT_TRAININGLAYOUTS_H
#define AUTOPAR_LIB_TRANSFORMS_SPLIT_TRAININGLAYOUTS_H

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace autopar::transforms {

/// Types that the first operand and the result of an op must have; null: as
/// they are.
struct TrainingLayout {
  mlir::Type operand, result;
};

/// What is saved lies as it comes, and is read as it lies. A gradient is kept
/// as its weight, or the part that it is of, lies, but for sums over axes that
/// do not split that; it is read as it lies; new elements of a weight lie as it
/// does. Nothing of other ops.
std::optional<TrainingLayout> findTrainingLayout(mlir::Operation *op);

/// Splits the weights of backwards and updates as those of their forwards.
void layOutParts(mlir::ModuleOp module);

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_SPLIT_TRAININGLAYOUTS_H
