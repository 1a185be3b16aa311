//===- Training.h - Ops of training iterations ------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_DIALECT_TRAINING_TRAINING_H
#define AUTOPAR_DIALECT_TRAINING_TRAINING_H

#include "autopar/Dialect/Transformer/Transformer.h"
#include "autopar/Program/Recomputation.h"

namespace autopar::training {

/// What forwards keep for backwards, and what backwards add up.
struct SavedMemory : mlir::SideEffects::Resource::Base<SavedMemory> {
  llvm::StringRef getName() override { return "saved values"; }
};
struct GradientMemory : mlir::SideEffects::Resource::Base<GradientMemory> {
  llvm::StringRef getName() override { return "gradients"; }
};
} // namespace autopar::training

#include "autopar/Dialect/Training/TrainingDialect.h.inc"
#include "autopar/Dialect/Training/TrainingEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "autopar/Dialect/Training/TrainingAttrs.h.inc"
#define GET_OP_CLASSES
#include "autopar/Dialect/Training/TrainingOps.h.inc"

namespace autopar::training {

/// Lets bytecode read files in which `transformer` had the ops of this dialect.
void registerEarlierOps(mlir::DialectRegistry &registry);

/// Whether `op` is the gradient of that factor of a product.
inline bool isGradientOf(mlir::Operation *op, ProductRole role) {
  auto product = mlir::dyn_cast<ProductGradientOp>(op);
  return product && product.getRole() == role;
}

/// The weight that `value` is, or that collectives have made it of; null of
/// others.
transformer::WeightOp findWeight(mlir::Value value);

/// The op that has kept what `saved` reads; null where there is none.
SaveOp findSave(SavedOp saved);

/// An op that adds to what `gradient` reads, in the parts of the same function;
/// null where there is none.
AccumulateOp findAccumulate(GradientOp gradient);

/// Whether two weights are the same tensor of the same layer.
bool areSameTensor(transformer::WeightOp a, transformer::WeightOp b);

} // namespace autopar::training

#endif // AUTOPAR_DIALECT_TRAINING_TRAINING_H
