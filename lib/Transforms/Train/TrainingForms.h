//===- TrainingForms.h - What training makes of inference -------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_TRANSFORMS_TRAIN_TRAININGFORMS_H
#define AUTOPAR_LIB_TRANSFORMS_TRAIN_TRAININGFORMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace autopar {

/// Writes latent attention as attention to the keys and values of each head,
/// which are saved as such.
mlir::LogicalResult expandLatentAttention(mlir::ModuleOp module);

/// Removes what makes tokens that are put into `entry`'s stream, where no
/// sequence has any: encoders of images, which text does not train.
void leaveOutEncoders(mlir::ModuleOp module, mlir::func::FuncOp entry);

} // namespace autopar

#endif // AUTOPAR_LIB_TRANSFORMS_TRAIN_TRAININGFORMS_H
