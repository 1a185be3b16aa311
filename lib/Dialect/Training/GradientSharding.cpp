//===- GradientSharding.cpp - Factors of what backwards compute -----------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Training/Training.h"

#include "autopar/Dialect/Transformer/Factors.h"
#include "autopar/Program/LossForm.h"

using namespace autopar;
using namespace autopar::program;
using namespace autopar::training;
using namespace autopar::transformer;
using namespace mlir;

//===----------------------------------------------------------------------===//
// How elementwise backwards can be split
//===----------------------------------------------------------------------===//

/// Dropout is linear, but partial sums must be reduced before it, because the
/// saved mask is split like the operand.
ShardingFactors DropoutOp::getShardingFactors() {
  return elementwiseFactors(*this);
}

ShardingFactors DropoutMaskOp::getShardingFactors() {
  return elementwiseFactors(*this);
}

ShardingFactors ActivationBackwardOp::getShardingFactors() {
  return elementwiseFactors(*this);
}

ShardingFactors SoftcapBackwardOp::getShardingFactors() {
  return elementwiseFactors(*this);
}

ShardingFactors GatedBackwardOp::getShardingFactors() {
  ShardingFactors factors = elementwiseFactors(*this);
  factors.results.push_back(factors.results.front());
  return factors;
}

ShardingFactors RopeBackwardOp::getShardingFactors() {
  if (rankOf(getDy()) < 1)
    return {};
  ShardingFactors factors = elementwiseFactors(*this);
  factors.kinds.back() = FactorKind::whole;
  return factors;
}

//===----------------------------------------------------------------------===//
// How losses can be split
//===----------------------------------------------------------------------===//

/// Returns factors of a loss. Devices that hold parts of the vocabulary
/// exchange what they need inside the op, so that the vocabulary may be split.
static FactorList lossFactors(ShardingFactors &factors, Value x, Value labels) {
  if (rankOf(x) != rankOf(labels) + 1)
    return {};
  FactorList tokens = addFactors(factors, FactorKind::parallel, rankOf(labels));
  factors.operands = {concat(tokens, {factors.add(FactorKind::parallel)}),
                      tokens};
  return tokens;
}

/// Verifies that `form` is the name of a `LossForm`.
static LogicalResult verifyForm(Operation *op, std::optional<StringRef> form) {
  if (!form || parseLossForm(*form))
    return success();
  return op->emitOpError() << "has the form '" << *form << "', expected "
                           << lossFormChoices();
}

LogicalResult CrossEntropyOp::verify() { return verifyForm(*this, getForm()); }

LogicalResult CrossEntropyBackwardOp::verify() {
  return verifyForm(*this, getForm());
}

ShardingFactors CrossEntropyOp::getShardingFactors() {
  ShardingFactors factors;
  FactorList tokens = lossFactors(factors, getX(), getLabels());
  factors.results = {tokens};
  return factors;
}

ShardingFactors CrossEntropyBackwardOp::getShardingFactors() {
  ShardingFactors factors;
  lossFactors(factors, getX(), getLabels());
  if (!factors.operands.empty())
    factors.results = {factors.operands.front()};
  return factors;
}

//===----------------------------------------------------------------------===//
// How gradients of matmuls can be split
//===----------------------------------------------------------------------===//

int64_t ProductGradientOp::getNumContracted() {
  return (rankOf(getLhs()) + rankOf(getRhs()) - rankOf(getResult())) / 2;
}

/// Only the gradient of a weight names the weight, whose shape its result has.
LogicalResult ProductGradientOp::verify() {
  if (isOfInput() != bool(getWeight()))
    return success();
  return emitOpError(isOfInput()
                         ? "is the gradient of an input, and names a weight"
                         : "is the gradient of a weight, and names none");
}

