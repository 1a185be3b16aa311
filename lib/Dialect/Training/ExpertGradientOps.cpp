//===- ExpertGradientOps.cpp - Backwards of experts -----------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Training/Training.h"

#include "autopar/Dialect/Transformer/Factors.h"
#include "autopar/Interfaces/WorkloadBuilder.h"

using namespace autopar;
using namespace autopar::program;
using namespace autopar::training;
using namespace autopar::transformer;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Factors, which say how ops can be split
//===----------------------------------------------------------------------===//

ShardingFactors RouterScoresOp::getShardingFactors() {
  ShardingFactors factors;
  if (rankOf(getX()) < 1 || rankOf(getWeight()) != 2)
    return factors;
  FactorList rows =
      addFactors(factors, FactorKind::parallel, rankOf(getX()) - 1);
  int32_t hidden = factors.add(FactorKind::whole);
  int32_t experts = factors.add(FactorKind::whole);
  factors.operands = {concat(rows, {hidden}), {hidden, experts}};
  if (getBias())
    factors.operands.push_back({experts});
  factors.results = {concat(rows, {experts})};
  return factors;
}

ShardingFactors RouterBackwardOp::getShardingFactors() {
  ShardingFactors factors;
  if (rankOf(getDy()) < 1 || rankOf(getScores()) != rankOf(getDy()))
    return factors;
  FactorList rows =
      addFactors(factors, FactorKind::parallel, rankOf(getDy()) - 1);
  FactorList routing = concat(rows, {factors.add(FactorKind::whole)});
  FactorList scores = concat(rows, {factors.add(FactorKind::whole)});
  factors.operands = {routing, scores, routing};
  factors.results = {scores};
  return factors;
}

ShardingFactors RoutingGradientOp::getShardingFactors() {
  ShardingFactors factors;
  if (rankOf(getDy()) < 1 || rankOf(getX()) != 2 ||
      rankOf(getRouting()) != rankOf(getDy()))
    return factors;
  FactorList rows =
      addFactors(factors, FactorKind::parallel, rankOf(getDy()) - 1);
  int32_t hidden = factors.add(FactorKind::reduction);
  int32_t topK = factors.add(FactorKind::whole);
  int32_t routed = factors.merge(concat(rows, {topK}));
  factors.operands = {
      concat(rows, {hidden}), {routed, hidden}, concat(rows, {topK})};
  factors.results = {concat(rows, {topK})};
  factors.linear = {{0}, {1}};
  // Each device has the gradients of the rows of its own experts only, so that
  // the result is a sum over experts.
  factors.operandExperts[1] = factors.add(FactorKind::reduction);
  return factors;
}

ShardingFactors CombineBackwardOp::getShardingFactors() {
  return routedFactors(getDy(), getRouting(), getResult(), /*fromSet=*/false);
}

ShardingFactors DispatchBackwardOp::getShardingFactors() {
  return routedFactors(getResult(), getRouting(), getDy(), /*fromSet=*/true);
}

ShardingFactors WeighGradientOp::getShardingFactors() {
  ShardingFactors factors;
  int64_t leading = rankOf(getWeights()), summed = rankOf(getX()) - leading;
  if (summed < 1 || rankOf(getDy()) != rankOf(getX()))
    return factors;
  FactorList rows = addFactors(factors, FactorKind::parallel, leading);
  FactorList x =
      concat(rows, addFactors(factors, FactorKind::reduction, summed));
  factors.operands = {x, x, rows};
  factors.results = {rows};
  factors.linear = {{0}, {1}};
  return factors;
}

ShardingFactors ExpertsBackwardOp::getShardingFactors() {
  ShardingFactors factors;
  if (rankOf(getDy()) != 2 || rankOf(getWeight()) != 3 ||
      rankOf(getResult()) != 2)
    return factors;
  int32_t rows = factors.add(FactorKind::parallel);
  int32_t experts = factors.add(FactorKind::parallel);
  int32_t inner = factors.add(FactorKind::parallel);
  int32_t columns = factors.add(FactorKind::reduction);
  factors.operands = {{rows, columns}, {experts, inner, columns}};
  factors.results = {{rows, inner}};
  factors.linear = {{0}, {1}};
  factors.operandExperts[0] = factors.resultExperts[0] = experts;
  return factors;
}

