//===- TrainingForms.h - What training makes of inference -------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_TRANSFORMS_TRAIN_TRAININGFORMS_H
#define AUTOPAR_LIB_TRANSFORMS_TRAIN_TRAININGFORMS_H

#include "autopar/Interfaces/TensorView.h"
#include "autopar/Program/LossForm.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace autopar::transforms {

/// The extents of all dimensions, as a type is made of them (`getTensorType`).
inline llvm::SmallVector<NamedExtent> namesOf(const TensorView &view) {
  llvm::SmallVector<NamedExtent> names;
  for (unsigned dim = 0; dim < view.rank(); ++dim)
    names.push_back(view.dim(dim).extent);
  return names;
}

/// The type of `like` with `size` elements in its last dimension.
mlir::Type typeWithLast(mlir::Value like, int64_t size);

/// How losses are computed: `training.cross_entropy`.
struct LossChoice {
  std::optional<program::LossForm> form;
  int64_t chunks = 1;
};

/// The loss of each token, whose scores are compared with its label.
mlir::Value lossOf(mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::Value scores, mlir::Value labels,
                   const LossChoice &choice);

/// Writes latent attention as attention to the keys and values of each head,
/// which are saved as such; where tokens are selected, as one in the space of
/// latents.
void expandLatentAttention(mlir::ModuleOp module);

/// Removes what makes tokens that are put into `entry`'s stream, where no
/// sequence has any: encoders of images, which text does not train.
void leaveOutEncoders(mlir::ModuleOp module, mlir::func::FuncOp entry);

/// Erases private functions that nobody calls.
void eraseUncalled(mlir::ModuleOp module);

/// Behind the loss of `entry`, adds `count` layers that the checkpoint has for
/// it, with the losses of as many further tokens.
mlir::LogicalResult predictFurtherTokens(mlir::ModuleOp module,
                                         mlir::func::FuncOp entry,
                                         int64_t count, const LossChoice &loss);

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_TRAIN_TRAININGFORMS_H