ShardingFactors ProductGradientOp::getShardingFactors() {
  ShardingFactors factors;
  int64_t contracted = getNumContracted();
  int64_t rows = rankOf(getLhs()) - contracted;
  int64_t columns = rankOf(getRhs()) - contracted;
  int64_t least = getRole() == ProductRole::input ? 0 : 1;
  if (contracted < least || rows < 0 || columns < 0 ||
      rows + columns != rankOf(getResult()) ||
      (getRole() == ProductRole::states && contracted * columns != 1) ||
      (getWeight() && rankOf(getWeight()) != rankOf(getResult())))
    return factors;
  FactorList left = addFactors(factors, FactorKind::parallel, rows);
  FactorList summed = addFactors(factors, FactorKind::reduction, contracted);
  FactorList right = addFactors(factors, FactorKind::parallel, columns);
  factors.operands = {
      contractsLastOfLhs() ? concat(left, summed) : concat(summed, left),
      contractsLastOfRhs() ? concat(right, summed) : concat(summed, right)};
  factors.results = {concat(left, right)};
  if (getWeight())
    factors.operands.push_back(factors.results.front());
  factors.linear = {{0}, {1}};
  factors.sharesReplicas = getRole() == ProductRole::input;
  factors.looksUp = getRole() == ProductRole::states;
  return factors;
}

/// Returns factors of an op that sums over the leading dimensions of `dy` and
/// keeps as many trailing ones as `weight` has. Each of the `operands` operands
/// has the dimensions of `dy`.
static ShardingFactors sumFactors(Value dy, Value weight, unsigned operands) {
  ShardingFactors factors;
  int64_t kept = rankOf(weight), summed = rankOf(dy) - kept;
  if (summed < 1)
    return factors;
  FactorList own = addFactors(factors, FactorKind::parallel, kept);
  FactorList all =
      concat(addFactors(factors, FactorKind::reduction, summed), own);
  factors.operands.assign(operands, all);
  factors.operands.push_back(own);
  factors.results = {own};
  factors.linear = {{0}};
  return factors;
}

ShardingFactors SumTokensOp::getShardingFactors() {
  return sumFactors(getDy(), getBias(), 1);
}

/// If there is one factor for all elements, it has no dimension in common with
/// them.
ShardingFactors FactorGradientOp::getShardingFactors() {
  bool isOne = rankOf(getFactors()) == 1 &&
               tensorOf(getFactors().getType()).getDimSize(0) == 1;
  ShardingFactors factors;
  if (!isOne) {
    factors = sumFactors(getDy(), getFactors(), 2);
    factors.linear = {{}};
    return factors;
  }
  FactorList all = addFactors(factors, FactorKind::reduction, rankOf(getDy()));
  FactorList one = {factors.add(FactorKind::whole)};
  factors.operands = {all, all, one};
  factors.results = {one};
  factors.linear = {{}};
  return factors;
}

//===----------------------------------------------------------------------===//
// How gradients of embedding tables can be split
//===----------------------------------------------------------------------===//

ShardingFactors EmbeddingGradientOp::getShardingFactors() {
  ShardingFactors factors;
  if (rankOf(getTable()) != 2 || rankOf(getDy()) != rankOf(getIds()) + 1)
    return factors;
  int32_t vocabulary = factors.add(FactorKind::parallel);
  int32_t hidden = factors.add(FactorKind::parallel);
  FactorList tokens =
      addFactors(factors, FactorKind::reduction, rankOf(getIds()));
  factors.operands = {tokens, concat(tokens, {hidden}), {vocabulary, hidden}};
  factors.results = {{vocabulary, hidden}};
  factors.linear = {{1}};
  return factors;
}

ShardingFactors PositionGradientOp::getShardingFactors() {
  ShardingFactors factors;
  if (rankOf(getDy()) != 3)
    return factors;
  TensorView table(getTable());
  bool hasRows =
      table.rank() == 2 && table.extent(1) == TensorView(getDy()).extent(2);
  FactorList all = addFactors(factors, FactorKind::whole, table.rank());
  int32_t hidden = hasRows ? all.back() : factors.add(FactorKind::whole);
  FactorList tokens = addFactors(factors, FactorKind::reduction, 2);
  factors.operands = {concat(tokens, {hidden}), all};
  factors.results = {all};
  factors.linear = {{0}};
  return factors;
}

