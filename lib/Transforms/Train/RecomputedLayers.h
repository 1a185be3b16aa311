//===- RecomputedLayers.h - Layers that are made again ----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_TRANSFORMS_TRAIN_RECOMPUTEDLAYERS_H
#define AUTOPAR_LIB_TRANSFORMS_TRAIN_RECOMPUTEDLAYERS_H

#include "autopar/Program/Recomputation.h"

#include "autopar/Schedule/Staging.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace autopar::transforms {

using FunctionSet = llvm::DenseSet<mlir::Operation *>;

/// Which layers are on which stage: `ranges` if given, else `count` stages with
/// equal numbers of layers.
struct StagesOfLayers {
  std::vector<schedule::LayerRange> ranges;
  int64_t count = 1;
};

/// Gives the layers of `entry` that `what` selects functions of their own, and
/// repeats the layers between them separately. Returns the functions that are
/// recomputed, with those that they call. Errors are emitted.
mlir::FailureOr<FunctionSet>
splitRecomputedLayers(mlir::func::FuncOp entry,
                      const program::Recomputation &what,
                      const StagesOfLayers &stages);

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_TRAIN_RECOMPUTEDLAYERS_H
