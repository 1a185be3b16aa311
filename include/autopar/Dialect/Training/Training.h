//===- Training.h - Ops of training iterations ------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_DIALECT_TRAINING_TRAINING_H
#define AUTOPAR_DIALECT_TRAINING_TRAINING_H

#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Dialect/Transformer/Transformer.h"
#include "autopar/Program/Recomputation.h"
#include "autopar/Support/Limits.h"

namespace autopar::training {

/// Memory effects of training: values that forwards save for backwards, and
/// gradients that backwards sum.
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

/// Lets bytecode files be read in which the dialect `transformer` had the ops
/// of this dialect.
void registerEarlierOps(mlir::DialectRegistry &registry);

/// Whether `op` computes the gradient of the factor `role` (input or weight) of
/// a matmul.
inline bool isGradientOf(mlir::Operation *op, ProductRole role) {
  auto product = mlir::dyn_cast<ProductGradientOp>(op);
  return product && product.getRole() == role;
}

/// Returns the op of type `Op` that produces `value`, directly or through ops
/// with one operand, such as collectives; null if there is none.
template <typename Op>
Op findSource(mlir::Value value) {
  // Upper bound of the ops passed on the way: a collective for each axis of a
  // mesh, and one more. It also ends the search at values that form a cycle,
  // which no verifier has refused yet.
  constexpr size_t most = limits::maxMeshAxes + 1;
  mlir::Operation *op = value.getDefiningOp();
  for (size_t i = 0; i < most; ++i) {
    if (!op || llvm::isa<Op>(op) || op->getNumOperands() != 1)
      break;
    op = op->getOperand(0).getDefiningOp();
  }
  return llvm::dyn_cast_if_present<Op>(op);
}
inline transformer::WeightOp findWeight(mlir::Value value) {
  return findSource<transformer::WeightOp>(value);
}

/// Returns the op that saves the value that `saved` reads; null if there is
/// none.
SaveOp findSave(SavedOp saved);

/// Returns an op that adds to the gradient that `gradient` reads, in the parts
/// of the same function; null if there is none.
AccumulateOp findAccumulate(GradientOp gradient);

/// Whether two weight ops stand for the same tensor of the same layer.
bool areSameTensor(transformer::WeightOp a, transformer::WeightOp b);

} // namespace autopar::training

#endif // AUTOPAR_DIALECT_TRAINING_TRAINING_H