//===----------------------------------------------------------------------===//
// How backwards of norms can be split
//===----------------------------------------------------------------------===//

/// Returns factors of a norm's operand `x`: the last `over` dimensions, over
/// which the mean is taken, must not be split.
static FactorList normFactors(ShardingFactors &factors, Value x, int64_t over,
                              FactorKind tokens) {
  FactorList all = addFactors(factors, tokens, rankOf(x) - over);
  all.append(addFactors(factors, FactorKind::whole, over));
  return all;
}

ShardingFactors NormBackwardOp::getShardingFactors() {
  ShardingFactors factors;
  int64_t rank = rankOf(getX()), over = getOver();
  if (over < 1 || over > rank || (getWeight() && rankOf(getWeight()) > rank))
    return factors;
  FactorList all = normFactors(factors, getX(), over, FactorKind::parallel);
  factors.operands = {all, all};
  if (getWeight())
    factors.operands.emplace_back(ArrayRef(all).take_back(rankOf(getWeight())));
  factors.results = {all};
  return factors;
}

/// A weight may have dimensions besides those of the mean: one weight for each
/// head.
ShardingFactors NormGradientOp::getShardingFactors() {
  ShardingFactors factors;
  int64_t rank = rankOf(getX()), over = getOver(), own = rankOf(getWeight());
  if (over < 1 || over > own || own >= rank)
    return factors;
  FactorList all = addFactors(factors, FactorKind::reduction, rank - own);
  all.append(addFactors(factors, FactorKind::parallel, own - over));
  all.append(addFactors(factors, FactorKind::whole, over));
  FactorList weight(ArrayRef(all).take_back(own));
  factors.operands = {all, all, weight};
  factors.results = {weight};
  // Partial sums must be reduced before the op, because both of its results
  // need the whole gradient.
  factors.linear = {{}};
  return factors;
}

//===----------------------------------------------------------------------===//
// How the backward of attention can be split
//===----------------------------------------------------------------------===//

namespace {

/// The factors of an attention without a KV cache. Its key-value tokens must
/// not be split or, with `FactorKind::seen`, may be passed around a ring.
struct AttentionFactors {
  explicit AttentionFactors(FactorKind queries,
                            FactorKind keys = FactorKind::seen)
      : query(factors.add(queries)), tokens(factors.add(keys)) {}

  ShardingFactors factors;
  int32_t query;
  int32_t batch = factors.add(FactorKind::parallel);
  int32_t heads = factors.add(FactorKind::grouped);
  int32_t tokens;
  int32_t width = factors.add(FactorKind::whole);
  int32_t valueWidth = factors.add(FactorKind::whole);

  FactorList queries() const { return {batch, query, heads, width}; }
  FactorList keys() const { return {batch, tokens, heads, width}; }
  FactorList values() const { return {batch, tokens, heads, valueWidth}; }
  FactorList results() const { return {batch, query, heads, valueWidth}; }
  FactorList probabilities() const { return {batch, heads, query, tokens}; }
};

} // namespace

static bool haveRank(ValueRange tensors, int64_t rank) {
  return llvm::all_of(tensors,
                      [&](Value tensor) { return rankOf(tensor) == rank; });
}

ShardingFactors AttentionNormaliserOp::getShardingFactors() {
  AttentionFactors all(FactorKind::parallel);
  if (!haveRank({getQuery(), getKey()}, 4))
    return {};
  all.factors.operands = {all.queries(), all.keys()};
  if (getSinks())
    all.factors.operands.push_back({all.heads});
  all.factors.results = {{all.batch, all.query, all.heads}};
  return all.factors;
}

