//===- LayerParts.h - What of a layer is made again -------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_TRANSFORMS_TRAIN_LAYERPARTS_H
#define AUTOPAR_LIB_TRANSFORMS_TRAIN_LAYERPARTS_H

#include "autopar/Program/Recomputation.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace autopar::transforms {

/// The ops of a forward that its backward computes again.
struct MadeAgain {
  /// Ops whose results are not saved, so that the backward computes them again.
  llvm::DenseSet<mlir::Operation *> ops;
  /// Ops whose results are saved for other ops; their own backward recomputes
  /// what it needs besides.
  llvm::DenseSet<mlir::Operation *> inside;

  /// Records that `made` is a further result of the kernel of `op`, so that it
  /// is recomputed with it.
  void addBeside(mlir::Operation *op, mlir::Operation *made) {
    if (ops.contains(op) || inside.contains(op))
      ops.insert(made);
  }
};

/// Returns which ops of the layer `function` are recomputed by the choice
/// `what`. Groups of ops are recognised by the roles of ops and by what lies
/// between them (`DifferentiableOpInterface`).
MadeAgain opsMadeAgain(mlir::func::FuncOp function,
                       const program::Recomputation &what);

/// Returns the groups of ops that some layer of `module` has.
std::vector<program::LayerPart> partsIn(mlir::ModuleOp module);

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_TRAIN_LAYERPARTS_H
