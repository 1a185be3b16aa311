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

/// How layers lie on stages, as far as that is said: else so many stages have
/// equal numbers of them.
struct StagesOfLayers {
  std::vector<schedule::LayerRange> ranges;
  int64_t count = 1;
};

/// Gives the layers of `entry` that `what` takes functions of their own, and
/// repeats the layers between them apart. Returns the functions that are made
/// again, with those that they call. Errors are emitted.
mlir::FailureOr<FunctionSet>
splitRecomputedLayers(mlir::func::FuncOp entry,
                      const program::Recomputation &what,
                      const StagesOfLayers &stages);

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_TRAIN_RECOMPUTEDLAYERS_H
