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

/// The types that the first operand and the result of an op must have; null
/// means that the type is not changed.
struct TrainingLayout {
  mlir::Type operand, result;
};

/// Returns the layout that a training op needs. A saved value keeps its layout
/// and is read with it. A gradient has the layout of its weight, or of the
/// weight's part, except that it may be a partial sum over axes that do not
/// split it; it is read with that layout. New elements have the layout of their
/// weight. Returns nothing for other ops.
std::optional<TrainingLayout> findTrainingLayout(mlir::Operation *op);

/// Splits the weights of backwards and updates as those of their forwards are
/// split.
void layOutParts(mlir::ModuleOp module);

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_SPLIT_TRAININGLAYOUTS_H
