//===- TransformerSharding.cpp - Factors of the ops -----------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each op's factors in the order of an einsum. Where ranks cannot be those of
// the op, no factors are returned, and the verifier says so.
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/Factors.h"

using namespace autopar;
using namespace autopar::program;
using namespace autopar::transformer;
using namespace mlir;

//===----------------------------------------------------------------------===//
// How elementwise ops can be split
//===----------------------------------------------------------------------===//

ShardingFactors AddOp::getShardingFactors() {
  ShardingFactors factors = elementwiseFactors(*this);
  factors.linear = {{0, 1}};
  return factors;
}

ShardingFactors ActivationOp::getShardingFactors() {
  return elementwiseFactors(*this);
}

ShardingFactors GatedOp::getShardingFactors() {
  return elementwiseFactors(*this);
}

/// Returns the tensor-parallel factor of an elementwise op: the width of its
/// result, which is split between a column-parallel and a row-parallel matmul;
/// of `[batch, query, heads, head_dim]` it is the heads.
static std::optional<TensorParallelFactor> widthOf(Value result,
                                                   size_t operands) {
  int32_t rank = static_cast<int32_t>(rankOf(result));
  int32_t width = rank == 4 ? 2 : rank - 1;
  return TensorParallelFactor{
      width, SmallVector<SplitRule, 4>(operands, SplitRule::plain),
      TensorView(result).isSet() ? TensorParallelRole::experts
                                 : TensorParallelRole::dense};
}

std::optional<TensorParallelFactor> ActivationOp::getTensorParallelFactor() {
  return widthOf(getResult(), 1);
}

std::optional<TensorParallelFactor> GatedOp::getTensorParallelFactor() {
  return widthOf(getResult(), 2);
}

//===----------------------------------------------------------------------===//
// How linear maps can be split
//===----------------------------------------------------------------------===//

ShardingFactors AddBiasOp::getShardingFactors() {
  ShardingFactors factors;
  if (rankOf(getBias()) > rankOf(getX()))
    return factors;
  FactorList all = addFactors(factors, FactorKind::parallel, rankOf(getX()));
  FactorList trailing(ArrayRef(all).take_back(rankOf(getBias())));
  factors.operands = {all, trailing};
  factors.results = {all};
  return factors;
}

ShardingFactors LinearOp::getShardingFactors() {
  ShardingFactors factors;
  int64_t contracted = getNumContracted();
  int64_t tokens = rankOf(getX()) - contracted;
  int64_t outputs = rankOf(getWeight()) - contracted;
  if (contracted < 1 || tokens < 0 || outputs < 0 ||
      tokens + outputs != rankOf(getResult()))
    return factors;
  FactorList rows = addFactors(factors, FactorKind::parallel, tokens);
  FactorList inner = addFactors(factors, FactorKind::reduction, contracted);
  FactorList columns = addFactors(factors, FactorKind::parallel, outputs);
  factors.operands = {concat(rows, inner), concat(inner, columns)};
  if (getBias())
    factors.operands.push_back(columns);
  else
    factors.linear = {{0}, {1}};
  factors.results = {concat(rows, columns)};
  return factors;
}

Operation *LinearOp::detachBias(OpBuilder &builder) {
  return detachBiasOf(*this, builder);
}

//===----------------------------------------------------------------------===//
// How ops that select, merge or move tokens can be split
//===----------------------------------------------------------------------===//

ShardingFactors EmbeddingOp::getShardingFactors() {
  ShardingFactors factors;
  if (rankOf(getTable()) != 2)
    return factors;
  FactorList rows = addFactors(factors, FactorKind::parallel, rankOf(getIds()));
  int32_t vocabulary = factors.add(FactorKind::reduction);
  int32_t hidden = factors.add(FactorKind::parallel);
  factors.operands = {rows, {vocabulary, hidden}};
  factors.results = {concat(rows, {hidden})};
  factors.linear = {{1}};
  factors.looksUp = true;
  return factors;
}

std::optional<TensorParallelFactor> EmbeddingOp::getTensorParallelFactor() {
  return TensorParallelFactor{static_cast<int32_t>(rankOf(getIds())),
                              {SplitRule::plain, SplitRule::pad}};
}

ShardingFactors LogitsOp::getShardingFactors() {
  ShardingFactors factors;
  if (rankOf(getTable()) != 2 || rankOf(getX()) < 1)
    return factors;
  FactorList rows =
      addFactors(factors, FactorKind::parallel, rankOf(getX()) - 1);
  int32_t hidden = factors.add(FactorKind::reduction);
  int32_t vocabulary = factors.add(FactorKind::parallel);
  factors.operands = {concat(rows, {hidden}), {vocabulary, hidden}};
  factors.results = {concat(rows, {vocabulary})};
  factors.linear = {{0}, {1}};
  return factors;
}

std::optional<TensorParallelFactor> LogitsOp::getTensorParallelFactor() {
  return TensorParallelFactor{static_cast<int32_t>(rankOf(getX())),
                              {SplitRule::plain, SplitRule::pad}};
}

ShardingFactors LastTokenOp::getShardingFactors() {
  ShardingFactors factors;
  if (rankOf(getX()) < 2)
    return factors;
  FactorList kept =
      addFactors(factors, FactorKind::parallel, rankOf(getX()) - 1);
  // The device with the last token contributes it, the others contribute zeros,
  // so that the result is a sum over devices.
  int32_t token = factors.add(FactorKind::reduction);
  FactorList x(kept);
  x.insert(x.begin() + 1, token);
  factors.operands = {x};
  factors.results = {kept};
  factors.linear = {{0}};
  return factors;
}

ShardingFactors CastOp::getShardingFactors() {
  ShardingFactors factors = elementwiseFactors(*this);
  factors.linear = {{0}};
  return factors;
}
