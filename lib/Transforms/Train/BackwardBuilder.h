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

/// The role of an op in a layer, by which recomputation selects it.
enum class LayerRole : uint8_t {
  other,
  /// The op is a matmul with a weight.
  product,
  /// A grouped matmul with the weights of routed experts.
  expert_product,
  norm,
  /// An activation function, with or without a gate.
  activation,
  /// The addition of a block's output to the residual stream.
  residual,
  /// The op is a kernel of attention.
  attention,
  /// The sum of the outputs of routed experts.
  combination,
};
} // namespace autopar::transforms

#include "autopar/Transforms/Train/Differentiable.h.inc"

namespace autopar::transforms {

/// A forward function and its backward function.
struct BackwardOf {
  mlir::func::FuncOp forward, backward;
  /// Indices of the forward's arguments that have gradients, which the backward
  /// returns.
  llvm::SmallVector<unsigned> arguments;
};

/// A function that finds or builds the backward of a function that is called.
using FindBackward =
    llvm::function_ref<mlir::FailureOr<BackwardOf>(mlir::func::FuncOp)>;

/// Builds the ops of a backward function from those of its forward. A gradient
/// has the type of the value to which it belongs.
class BackwardBuilder {
public:
  BackwardBuilder(BackwardOf &functions, MadeAgain again,
                  mlir::Type gradientFormat, FindBackward find);

  /// Builds the whole function. The arguments of the backward are the gradients
  /// of the values that the forward returns. For the module's own function
  /// (`isEntry`), the arguments are the inputs, and the returned value is the
  /// loss.
  mlir::LogicalResult run(bool isEntry);

  //===--------------------------------------------------------------------===//
  // Functions for the backwards of ops
  //===--------------------------------------------------------------------===//

  mlir::OpBuilder &operator*() { return builder; }
  mlir::OpBuilder *operator->() { return &builder; }
  /// Returns the gradient of `value`, as far as it is known; null if it has
  /// none.
  mlir::Value gradientOf(mlir::Value value) const {
    return gradients.lookup(value);
  }
  /// Whether the gradient of `value` is needed.
  bool wants(mlir::Value value) const;
  /// Returns the value in the backward that equals `value` of the forward.
  mlir::Value valueOf(mlir::Value value);
  /// Returns the value in the backward that equals a result of the op whose
  /// backward is being built. Even if it is saved for other ops, it may be
  /// recomputed here.
  mlir::Value ownValueOf(mlir::Value result);
  /// Records that `made` is a further result of the kernel of `op`.
  void addBeside(mlir::Operation *op, mlir::Operation *made) {
    again.addBeside(op, made);
  }
  /// Adds `gradient` to the gradient of `value`; for a weight, to the stored
  /// gradient.
  void add(mlir::Value value, mlir::Value gradient);
  /// Adds to the gradient of `value`, a factor of the matmul `op`, the product
  /// of `lhs` and `rhs`.
  void addProduct(mlir::Operation *op, mlir::Value value,
                  training::ProductRole role, mlir::Value lhs, mlir::Value rhs);
  /// Returns the type of a weight's gradient, in the format in which gradients
  /// are summed.
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
  /// Gradients, and values in the backward, by the value of the forward.
  llvm::DenseMap<mlir::Value, mlir::Value> gradients, values;
  llvm::StringSet<> names;
  /// The last of the ops with which a backward begins: weights and saved
  /// values.
  mlir::Operation *lastGiven = nullptr;
};

template <typename Op>
using BuildBackward = mlir::LogicalResult (*)(Op, BackwardBuilder &);

/// The interface of `Op` for backwards: `build` builds its backward, `role` is
/// its role in a layer.
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

/// The optimizer and its number formats: that of a master copy (null: there is
/// none), of other states, and of gradients.
struct OptimizerChoice {
  plan::Optimizer kind = plan::Optimizer::adamw;
  mlir::Type master, moments, gradientFormat;
};

/// Builds the update function of `forward`, without those of the functions that
/// it calls.
mlir::LogicalResult buildUpdate(
    mlir::func::FuncOp forward, mlir::func::FuncOp update,
    const OptimizerChoice &choice,
    llvm::function_ref<mlir::func::FuncOp(mlir::func::FuncOp)> updateOf);

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_TRAIN_BACKWARDBUILDER_H
