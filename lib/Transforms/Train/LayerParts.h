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

/// Ops of a forward that its backward runs again.
struct MadeAgain {
  /// Their results are not saved.
  llvm::DenseSet<mlir::Operation *> ops;
  /// Their results are saved for others, which were given them; their own
  /// backward makes what it needs again.
  llvm::DenseSet<mlir::Operation *> inside;

  /// `made` is a further result of the kernel of `op`.
  void addBeside(mlir::Operation *op, mlir::Operation *made) {
    if (ops.contains(op) || inside.contains(op))
      ops.insert(made);
  }
};

/// What `what` makes again of the layer that `function` is. Parts are known by
/// what ops do and by what lies between them (`DifferentiableOpInterface`).
MadeAgain opsMadeAgain(mlir::func::FuncOp function,
                       const program::Recomputation &what);

/// The parts that some layer of `module` has.
std::vector<program::LayerPart> partsIn(mlir::ModuleOp module);

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_TRAIN_LAYERPARTS_H
