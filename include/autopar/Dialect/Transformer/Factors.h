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

/// The factors of one tensor's dimensions.
using FactorList = llvm::SmallVector<int32_t, 4>;

int64_t rankOf(mlir::Value value);

/// Whether tensors have these ranks; those that are not there have any.
bool haveRanks(llvm::ArrayRef<std::pair<mlir::Value, int64_t>> tensors);

/// `count` new factors of one kind.
FactorList addFactors(ShardingFactors &factors, FactorKind kind, int64_t count);

FactorList concat(const FactorList &a, const FactorList &b);

/// All operands and results have the same dimensions.
ShardingFactors elementwiseFactors(mlir::Operation *op);
/// From `tokens` to copies of them on their way to experts, a set, or, with
/// `fromSet`, back.
ShardingFactors routedFactors(mlir::Value tokens, mlir::Value routing,
                              mlir::Value set, bool fromSet);

/// From `tokens` to what neighbours are `merged` into, or, `isBackward`, back.
ShardingFactors mergeFactors(mlir::Value tokens, mlir::Value merged,
                             bool isMean, bool isBackward);

/// The factor of the tokens whose keys a cache takes up, whose `queries` have
/// the factor `query`: where the cache is split as they are, each device
/// appends those of its own tokens; else all devices append all.
int32_t addKeyTokens(ShardingFactors &factors, int32_t query,
                     mlir::Value queries, mlir::Value cache);

/// Replaces a product that has a bias by the product and the addition of the
/// bias; returns the product, null where there is no bias.
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
