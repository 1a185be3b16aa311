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

#include "autopar/Dialect/Transformer/Transformer.h"

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

using FactorList = SmallVector<int32_t, 4>;

static int64_t rankOf(Value value) { return TensorView(value).rank(); }

/// `count` new factors of one kind.
static FactorList addFactors(ShardingFactors &factors, FactorKind kind,
                             int64_t count) {
  FactorList list;
  for (int64_t i = 0; i < count; ++i)
    list.push_back(factors.add(kind));
  return list;
}

static FactorList concat(const FactorList &a, const FactorList &b) {
  FactorList list(a);
  list.append(b);
  return list;
}

/// All operands and results have the same dimensions.
static ShardingFactors elementwise(Operation *op) {
  ShardingFactors factors;
  FactorList all =
      addFactors(factors, FactorKind::parallel, rankOf(op->getResult(0)));
  factors.operands.assign(op->getNumOperands(), all);
  factors.results.assign(1, all);
  return factors;
}

/// The trailing dimensions of `x` that `parameters` also have are `kind`; the
/// result is like `x`.
static ShardingFactors withParameters(Value x, ValueRange parameters,
                                      FactorKind kind) {
  ShardingFactors factors;
  for (Value parameter : parameters)
    if (rankOf(parameter) > rankOf(x))
      return factors;
  int64_t trailing = rankOf(parameters.front());
  FactorList leading =
      addFactors(factors, FactorKind::parallel, rankOf(x) - trailing);
  FactorList shared = addFactors(factors, kind, trailing);
  factors.operands.push_back(concat(leading, shared));
  factors.operands.append(parameters.size(), shared);
  factors.results.push_back(factors.operands.front());
  return factors;
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

ShardingFactors AddOp::getShardingFactors() {
  ShardingFactors factors = elementwise(*this);
  factors.linear = {{0, 1}};
  return factors;
}

ShardingFactors ActivationOp::getShardingFactors() {
  return elementwise(*this);
}

ShardingFactors GatedOp::getShardingFactors() { return elementwise(*this); }

/// The width of an activation is what column and row products meet in; of
/// `[batch, query, heads, head_dim]` the heads.
static std::optional<TensorParallelFactor> widthOf(Value result,
                                                   size_t operands) {
  int32_t rank = static_cast<int32_t>(rankOf(result));
  int32_t width = rank == 4 ? 2 : rank - 1;
  return TensorParallelFactor{
      width, SmallVector<SplitRule, 4>(operands, SplitRule::plain)};
}

std::optional<TensorParallelFactor> ActivationOp::getTensorParallelFactor() {
  return widthOf(getResult(), 1);
}

std::optional<TensorParallelFactor> GatedOp::getTensorParallelFactor() {
  return widthOf(getResult(), 2);
}

ShardingFactors RopeOp::getShardingFactors() {
  if (rankOf(getX()) < 1)
    return {};
  ShardingFactors factors = elementwise(*this);
  factors.kinds.back() = FactorKind::whole;
  return factors;
}

//===----------------------------------------------------------------------===//
// Norms and linear maps
//===----------------------------------------------------------------------===//

ShardingFactors RMSNormOp::getShardingFactors() {
  return withParameters(getX(), getWeight(), FactorKind::whole);
}

ShardingFactors LayerNormOp::getShardingFactors() {
  return withParameters(getX(), getOperands().drop_front(), FactorKind::whole);
}

ShardingFactors AddBiasOp::getShardingFactors() {
  return withParameters(getX(), getBias(), FactorKind::parallel);
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
  Value bias = getBias();
  if (!bias)
    return nullptr;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(*this);
  auto product = LinearOp::create(builder, getLoc(), getResult().getType(),
                                  getX(), getWeight(), Value());
  auto biased = AddBiasOp::create(builder, getLoc(), getResult().getType(),
                                  product.getResult(), bias);
  getResult().replaceAllUsesWith(biased.getResult());
  erase();
  return product;
}

//===----------------------------------------------------------------------===//
// Tokens in, tokens out
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
  int32_t token = factors.add(FactorKind::whole);
  FactorList x(kept);
  x.insert(x.begin() + 1, token);
  factors.operands = {x};
  factors.results = {kept};
  factors.linear = {{0}};
  return factors;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

ShardingFactors AttentionOp::getShardingFactors() {
  ShardingFactors factors;
  if (rankOf(getQuery()) != 4 || rankOf(getKey()) != 4 ||
      rankOf(getValue()) != 4 || rankOf(getCache()) != 5)
    return factors;
  int32_t batch = factors.add(FactorKind::parallel);
  int32_t query = factors.add(FactorKind::whole);
  int32_t heads = factors.add(FactorKind::grouped);
  int32_t width = factors.add(FactorKind::whole);
  int32_t context = factors.add(FactorKind::whole);
  int32_t pair = factors.add(FactorKind::whole);
  FactorList tokens = {batch, query, heads, width};
  factors.operands = {
      tokens, tokens, tokens, {pair, batch, context, heads, width}};
  factors.results = {tokens};
  return factors;
}

std::optional<TensorParallelFactor> AttentionOp::getTensorParallelFactor() {
  return TensorParallelFactor{
      2, {SplitRule::plain, SplitRule::cap, SplitRule::cap, SplitRule::cap}};
}

//===----------------------------------------------------------------------===//
// Experts
//===----------------------------------------------------------------------===//

ShardingFactors RouterOp::getShardingFactors() {
  ShardingFactors factors;
  if (rankOf(getX()) < 1 || rankOf(getWeight()) != 2)
    return factors;
  FactorList rows =
      addFactors(factors, FactorKind::parallel, rankOf(getX()) - 1);
  int32_t hidden = factors.add(FactorKind::whole);
  int32_t experts = factors.add(FactorKind::whole);
  int32_t topK = factors.add(FactorKind::whole);
  factors.operands = {concat(rows, {hidden}), {hidden, experts}};
  factors.results = {concat(rows, {topK})};
  return factors;
}

/// Tokens and routed tokens are different dimensions; what tensor parallelism
/// splits is `hidden`.
static ShardingFactors routed(Value tokens, Value routing, Value set,
                              bool fromSet) {
  ShardingFactors factors;
  if (rankOf(tokens) < 1 || rankOf(set) != 2 ||
      rankOf(routing) != rankOf(tokens))
    return factors;
  FactorList rows = addFactors(factors, FactorKind::whole, rankOf(tokens) - 1);
  int32_t hidden = factors.add(FactorKind::parallel);
  int32_t topK = factors.add(FactorKind::whole);
  int32_t routedTokens = factors.add(FactorKind::whole);
  FactorList dense = concat(rows, {hidden}), sparse = {routedTokens, hidden};
  factors.operands = {fromSet ? sparse : dense, concat(rows, {topK})};
  factors.results = {fromSet ? dense : sparse};
  factors.linear = {{0}};
  return factors;
}

ShardingFactors DispatchOp::getShardingFactors() {
  return routed(getX(), getRouting(), getResult(), /*fromSet=*/false);
}

ShardingFactors CombineOp::getShardingFactors() {
  return routed(getResult(), getRouting(), getX(), /*fromSet=*/true);
}

ShardingFactors ExpertsOp::getShardingFactors() {
  ShardingFactors factors;
  if (rankOf(getX()) != 2 || rankOf(getWeight()) != 3 ||
      rankOf(getResult()) != 2)
    return factors;
  int32_t rows = factors.add(FactorKind::parallel);
  int32_t experts = factors.add(FactorKind::whole);
  int32_t inner = factors.add(FactorKind::reduction);
  int32_t columns = factors.add(FactorKind::parallel);
  factors.operands = {{rows, inner}, {experts, inner, columns}};
  factors.results = {{rows, columns}};
  factors.linear = {{0}, {1}};
  return factors;
}
