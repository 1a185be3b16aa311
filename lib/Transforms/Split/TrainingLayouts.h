//===- TrainingLayouts.h - Layouts of values for backwards ------*- C++ -*-===//
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

/// Types that the first operand and the result of an op must have; null means
/// unchanged.
struct TrainingLayout {
  mlir::Type operand, result;
};

/// The layout that an op of training needs. A saved value keeps its layout, and
/// is read in it. A gradient has the layout of its weight, or of its part,
/// except that it may be a partial sum over axes that do not split that; it is
/// read in its layout. New elements have the layout of their weight. Nothing
/// for other ops.
std::optional<TrainingLayout> findTrainingLayout(mlir::Operation *op);

/// Splits the weights of backwards and updates like those of their forwards.
void layOutParts(mlir::ModuleOp module);

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_SPLIT_TRAININGLAYOUTS_H