ShardingFactors SinkGradientOp::getShardingFactors() {
  ShardingFactors factors;
  if (!haveRank({getDy(), getY()}, 4) || rankOf(getNormaliser()) != 3)
    return factors;
  FactorList tokens = addFactors(factors, FactorKind::reduction, 2);
  int32_t heads = factors.add(FactorKind::parallel);
  FactorList results = concat(tokens, {heads, factors.add(FactorKind::whole)});
  factors.operands = {results, results, concat(tokens, {heads}), {heads}};
  factors.results = {{heads}};
  // Partial sums must be reduced before the op, because the normaliser is
  // computed from the whole scores.
  factors.linear = {{}};
  return factors;
}

ShardingFactors AttentionBackwardOp::getShardingFactors() {
  AttentionFactors all(FactorKind::reduction);
  if (!haveRank({getDy(), getQuery(), getKey(), getValue(), getY()}, 4) ||
      rankOf(getNormaliser()) != 3)
    return {};
  all.factors.operands = {all.results(), all.queries(),
                          all.keys(),    all.values(),
                          all.results(), {all.batch, all.query, all.heads}};
  all.factors.results = {all.queries(), all.keys(), all.values()};
  all.factors.linear = {{}};
  return all.factors;
}

ShardingFactors AttentionProbabilitiesOp::getShardingFactors() {
  AttentionFactors all(FactorKind::whole, FactorKind::whole);
  if (!haveRank({getQuery(), getKey(), getResult()}, 4))
    return {};
  all.factors.operands = {all.queries(), all.keys()};
  all.factors.results = {all.probabilities()};
  return all.factors;
}

ShardingFactors AttendOp::getShardingFactors() {
  AttentionFactors all(FactorKind::whole, FactorKind::whole);
  if (!haveRank({getProbabilities(), getValue(), getResult()}, 4))
    return {};
  all.factors.operands = {all.probabilities(), all.values()};
  all.factors.results = {all.results()};
  return all.factors;
}

ShardingFactors AttendBackwardOp::getShardingFactors() {
  AttentionFactors all(FactorKind::whole, FactorKind::whole);
  if (!haveRank(getOperands(), 4))
    return {};
  all.factors.operands = {all.results(), all.probabilities(), all.values()};
  all.factors.results = {all.probabilities(), all.values()};
  return all.factors;
}

ShardingFactors AttentionProbabilitiesBackwardOp::getShardingFactors() {
  AttentionFactors all(FactorKind::whole, FactorKind::whole);
  if (!haveRank(getOperands(), 4))
    return {};
  all.factors.operands = {all.probabilities(), all.probabilities(),
                          all.queries(), all.keys()};
  all.factors.results = {all.queries(), all.keys()};
  return all.factors;
}

/// Returns the factor of heads, which is split as in the forward: key-value
/// heads that query heads share are split up to their number. `rules` are the
/// split rules of operands, then of results.
static std::optional<TensorParallelFactor>
headsOf(std::initializer_list<SplitRule> rules) {
  constexpr int32_t heads = 2;
  return TensorParallelFactor{heads, SmallVector<SplitRule, 4>(rules),
                              TensorParallelRole::attention};
}

static constexpr SplitRule own = SplitRule::plain, shared = SplitRule::cap;

std::optional<TensorParallelFactor>
AttentionNormaliserOp::getTensorParallelFactor() {
  return getSinks() ? headsOf({own, shared, own, own})
                    : headsOf({own, shared, own});
}
std::optional<TensorParallelFactor>
AttentionBackwardOp::getTensorParallelFactor() {
  return headsOf({own, own, shared, shared, own, own, own, shared, shared});
}
std::optional<TensorParallelFactor>
AttentionProbabilitiesOp::getTensorParallelFactor() {
  return headsOf({own, shared, own});
}
std::optional<TensorParallelFactor> AttendOp::getTensorParallelFactor() {
  return headsOf({own, shared, own});
}
std::optional<TensorParallelFactor>
AttendBackwardOp::getTensorParallelFactor() {
  return headsOf({own, own, shared, own, shared});
}
std::optional<TensorParallelFactor>
AttentionProbabilitiesBackwardOp::getTensorParallelFactor() {
  return headsOf({own, own, own, shared, own, shared});
}
