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

#include "autopar/Dialect/Transformer/Training.h"

#include "Factors.h"

using namespace autopar;
using namespace autopar::program;
using namespace autopar::transformer;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Short convolution
//===----------------------------------------------------------------------===//

namespace {

struct ConvFactors {
  ConvFactors(Value x, FactorKind sequences)
      : tokens({factors.add(sequences), factors.add(FactorKind::whole)}) {
    channels = addFactors(factors, FactorKind::parallel, rankOf(x) - 2);
    weight = concat(channels, {factors.add(FactorKind::whole)});
  }

  FactorList x() const { return concat(tokens, channels); }

  ShardingFactors factors;
  FactorList tokens, channels, weight;
};

} // namespace

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

ShardingFactors ShortConvBackwardOp::getShardingFactors() {
  if (rankOf(getX()) < 3)
    return {};
  ConvFactors f(getX(), FactorKind::reduction);
  f.factors.operands = {f.x(), f.x(), f.weight};
  if (getBias())
    f.factors.operands.push_back(f.channels);
  f.factors.results = {f.x(), f.weight};
  if (getDBias())
    f.factors.results.push_back(f.channels);
  f.factors.linear = {{}};
  return f.factors;
}

//===----------------------------------------------------------------------===//
// Recurrences with heads
//===----------------------------------------------------------------------===//

namespace {

/// The factors that recurrences with heads share. All operands have the heads,
/// those with fewer of them as a group.
struct HeadFactors {
  explicit HeadFactors(FactorKind sequences, FactorKind ofHeads)
      : batch(factors.add(sequences)), query(factors.add(FactorKind::whole)),
        heads(factors.add(ofHeads)) {}

  int32_t addWhole() { return factors.add(FactorKind::whole); }
  FactorList tokens() const { return {batch, query, heads}; }

  ShardingFactors factors;
  int32_t batch, query, heads;
};

} // namespace

