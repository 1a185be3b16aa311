//===- TokenOps.cpp - Factors of ops that move or scale tokens ------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/Factors.h"

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

ShardingFactors ScaleOp::getShardingFactors() {
  ShardingFactors factors = elementwiseFactors(*this);
  factors.linear = {{0}};
  return factors;
}

ShardingFactors MultiplyOp::getShardingFactors() {
  ShardingFactors factors;
  if (rankOf(getX()) < 1 || rankOf(getFactors()) != 1)
    return factors;
  FactorList x = addFactors(factors, FactorKind::parallel, rankOf(getX()));
  bool one = TensorView(getFactors()).getType().getDimSize(0) == 1;
  factors.operands = {x, {one ? factors.add(FactorKind::whole) : x.back()}};
  factors.results = {x};
  factors.linear = {{0}};
  return factors;
}

ShardingFactors WeighOp::getShardingFactors() {
  ShardingFactors factors;
  int64_t leading = rankOf(getWeights()), trailing = rankOf(getX()) - leading;
  if (trailing < 1)
    return factors;
  FactorList rows = addFactors(factors, FactorKind::parallel, leading);
  FactorList x =
      concat(rows, addFactors(factors, FactorKind::parallel, trailing));
  factors.operands = {x, rows};
  factors.results = {x};
  factors.linear = {{0}};
  return factors;
}

ShardingFactors SoftcapOp::getShardingFactors() {
  return elementwiseFactors(*this);
}

ShardingFactors PositionEmbeddingOp::getShardingFactors() {
  ShardingFactors factors;
  if (rankOf(getX()) < 1 || rankOf(getTable()) < 1)
    return factors;
  FactorList x = addFactors(factors, FactorKind::parallel, rankOf(getX()));
  // If the checkpoint keeps the table's rows in another shape, the table must
  // not be split.
  TensorView table(getTable()), tokens(getX());
  if (table.rank() != 2 ||
      table.extent(1) != tokens.extent(tokens.rank() - 1)) {
    factors.kinds.back() = FactorKind::whole;
    factors.operands = {
        x, addFactors(factors, FactorKind::whole, rankOf(getTable()))};
    factors.results = {x};
    return factors;
  }
  int32_t positions = factors.add(FactorKind::whole);
  factors.operands = {x, {positions, x.back()}};
  factors.results = {x};
  return factors;
}

ShardingFactors InsertOp::getShardingFactors() {
  ShardingFactors factors;
  if (rankOf(getX()) != 3 || rankOf(getY()) != 3)
    return factors;
  int32_t batch = factors.add(FactorKind::parallel);
  int32_t hidden = factors.add(FactorKind::parallel);
  int32_t tokens = factors.add(FactorKind::parallel);
  int32_t inserted = factors.add(FactorKind::whole);
  factors.operands = {{batch, tokens, hidden}, {batch, inserted, hidden}};
  factors.results = {{batch, tokens, hidden}};
  factors.linear = {{0, 1}};
  return factors;
}

ShardingFactors ConvolutionOp::getShardingFactors() {
  ShardingFactors factors;
  int64_t rank = rankOf(getX()), kernels = rankOf(getWeight());
  if (rank < 3 || kernels < rank || kernels > 4 || rankOf(getResult()) != rank)
    return factors;
  int32_t batch = factors.add(FactorKind::parallel);
  int32_t before = factors.add(FactorKind::whole);
  int32_t in = factors.add(FactorKind::reduction);
  int32_t kernel = factors.add(FactorKind::whole);
  int32_t after = factors.add(FactorKind::whole);
  int32_t out = factors.add(FactorKind::parallel);
  factors.operands = {{batch, before, in}, {in, kernel, out}};
  factors.results = {{batch, after, out}};
  auto insert = [&](FactorList &list) {
    list.insert(list.begin() + 2, factors.add(FactorKind::whole));
  };
  if (rank == 4) {
    insert(factors.operands[0]);
    insert(factors.results[0]);
  }
  if (kernels == 4)
    insert(factors.operands[1]);
  if (getBias())
    factors.operands.push_back({out});
  else
    factors.linear = {{0}, {1}};
  return factors;
}

ShardingFactors ChannelConvolutionOp::getShardingFactors() {
  ShardingFactors factors;
  int64_t rank = rankOf(getX()), kernels = rankOf(getWeight());
  if (rank < 3 || kernels < rank - 1 || kernels > 3 ||
      rankOf(getResult()) != rank)
    return factors;
  int32_t batch = factors.add(FactorKind::parallel);
  int32_t channels = factors.add(FactorKind::parallel);
  auto plane = [&] {
    FactorList dims =
        concat({batch}, addFactors(factors, FactorKind::whole, rank - 2));
    return concat(dims, {channels});
  };
  factors.operands = {
      plane(),
      concat({channels}, addFactors(factors, FactorKind::whole, kernels - 1))};
  factors.results = {plane()};
  if (getBias())
    factors.operands.push_back({channels});
  return factors;
}

ShardingFactors BatchNormOp::getShardingFactors() {
  ShardingFactors factors;
  if (rankOf(getX()) < 1 || rankOf(getMean()) != 1)
    return factors;
  FactorList x = addFactors(factors, FactorKind::parallel, rankOf(getX()));
  FactorList channels = {x.back()};
  factors.operands = {x, channels, channels, channels, channels};
  factors.results = {x};
  return factors;
}

ShardingFactors LayerPartOp::getShardingFactors() {
  ShardingFactors factors;
  if (rankOf(getX()) < 2)
    return factors;
  FactorList kept =
      addFactors(factors, FactorKind::parallel, rankOf(getX()) - 1);
  FactorList x(kept);
  x.insert(x.end() - 1, factors.add(FactorKind::whole));
  factors.operands = {x};
  factors.results = {kept};
  factors.linear = {{0}};
  return factors;
}

Operation *ConvolutionOp::detachBias(OpBuilder &builder) {
  return detachBiasOf(*this, builder);
}

ShardingFactors transformer::mergeFactors(Value tokens, Value merged,
                                          bool isMean, bool isBackward) {
  ShardingFactors factors;
  int64_t rank = rankOf(merged);
  if (rankOf(tokens) != 3 || rank < 3 || (isMean && rank != 3))
    return factors;
  int32_t batch = factors.add(FactorKind::parallel);
  int32_t before = factors.add(FactorKind::whole);
  int32_t after = factors.add(FactorKind::whole);
  int32_t width =
      factors.add(isMean ? FactorKind::parallel : FactorKind::whole);
  factors.operands = {{batch, before, width}};
  FactorList ofMerged = {batch, after};
  factors.results = {concat(
      ofMerged, isMean ? FactorList{width}
                       : addFactors(factors, FactorKind::whole, rank - 2))};
  if (isBackward)
    std::swap(factors.operands, factors.results);
  factors.linear = {{0}};
  return factors;
}

ShardingFactors MergeTokensOp::getShardingFactors() {
  return mergeFactors(getX(), getResult(), getMean(), /*isBackward=*/false);
}
