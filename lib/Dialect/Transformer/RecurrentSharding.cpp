//===- RecurrentSharding.cpp - Factors of the recurrent ops ---------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sequences and heads (or channels) are independent; tokens follow each other,
// and the dimensions of a head's state meet in every step. No op is linear in
// an operand alone, as a device would add its share of the state.
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/Transformer.h"

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

using FactorList = SmallVector<int32_t, 4>;

static int64_t rankOf(Value value) { return TensorView(value).rank(); }

//===----------------------------------------------------------------------===//
// Short convolution
//===----------------------------------------------------------------------===//

ShardingFactors ShortConvOp::getShardingFactors() {
  ShardingFactors factors;
  if (rankOf(getX()) < 3)
    return factors;
  int32_t batch = factors.add(FactorKind::parallel);
  int32_t query = factors.add(FactorKind::whole);
  FactorList channels;
  for (int64_t i = 2, e = rankOf(getX()); i < e; ++i)
    channels.push_back(factors.add(FactorKind::parallel));
  int32_t kernel = factors.add(FactorKind::whole);
  int32_t kept = factors.add(FactorKind::whole);
  FactorList x = {batch, query}, weight(channels), state = {batch};
  x.append(channels);
  weight.push_back(kernel);
  state.append(channels);
  state.push_back(kept);
  factors.operands = {x, weight};
  if (getBias())
    factors.operands.push_back(channels);
  if (getState())
    factors.operands.push_back(state);
  factors.results = {x};
  return factors;
}

//===----------------------------------------------------------------------===//
// Recurrences with heads
//===----------------------------------------------------------------------===//

namespace {

/// The factors that recurrences with heads share. All operands have the heads,
/// those with fewer of them as a group.
struct HeadFactors {
  ShardingFactors factors;
  int32_t batch = factors.add(FactorKind::parallel);
  int32_t query = factors.add(FactorKind::whole);
  int32_t heads = factors.add(FactorKind::grouped);

  int32_t addWhole() { return factors.add(FactorKind::whole); }
};

} // namespace

/// The heads of `numOperands` operands, of which `grouped` have fewer.
static TensorParallelFactor splitHeads(unsigned numOperands,
                                       ArrayRef<unsigned> grouped) {
  TensorParallelFactor factor;
  factor.role = TensorParallelRole::attention;
  factor.factor = HeadFactors().heads;
  factor.operandRules.assign(numOperands, SplitRule::plain);
  for (unsigned operand : grouped)
    factor.operandRules[operand] = SplitRule::cap;
  return factor;
}

/// One group serves all heads, so that every device has it.
static bool hasOneGroup(Value matrix) {
  return TensorView(matrix).extent(2) == NamedExtent::number(1);
}

ShardingFactors StateSpaceOp::getShardingFactors() {
  if (rankOf(getX()) != 4 || rankOf(getInput()) != 4 || rankOf(getA()) < 1 ||
      rankOf(getA()) > 2)
    return {};
  HeadFactors f;
  int32_t width = f.addWhole(), states = f.addWhole();
  int32_t groups = hasOneGroup(getInput()) ? f.addWhole() : f.heads;
  FactorList x = {f.batch, f.query, f.heads, width};
  FactorList matrix = {f.batch, f.query, groups, states};
  FactorList a = {f.heads};
  if (rankOf(getA()) == 2)
    a.push_back(states);
  f.factors.operands = {x, {f.batch, f.query, f.heads},      matrix, matrix,
                        a, {f.batch, f.heads, width, states}};
  for (Value parameter : {getD(), getDtBias()})
    if (parameter)
      f.factors.operands.push_back({f.heads});
  f.factors.results = {x};
  return f.factors;
}

std::optional<TensorParallelFactor> ShortConvOp::getTensorParallelFactor() {
  if (hasOneGroup(getX()))
    return std::nullopt;
  TensorParallelFactor channels = splitHeads(getNumOperands(), {});
  channels.role = TensorParallelRole::channels;
  return channels;
}

std::optional<TensorParallelFactor> StateSpaceOp::getTensorParallelFactor() {
  constexpr unsigned input = 2, output = 3;
  return splitHeads(getNumOperands(), {input, output});
}

ShardingFactors GatedDeltaRuleOp::getShardingFactors() {
  HeadFactors f;
  int32_t keyWidth = f.addWhole(), valueWidth = f.addWhole();
  FactorList keys = {f.batch, f.query, f.heads, keyWidth};
  FactorList values = {f.batch, f.query, f.heads, valueWidth};
  FactorList gate = {f.batch, f.query, f.heads};
  FactorList state = {f.batch, f.heads, keyWidth, valueWidth};
  f.factors.operands = {keys, keys,      values,    gate,
                        gate, {f.heads}, {f.heads}, state};
  f.factors.results = {values};
  return f.factors;
}

std::optional<TensorParallelFactor>
GatedDeltaRuleOp::getTensorParallelFactor() {
  constexpr unsigned query = 0, key = 1;
  return splitHeads(getNumOperands(), {query, key});
}

/// The two widths of the state are one extent.
ShardingFactors LinearAttentionOp::getShardingFactors() {
  HeadFactors f;
  f.factors.kinds[f.heads] = FactorKind::parallel;
  int32_t width = f.addWhole();
  FactorList tokens = {f.batch, f.query, f.heads, width};
  f.factors.operands = {
      tokens, tokens, tokens, {f.batch, f.heads, width, width}};
  f.factors.results = {tokens};
  return f.factors;
}

std::optional<TensorParallelFactor>
LinearAttentionOp::getTensorParallelFactor() {
  return splitHeads(getNumOperands(), {});
}
