//===- RecurrentSharding.cpp - Factors of the recurrent ops ---------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sequences and heads (or channels) are independent; tokens follow each other,
// and the dimensions of a head's state meet in every step. No op is linear in
// an operand alone, as a device would add its share of the state. Backwards
// sum over sequences what is of weights.
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/RecurrentFactors.h"

using namespace autopar;
using namespace autopar::program;
using namespace autopar::transformer;
using namespace mlir;

//===----------------------------------------------------------------------===//
// How short convolutions can be split
//===----------------------------------------------------------------------===//

ShardingFactors ShortConvOp::getShardingFactors() {
  if (rankOf(getX()) < 3)
    return {};
  ConvFactors f(getX(), FactorKind::parallel);
  f.factors.operands = {f.x(), f.weight};
  if (getBias())
    f.factors.operands.push_back(f.channels);
  if (getState()) {
    FactorList state = concat({f.tokens.front()}, f.channels);
    f.factors.operands.push_back(
        concat(state, {f.factors.add(FactorKind::whole)}));
  }
  f.factors.results = {f.x()};
  return f.factors;
}

//===----------------------------------------------------------------------===//
// How recurrences with heads can be split
//===----------------------------------------------------------------------===//

TensorParallelFactor transformer::splitHeads(unsigned numTensors,
                                             ArrayRef<unsigned> grouped) {
  constexpr int32_t heads = 2;
  TensorParallelFactor factor;
  factor.role = TensorParallelRole::attention;
  factor.factor = heads;
  factor.operandRules.assign(numTensors, SplitRule::plain);
  for (unsigned tensor : grouped)
    factor.operandRules[tensor] = SplitRule::cap;
  return factor;
}

ShardingFactors StateSpaceOp::getShardingFactors() {
  if (!haveRanks(getX(), getInput(), getA()))
    return {};
  StateSpaceFactors f(getInput(), getA(), /*isBackward=*/false);
  f.factors.operands = {f.x, f.tokens(), f.matrix, f.matrix, f.a};
  if (getState())
    f.factors.operands.push_back({f.batch, f.heads, f.width, f.states});
  for (Value parameter : {getD(), getDtBias()})
    if (parameter)
      f.factors.operands.push_back({f.heads});
  f.factors.results = {f.x};
  return f.factors;
}

std::optional<TensorParallelFactor>
transformer::channelsOf(Value x, unsigned numTensors) {
  if (hasOneGroup(x))
    return std::nullopt;
  TensorParallelFactor channels = splitHeads(numTensors, {});
  channels.role = TensorParallelRole::channels;
  return channels;
}

std::optional<TensorParallelFactor> ShortConvOp::getTensorParallelFactor() {
  return channelsOf(getX(), getNumOperands());
}

std::optional<TensorParallelFactor> StateSpaceOp::getTensorParallelFactor() {
  constexpr unsigned input = 2, output = 3;
  return splitHeads(getNumOperands(), {input, output});
}

ShardingFactors GatedDeltaRuleOp::getShardingFactors() {
  DeltaFactors f(FactorKind::parallel, getDecay());
  f.factors.operands = {f.keys,  f.keys,    f.values, f.tokens(),
                        f.decay, {f.heads}, f.bias};
  if (getState())
    f.factors.operands.push_back({f.batch, f.heads, f.keyWidth, f.valueWidth});
  f.factors.results = {f.values};
  return f.factors;
}

std::optional<TensorParallelFactor>
GatedDeltaRuleOp::getTensorParallelFactor() {
  constexpr unsigned query = 0, key = 1;
  return splitHeads(getNumOperands(), {query, key});
}

/// Both dimensions of the state have the width of a head, so that they are one
/// factor.
ShardingFactors LinearAttentionOp::getShardingFactors() {
  HeadFactors f(FactorKind::parallel, FactorKind::parallel);
  int32_t width = f.addWhole();
  FactorList tokens = concat(f.tokens(), {width});
  f.factors.operands = {tokens, tokens, tokens};
  if (getState())
    f.factors.operands.push_back({f.batch, f.heads, width, width});
  f.factors.results = {tokens};
  return f.factors;
}

std::optional<TensorParallelFactor>
LinearAttentionOp::getTensorParallelFactor() {
  return splitHeads(getNumOperands(), {});
}
