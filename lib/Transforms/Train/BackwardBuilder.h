//===- BackwardBuilder.h - The backward of one function ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_TRANSFORMS_TRAIN_BACKWARDBUILDER_H
#define AUTOPAR_LIB_TRANSFORMS_TRAIN_BACKWARDBUILDER_H

#include "LayerParts.h"

#include "autopar/Dialect/Training/Training.h"
#include "autopar/Plan/Plan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

namespace autopar::transforms {
class BackwardBuilder;

/// What an op is in a layer.
enum class LayerRole : uint8_t {
  other,
  /// A product with a weight.
  product,
  /// A grouped product with the weights of routed experts.
  expert_product,
  norm,
  /// An activation function, with a gate or without.
  activation,
  /// A sum with what went around a part of the layer.
  residual,
  /// A kernel of attention.
  attention,
  /// A sum of what routed experts gave.
  combination,
};
} // namespace autopar::transforms

#include "autopar/Transforms/Train/Differentiable.h.inc"

namespace autopar::transforms {

/// A function, and that which goes through its ops in reverse.
struct BackwardOf {
  mlir::func::FuncOp forward, backward;
  /// The arguments that have gradients, which the backward returns.
  llvm::SmallVector<unsigned> arguments;
};

/// Finds or makes the backward of a function that is called.
using FindBackward =
    llvm::function_ref<mlir::FailureOr<BackwardOf>(mlir::func::FuncOp)>;

/// Writes the ops of a backward from those of its forward. Gradients have the
/// types of the values that they are of.
class BackwardBuilder {
public:
  BackwardBuilder(BackwardOf &functions, MadeAgain again,
                  mlir::Type gradientFormat, FindBackward find);

  /// Goes through the forward. The gradients of what it returns are the
  /// arguments of the backward; of the module's own function, which takes the
  /// inputs instead, what it returns is the loss.
  mlir::LogicalResult run(bool isEntry);

  //===--------------------------------------------------------------------===//
  // For ops
  //===--------------------------------------------------------------------===//

  mlir::OpBuilder &operator*() { return builder; }
  mlir::OpBuilder *operator->() { return &builder; }
  /// What is known of the gradient of `value`; null where it has none.
  mlir::Value gradientOf(mlir::Value value) const {
    return gradients.lookup(value);
  }
  /// Whether anybody asks for the gradient of `value`.
  bool wants(mlir::Value value) const;
  /// `value` of the forward, in the backward.
  mlir::Value valueOf(mlir::Value value);
  /// The same of a result of the op whose backward is built: what others have
  /// saved of it may be made again for itself.
  mlir::Value ownValueOf(mlir::Value result);
  /// Says that `made` is a further result of the kernel of `op`.
  void addBeside(mlir::Operation *op, mlir::Operation *made) {
    again.addBeside(op, made);
  }
  /// Adds to the gradient of `value`: of a weight, to the one that is kept.
  void add(mlir::Value value, mlir::Value gradient);
  /// Adds to the gradient of the factor `value` of the product `op` what `lhs`
  /// and `rhs` make of it.
  void addProduct(mlir::Operation *op, mlir::Value value,
                  training::ProductRole role, mlir::Value lhs, mlir::Value rhs);
  /// That of a weight, in the format in which gradients add up.
  mlir::Type gradientTypeOf(mlir::Value weight) const;

private:
  using Values = llvm::SetVector<mlir::Value>;

  mlir::LogicalResult runBlock(mlir::Block &block);
  mlir::LogicalResult runOp(mlir::Operation *op);
  mlir::LogicalResult runCall(mlir::func::CallOp call);
  mlir::LogicalResult runRepeat(transformer::RepeatOp repeat);
  mlir::Value gradientOrZeros(mlir::Value value);
  llvm::SmallVector<mlir::Value> gradientsOf(mlir::ValueRange values);
  mlir::FailureOr<Values> findShared(transformer::RepeatOp repeat);
  mlir::LogicalResult runIterations(transformer::RepeatOp repeat,
                                    transformer::RepeatOp back,
                                    const Values &shared);
  mlir::Operation *runAgain(mlir::Operation *op);
  mlir::Value makeAgain(mlir::Value value);
  mlir::Value save(mlir::Value value);
  std::string nameFor(mlir::Value value);

  BackwardOf &functions;
  MadeAgain again;
  mlir::Type gradientFormat;
  FindBackward find;
  mlir::OpBuilder builder;
  bool isEntry = false;
  /// By value of the forward.
  llvm::DenseMap<mlir::Value, mlir::Value> gradients, values;
  llvm::StringSet<> names;
  /// The last op of those that a backward begins with: weights, saved values.
  mlir::Operation *lastGiven = nullptr;
};

template <typename Op>
using BuildBackward = mlir::LogicalResult (*)(Op, BackwardBuilder &);

/// How gradients pass through `Op`.
template <typename Op, BuildBackward<Op> build, LayerRole role>
struct BackwardModel
    : DifferentiableOpInterface::ExternalModel<BackwardModel<Op, build, role>,
                                               Op> {
  mlir::LogicalResult buildBackward(mlir::Operation *op,
                                    BackwardBuilder &backward) const {
    return build(mlir::cast<Op>(op), backward);
  }
  LayerRole getRole(mlir::Operation *) const { return role; }
};

template <typename Op, BuildBackward<Op> build,
          LayerRole role = LayerRole::other>
void attachBackward(mlir::MLIRContext *context) {
  Op::template attachInterface<BackwardModel<Op, build, role>>(*context);
}

void attachTokenBackwards(mlir::MLIRContext *context);
void attachAttentionBackwards(mlir::MLIRContext *context);
void attachMixtureBackwards(mlir::MLIRContext *context);
void attachRecurrentBackwards(mlir::MLIRContext *context);

/// What updates are made of. Formats of a master copy (null: there is none), of
/// other states, and of gradients.
struct OptimizerChoice {
  plan::Optimizer kind = plan::Optimizer::adamw;
  mlir::Type master, moments, gradientFormat;
};

/// Writes `forward`'s update, without those of the functions that it calls.
mlir::LogicalResult buildUpdate(
    mlir::func::FuncOp forward, mlir::func::FuncOp update,
    const OptimizerChoice &choice,
    llvm::function_ref<mlir::func::FuncOp(mlir::func::FuncOp)> updateOf);

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_TRAIN_BACKWARDBUILDER_H