/// The heads of `numTensors` operands and results, of which `grouped` have
/// fewer.
static TensorParallelFactor splitHeads(unsigned numTensors,
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

/// One group serves all heads, so that every device has it.
static bool hasOneGroup(Value matrix) {
  return TensorView(matrix).extent(2) == NamedExtent::number(1);
}

namespace {

/// Heads that share a group which all devices have are added up where it gets
/// a gradient.
struct StateSpaceFactors : HeadFactors {
  StateSpaceFactors(Value input, Value ofA, bool isBackward)
      : HeadFactors(isBackward ? FactorKind::reduction : FactorKind::parallel,
                    isBackward && hasOneGroup(input) ? FactorKind::reduction
                                                     : FactorKind::grouped) {
    width = addWhole();
    states = addWhole();
    int32_t groups = hasOneGroup(input) ? addWhole() : heads;
    x = concat(tokens(), {width});
    matrix = {batch, query, groups, states};
    a = {heads};
    if (rankOf(ofA) == 2)
      a.push_back(states);
  }

  int32_t width, states;
  FactorList x, matrix, a;
};

} // namespace

static bool haveRanks(Value x, Value matrix, Value a) {
  return rankOf(x) == 4 && rankOf(matrix) == 4 && rankOf(a) >= 1 &&
         rankOf(a) <= 2;
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

ShardingFactors StateSpaceBackwardOp::getShardingFactors() {
  if (!haveRanks(getX(), getInput(), getA()))
    return {};
  StateSpaceFactors f(getInput(), getA(), /*isBackward=*/true);
  f.factors.operands = {f.x, f.x, f.tokens(), f.matrix, f.matrix, f.a};
  for (Value parameter : {getD(), getDtBias()})
    if (parameter)
      f.factors.operands.push_back({f.heads});
  f.factors.results = {f.x, f.tokens(), f.matrix, f.matrix, f.a};
  if (getDD())
    f.factors.results.push_back({f.heads});
  f.factors.linear = {{}};
  return f.factors;
}

static std::optional<TensorParallelFactor> channelsOf(Value x,
                                                      unsigned numTensors) {
  if (hasOneGroup(x))
    return std::nullopt;
  TensorParallelFactor channels = splitHeads(numTensors, {});
  channels.role = TensorParallelRole::channels;
  return channels;
}

static unsigned tensorsOf(Operation *op) {
  return op->getNumOperands() + op->getNumResults();
}

std::optional<TensorParallelFactor> ShortConvOp::getTensorParallelFactor() {
  return channelsOf(getX(), getNumOperands());
}

std::optional<TensorParallelFactor>
ShortConvBackwardOp::getTensorParallelFactor() {
  return channelsOf(getX(), tensorsOf(*this));
}

std::optional<TensorParallelFactor> StateSpaceOp::getTensorParallelFactor() {
  constexpr unsigned input = 2, output = 3;
  return splitHeads(getNumOperands(), {input, output});
}

std::optional<TensorParallelFactor>
StateSpaceBackwardOp::getTensorParallelFactor() {
  constexpr unsigned input = 3, output = 4;
  unsigned results = getNumOperands();
  return splitHeads(tensorsOf(*this),
                    {input, output, results + 2, results + 3});
}

namespace {

/// A decay of each channel has the width of the keys.
struct DeltaFactors : HeadFactors {
  DeltaFactors(FactorKind sequences, Value ofDecay)
      : HeadFactors(sequences, FactorKind::grouped) {
    if (rankOf(ofDecay) == 4) {
      decay = keys;
      bias = {heads, keyWidth};
    }
  }

  int32_t keyWidth = addWhole(), valueWidth = addWhole();
  FactorList keys = concat(tokens(), {keyWidth}),
             values = concat(tokens(), {valueWidth});
  FactorList decay = tokens(), bias = {heads};
};

} // namespace

ShardingFactors GatedDeltaRuleOp::getShardingFactors() {
  DeltaFactors f(FactorKind::parallel, getDecay());
  f.factors.operands = {f.keys,  f.keys,    f.values, f.tokens(),
                        f.decay, {f.heads}, f.bias};
  if (getState())
    f.factors.operands.push_back({f.batch, f.heads, f.keyWidth, f.valueWidth});
  f.factors.results = {f.values};
  return f.factors;
}

ShardingFactors GatedDeltaRuleBackwardOp::getShardingFactors() {
  DeltaFactors f(FactorKind::reduction, getDecay());
  f.factors.operands = {f.values,   f.keys,  f.keys,    f.values,
                        f.tokens(), f.decay, {f.heads}, f.bias};
  f.factors.results = {f.keys,     f.keys,  f.values,
                       f.tokens(), f.decay, {f.heads}};
  f.factors.linear = {{}};
  return f.factors;
}

std::optional<TensorParallelFactor>
GatedDeltaRuleOp::getTensorParallelFactor() {
  constexpr unsigned query = 0, key = 1;
  return splitHeads(getNumOperands(), {query, key});
}

std::optional<TensorParallelFactor>
GatedDeltaRuleBackwardOp::getTensorParallelFactor() {
  constexpr unsigned query = 1, key = 2;
  unsigned results = getNumOperands();
  return splitHeads(tensorsOf(*this), {query, key, results, results + 1});
}

/// The two widths of the state are one extent.
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

ShardingFactors LinearAttentionBackwardOp::getShardingFactors() {
  HeadFactors f(FactorKind::parallel, FactorKind::parallel);
  FactorList tokens = concat(f.tokens(), {f.addWhole()});
  f.factors.operands.assign(getNumOperands(), tokens);
  f.factors.results.assign(getNumResults(), tokens);
  return f.factors;
}

std::optional<TensorParallelFactor>
LinearAttentionOp::getTensorParallelFactor() {
  return splitHeads(getNumOperands(), {});
}

std::optional<TensorParallelFactor>
LinearAttentionBackwardOp::getTensorParallelFactor() {
  return splitHeads(tensorsOf(*this), {});
}