/// Returns factors of an op that sums over the rows of each expert. `sets[i]`
/// has the dimensions `dims[i]` of `weight` besides its rows.
static ShardingFactors expertSums(Value weight,
                                  ArrayRef<SmallVector<unsigned, 1>> dims,
                                  ValueRange sets) {
  ShardingFactors factors;
  int64_t rank = 1 + static_cast<int64_t>(dims.size());
  if (rankOf(weight) != rank ||
      llvm::any_of(sets, [](Value set) { return rankOf(set) != 2; }))
    return factors;
  int32_t rows = factors.add(FactorKind::reduction);
  FactorList all = addFactors(factors, FactorKind::parallel, rank);
  for (auto [i, own] : llvm::enumerate(dims)) {
    factors.operands.push_back({rows, all[own.front()]});
    factors.operandExperts[i] = all.front();
    factors.linear.push_back({static_cast<unsigned>(i)});
  }
  factors.operands.push_back(all);
  factors.results = {all};
  return factors;
}

ShardingFactors ExpertsGradientOp::getShardingFactors() {
  return expertSums(getWeight(), {{1}, {2}}, {getX(), getDy()});
}

ShardingFactors SumExpertsOp::getShardingFactors() {
  return expertSums(getBias(), {{1}}, {getDy()});
}

//===----------------------------------------------------------------------===//
// Workloads of gradients of experts
//===----------------------------------------------------------------------===//

/// The scores cost nothing: the router's own kernel writes them.
void RouterScoresOp::buildWorkload(WorkloadBuilder &) {}

void RouterBackwardOp::buildWorkload(WorkloadBuilder &builder) {
  builder.addElementwise(*this);
}

/// The routing determines which rows there are, but its numbers are not read.
void RoutingGradientOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel = builder.addKernel(*this, KernelKind::elementwise);
  builder.read(kernel, getDy());
  builder.read(kernel, getX());
  builder.write(kernel, getResult());
}

void CombineBackwardOp::buildWorkload(WorkloadBuilder &builder) {
  builder.addElementwise(*this);
}

void DispatchBackwardOp::buildWorkload(WorkloadBuilder &builder) {
  builder.addElementwise(*this);
}

void WeighGradientOp::buildWorkload(WorkloadBuilder &builder) {
  builder.addElementwise(*this);
}

void ExpertsBackwardOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel = builder.addProduct(*this, KernelKind::grouped_matmul,
                                      FlopClass::linear, getDy());
  kernel.rows = builder.dims(getDy(), 0, 1);
  kernel.contraction = builder.dims(getWeight(), 2, 3);
  kernel.columns = builder.dims(getWeight(), 1, 2);
  builder.read(kernel, getDy());
  builder.readExperts(kernel, getWeight(), kernel.rows, getTopK());
  builder.write(kernel, getResult());
}

/// The number of rows is that of the forward, in which ranks share the experts.
void ExpertsGradientOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel = builder.addProduct(*this, KernelKind::grouped_matmul,
                                      FlopClass::linear, getX());
  kernel.rows = builder.dims(getX(), 0, 1);
  kernel.contraction = builder.dims(getWeight(), 1, 2);
  kernel.columns = builder.dims(getWeight(), 2, 3);
  kernel.ofWeights = true;
  builder.read(kernel, getX());
  builder.read(kernel, getDy());
  builder.write(kernel, getResult());
  builder.makesProduct(getResult());
  builder.mergeBy(getX());
}

/// Whether `rows` are the gradient of rows that the forward returned to their
/// tokens unchanged.
static bool wereCombined(Value rows) {
  Operation *maker = rows.getDefiningOp();
  return maker &&
         (isa<CombineBackwardOp>(maker) ||
          !isa<TransformerDialect, TrainingDialect>(maker->getDialect()));
}

/// Memory passes of the backward of a bias that is added outside of the matmul
/// (`ExpertsOp`): the gradient is cast to fp32 and back for the matmul; the
/// gradient of the weighted bias is multiplied by the routing weight and by the
/// bias, and both products are summed.
static constexpr Passes biasBackwardPasses = {1, 1, 5, 3};

void SumExpertsOp::buildWorkload(WorkloadBuilder &builder) {
  if (wereCombined(getDy()))
    builder.addPasses(*this, getDy(), biasBackwardPasses);
  Kernel &kernel = builder.addKernel(*this, KernelKind::elementwise);
  kernel.ofWeights = true;
  builder.read(kernel, getDy());
  builder.write(kernel, getResult());
}
