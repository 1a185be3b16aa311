//===- SharedAttentionOp.cpp - Keys and values of earlier layers ----------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/Factors.h"
#include "autopar/Dialect/Transformer/Verifiers.h"
#include "autopar/Interfaces/WorkloadBuilder.h"

using namespace autopar;
using namespace autopar::program;
using namespace autopar::transformer;
using namespace mlir;

LogicalResult SharedAttentionOp::verify() {
  constexpr unsigned headDim = 2, widthDim = 3;
  for (Value tensor :
       std::initializer_list<Value>{getQuery(), getCache(), getResult()})
    if (failed(verifyNumbers(*this, tensor, headDim)))
      return failure();
  int64_t heads = sizeOf(getQuery(), headDim);
  int64_t kvHeads = sizeOf(getCache(), headDim);
  if (heads < 1 || kvHeads < 1 || heads % kvHeads)
    return emitOpError() << "has " << heads << " query heads, which " << kvHeads
                         << " key-value heads do not divide";
  if (sizeOf(getResult(), headDim) != heads)
    return emitOpError() << "has " << sizeOf(getResult(), headDim)
                         << " heads in its result, expected " << heads;
  int64_t width = sizeOf(getQuery(), widthDim) + sizeOf(getResult(), widthDim);
  if (sizeOf(getCache(), widthDim) != width)
    return emitOpError() << "reads " << sizeOf(getCache(), widthDim)
                         << " elements per head, expected " << width
                         << ": a key and a value";
  if (KVCacheOp cache = cacheOf(getCache()); cache && !cache.getName())
    return emitOpError("reads a cache without a name, to which no other layer "
                       "appends");
  if (failed(verifyLimit(*this, "window", getWindow())) ||
      failed(verifyKeepsSeen(*this, getCache(), getWindow())))
    return failure();
  return getScale() ? verifyPositive(*this, "scale", *getScale()) : success();
}

ShardingFactors SharedAttentionOp::getShardingFactors() {
  ShardingFactors factors;
  if (!haveRanks({{getQuery(), 4}, {getCache(), 4}, {getResult(), 4}}))
    return factors;
  int32_t batch = factors.add(FactorKind::parallel);
  int32_t query = factors.add(FactorKind::parallel);
  int32_t heads = factors.add(FactorKind::grouped);
  int32_t width = factors.add(FactorKind::whole);
  int32_t valueWidth = factors.add(FactorKind::whole);
  int32_t context = factors.add(FactorKind::reduction);
  int32_t cached = factors.add(FactorKind::whole);
  factors.operands = {{batch, query, heads, width},
                      {batch, context, heads, cached}};
  factors.results = {{batch, query, heads, valueWidth}};
  factors.linear.emplace_back();
  return factors;
}

std::optional<TensorParallelFactor>
SharedAttentionOp::getTensorParallelFactor() {
  constexpr int32_t heads = 2;
  return TensorParallelFactor{
      heads, {SplitRule::plain, SplitRule::cap}, TensorParallelRole::attention};
}

/// The kernel of `transformer.attention`, which writes no rows.
void SharedAttentionOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel = builder.addProduct(*this, KernelKind::attention,
                                      FlopClass::attention, getQuery());
  kernel.rows = builder.dims(getQuery(), 0, 1);
  kernel.columns = builder.dims(getQuery(), 2, 3);
  Dim widths;
  widths.extent.factor = sizeOf(getCache(), 3);
  kernel.contraction = {widths};
  Pairs pairs;
  pairs.query = builder.dims(getQuery(), 1, 2).front();
  pairs.context = builder.dims(getCache(), 1, 2).front();
  pairs.causal = true;
  pairs.window = getWindow().value_or(0);
  kernel.pairs = pairs;
  kernel.heads = {builder.dims(getCache(), 2, 3).front(),
                  widths.extent.factor / 2};
  kernel.mixesTokens = true;
  builder.read(kernel, getQuery());
  builder.read(kernel, getCache());
  builder.write(kernel, getResult());
  builder.exchangeNormalisers(*this, getResult(), pairs.context);
}
