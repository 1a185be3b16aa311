//===- Training.h - Ops of training iterations ------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_DIALECT_TRANSFORMER_TRAINING_H
#define AUTOPAR_DIALECT_TRANSFORMER_TRAINING_H

#include "autopar/Dialect/Transformer/Transformer.h"

#define GET_OP_CLASSES
#include "autopar/Dialect/Transformer/TrainingOps.h.inc"

namespace autopar::transformer {

/// The weight that `value` is, or that collectives have made it of; null of
/// others.
WeightOp findWeight(mlir::Value value);

/// The op that has kept what `saved` reads; null where there is none.
SaveOp findSave(SavedOp saved);

/// An op that adds to what `gradient` reads, in the parts of the same function;
/// null where there is none.
AccumulateOp findAccumulate(GradientOp gradient);

/// Whether `value` is the gradient of what products with weights have had as
/// their input: what the backward of one makes, or a sum of such that nothing
/// else uses.
bool isInputGradient(mlir::Value value);

/// Whether two weights are the same tensor of the same layer.
bool areSameTensor(WeightOp a, WeightOp b);

} // namespace autopar::transformer

#endif // AUTOPAR_DIALECT_TRANSFORMER_TRAINING_H
