//===- Factors.h - Parts that the ops' factors are made of ------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_DIALECT_TRANSFORMER_FACTORS_H
#define AUTOPAR_DIALECT_TRANSFORMER_FACTORS_H

#include "autopar/Dialect/Transformer/Transformer.h"

namespace autopar::transformer {

/// The factors to which the dimensions of one tensor belong, by dimension.
using FactorList = llvm::SmallVector<int32_t, 4>;

int64_t rankOf(mlir::Value value);

/// Whether each value has the given rank; a null value passes.
bool haveRanks(llvm::ArrayRef<std::pair<mlir::Value, int64_t>> tensors);

/// Adds `count` new factors of one kind, and returns them.
FactorList addFactors(ShardingFactors &factors, FactorKind kind, int64_t count);

FactorList concat(const FactorList &a, const FactorList &b);

/// Returns factors of an op whose operands and results all have the same
/// dimensions.
ShardingFactors elementwiseFactors(mlir::Operation *op);
/// Returns factors of an op that copies `tokens` into a set for their experts
/// or, with `fromSet`, adds the copies back into tokens.
ShardingFactors routedFactors(mlir::Value tokens, mlir::Value routing,
                              mlir::Value set, bool fromSet);

/// Returns factors of an op that merges neighbouring `tokens` into tokens of
/// `merged` or, with `isBackward`, computes the gradient of that.
ShardingFactors mergeFactors(mlir::Value tokens, mlir::Value merged,
                             bool isMean, bool isBackward);

/// Adds the factor of the tokens whose keys are appended to a KV cache, where
/// the `queries` have the token factor `query`, and returns it. If the cache is
/// split like the tokens, each device appends its own tokens; else all devices
/// append all tokens.
int32_t addKeyTokens(ShardingFactors &factors, int32_t query,
                     mlir::Value queries, mlir::Value cache);

/// Replaces a matmul with a bias by a matmul without one, followed by the
/// addition of the bias. Returns the new matmul; null if the op has no bias.
template <typename Product>
mlir::Operation *detachBiasOf(Product op, mlir::OpBuilder &builder) {
  mlir::Value bias = op.getBias();
  if (!bias)
    return nullptr;
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  auto product = Product::create(builder, op.getLoc(), op.getResult().getType(),
                                 op.getX(), op.getWeight(), mlir::Value());
  auto biased = AddBiasOp::create(builder, op.getLoc(), product.getType(),
                                  product.getResult(), bias);
  op.getResult().replaceAllUsesWith(biased.getResult());
  op.erase();
  return product;
}

} // namespace autopar::transformer

#endif // AUTOPAR_DIALECT_TRANSFORMER_FACTORS_H
