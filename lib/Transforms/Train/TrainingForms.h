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

/// Returns the extents of all dimensions, from which a type can be made
/// (`getTensorType`).
inline llvm::SmallVector<NamedExtent> namesOf(const TensorView &view) {
  llvm::SmallVector<NamedExtent> names;
  for (unsigned dim = 0; dim < view.rank(); ++dim)
    names.push_back(view.dim(dim).extent);
  return names;
}

/// Returns the type of `like` with `size` elements in its last dimension.
mlir::Type typeWithLast(mlir::Value like, int64_t size);

/// How losses are computed: the form and the number of chunks of
/// `training.cross_entropy`.
struct LossChoice {
  std::optional<program::LossForm> form;
  int64_t chunks = 1;
};

/// Builds the loss of each token, whose scores are compared with its label.
mlir::Value lossOf(mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::Value scores, mlir::Value labels,
                   const LossChoice &choice);

/// Replaces latent attention by attention to the keys and values of each head,
/// which are saved as such; if tokens are selected, by attention in the space
/// of latents.
void expandLatentAttention(mlir::ModuleOp module);

/// Removes encoders of images from `entry`: the ops that compute tokens to be
/// inserted into its stream, of which sequences of text have none.
void leaveOutEncoders(mlir::ModuleOp module, mlir::func::FuncOp entry);

/// Erases private functions that are not called.
void eraseUncalled(mlir::ModuleOp module);

/// Adds `count` layers that the checkpoint has for predicting further tokens,
/// after the loss of `entry`, with a loss for each.
mlir::LogicalResult predictFurtherTokens(mlir::ModuleOp module,
                                         mlir::func::FuncOp entry,
                                         int64_t count, const LossChoice &loss);

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_TRAIN_TRAININGFORMS_H
