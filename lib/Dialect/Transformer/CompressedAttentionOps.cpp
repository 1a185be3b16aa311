//===- CompressedAttentionOps.cpp - One row for several tokens ------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/Factors.h"
#include "autopar/Dialect/Transformer/Selected.h"
#include "autopar/Dialect/Transformer/Verifiers.h"

using namespace autopar;
using namespace autopar::program;
using namespace autopar::transformer;
using namespace mlir;

static Dim number(int64_t size) {
  Dim dim;
  dim.extent.factor = size;
  return dim;
}

/// Returns the number of last positions that a KV cache keeps after a step;
/// nothing if it keeps all.
static std::optional<uint64_t> keptBy(Value handle) {
  auto cache = handle.getDefiningOp<KVCacheOp>();
  return cache ? cache.getWindow() : std::nullopt;
}

/// Verifies that a KV cache keeps at least the last `tokens` tokens.
static LogicalResult verifyKeeps(Operation *op, Value cache, int64_t tokens) {
  std::optional<uint64_t> kept = keptBy(cache);
  if (!kept || static_cast<int64_t>(*kept) >= tokens)
    return success();
  return op->emitOpError() << "needs the last " << tokens
                           << " tokens, but the cache keeps the last " << *kept;
}

static LogicalResult verifyWidth(Operation *op, StringRef what, Value tensor,
                                 unsigned dim, int64_t expected) {
  int64_t found = sizeOf(tensor, dim);
  if (found == expected)
    return success();
  return op->emitOpError() << "has " << what << " of " << found
                           << " elements, expected " << expected;
}

//===----------------------------------------------------------------------===//
// The op CompressOp
//===----------------------------------------------------------------------===//

int64_t CompressOp::getRatio() { return sizeOf(getBias(), 0); }

bool CompressOp::overlaps() {
  return sizeOf(getValue(), 2) == 2 * sizeOf(getResult(), 2);
}

LogicalResult CompressOp::verify() {
  for (Value tensor :
       std::initializer_list<Value>{getValue(), getStates(), getResult()})
    if (failed(verifyNumbers(*this, tensor, 2)))
      return failure();
  int64_t width = sizeOf(getValue(), 2), own = sizeOf(getResult(), 2);
  if (width != own && !overlaps())
    return emitOpError() << "has values of " << width
                         << " elements, expected the " << own
                         << " of a result or twice as many";
  int64_t ratio = getRatio();
  if (ratio < 2 || own % ratio)
    return emitOpError() << "has rows of " << ratio
                         << " tokens, expected 2 or more that divide the "
                         << own << " elements of a result";
  if (failed(verifyWidth(*this, "a bias", getBias(), 1, width)) ||
      failed(verifyWidth(*this, "a weight", getWeight(), 0, own)) ||
      failed(verifyWidth(*this, "states", getStates(), 2, 2 * width)) ||
      failed(verifyKeeps(*this, getStates(), overlaps() ? 2 * ratio : ratio)))
    return failure();
  if (getEps().isNegative() || !getEps().isFinite())
    return emitOpError("has an eps that is negative or not finite");
  int64_t turned = getWidth() ? static_cast<int64_t>(*getWidth()) : own;
  if (turned < 2 || turned % 2 || turned > own)
    return emitOpError() << "turns " << turned << " of " << own
                         << " elements, expected an even part of them";
  return verifyPositive(*this, "theta", getTheta());
}

/// A window of tokens may lie on several devices, so that tokens must not be
/// split.
ShardingFactors CompressOp::getShardingFactors() {
  ShardingFactors factors;
  if (!haveRanks({{getValue(), 3},
                  {getBias(), 2},
                  {getWeight(), 1},
                  {getStates(), 3},
                  {getResult(), 3}}))
    return factors;
  int32_t batch = factors.add(FactorKind::parallel);
  auto whole = [&] { return factors.add(FactorKind::whole); };
  int32_t query = whole(), width = whole(), own = whole();
  factors.operands = {{batch, query, width},
                      {batch, query, width},
                      {whole(), width},
                      {own},
                      {batch, whole(), whole()}};
  factors.results = {{batch, query, own}};
  return factors;
}

/// Adds the traffic: the states of all tokens are written, and read again when
/// a window ends; each token has 1/ratio of a result.
void CompressOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel =
      builder.addKernel(*this, KernelKind::elementwise, getValue());
  Dims tokens = builder.dims(getValue(), 0, 2);
  auto ofTokens = [&](int64_t width) {
    Dims dims = tokens;
    dims.push_back(number(width));
    return dims;
  };
  for (Value operand : {getValue(), getGate(), getBias(), getWeight()})
    builder.read(kernel, operand);
  Dims states = ofTokens(2 * sizeOf(getValue(), 2));
  builder.read(kernel, getStates());
  kernel.traffic.back().shape = states;
  builder.write(kernel, getStates());
  kernel.traffic.back().shape = states;
  builder.write(kernel, getResult());
  kernel.traffic.back().shape = ofTokens(sizeOf(getResult(), 2) / getRatio());
}

//===----------------------------------------------------------------------===//
// The op CompressedAttentionOp
//===----------------------------------------------------------------------===//

int64_t CompressedAttentionOp::getRatio() {
  return getRows() ? sizeOf(getRow(), 2) / sizeOf(getRows(), 2) : 1;
}

LogicalResult CompressedAttentionOp::verify() {
  for (Value tensor : std::initializer_list<Value>{
           getRow(), getCache(), getCompressed(), getRows(), getSelected()})
    if (tensor && failed(verifyNumbers(*this, tensor, 2)))
      return failure();
  int64_t width = sizeOf(getRow(), 2);
  if (failed(verifyWidth(*this, "queries", getQuery(), 3, width)) ||
      failed(verifyWidth(*this, "a cache", getCache(), 2, width)) ||
      failed(verifyLimit(*this, "window", getWindow())) ||
      failed(verifyKeeps(*this, getCache(), static_cast<int64_t>(getWindow()))))
    return failure();
  if (bool(getCompressed()) != bool(getRows()))
    return emitOpError("has compressed rows or a cache of them, expected both");
  if (getSelected() && !getRows())
    return emitOpError("has selected rows, but no compressed ones");
  if (!getRows())
    return success();
  if (failed(verifyWidth(*this, "compressed rows", getCompressed(), 2, width)))
    return failure();
  int64_t part = sizeOf(getRows(), 2);
  if (part < 1 || part == width || width % part)
    return emitOpError() << "caches " << part
                         << " elements a token, expected a part of the "
                         << width << " of a compressed row";
  return success();
}

ShardingFactors CompressedAttentionOp::getShardingFactors() {
  ShardingFactors factors;
  if (!haveRanks({{getQuery(), 4},
                  {getRow(), 3},
                  {getCache(), 3},
                  {getCompressed(), 3},
                  {getRows(), 3},
                  {getSelected(), 3},
                  {getSinks(), 1}}))
    return factors;
  int32_t batch = factors.add(FactorKind::parallel);
  int32_t query = factors.add(FactorKind::parallel);
  int32_t heads = factors.add(FactorKind::parallel);
  auto whole = [&] { return factors.add(FactorKind::whole); };
  int32_t width = whole();
  factors.operands = {{batch, query, heads, width},
                      {batch, whole(), width},
                      {batch, whole(), width}};
  if (getCompressed())
    factors.operands.push_back({batch, whole(), width});
  if (getRows())
    factors.operands.push_back({batch, whole(), whole()});
  if (getSelected())
    factors.operands.push_back({batch, query, whole()});
  if (getSinks())
    factors.operands.push_back({heads});
  factors.results = {{batch, query, heads, width}};
  return factors;
}

std::optional<TensorParallelFactor>
CompressedAttentionOp::getTensorParallelFactor() {
  constexpr int32_t heads = 2;
  return TensorParallelFactor{
      heads, SmallVector<SplitRule, 4>(getNumOperands(), SplitRule::plain),
      TensorParallelRole::attention};
}

/// Adds the matmuls of the queries with rows of `cache` that are both keys and
/// values: `width` elements of each row, of which a query attends to `seen`.
static Kernel &addRows(CompressedAttentionOp op, WorkloadBuilder &builder,
                       Value cache, int64_t width, int64_t seen) {
  Kernel &kernel = builder.addProduct(op, KernelKind::sparse_attention,
                                      FlopClass::attention, op.getQuery());
  kernel.rows = builder.dims(op.getQuery(), 0, 1);
  kernel.columns = builder.dims(op.getQuery(), 2, 3);
  kernel.contraction = {number(2 * width)};
  Pairs pairs;
  pairs.query = builder.dims(op.getQuery(), 1, 2).front();
  pairs.context = builder.dims(cache, 1, 2).front();
  pairs.window = seen;
  kernel.pairs = pairs;
  // The queries are converted to the number format of the cache.
  kernel.compute = builder.formatOf(cache);
  builder.read(kernel, op.getQuery());
  return kernel;
}

/// One kernel attends to both caches, because it takes two lists of rows
/// (flash_mla_with_kvcache of FlashMLA takes a second cache).
void CompressedAttentionOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel = addRows(*this, builder, getCache(), sizeOf(getRow(), 2),
                           static_cast<int64_t>(getWindow()));
  kernel.mixesTokens = true;
  builder.read(kernel, getCache());
  if (getSinks())
    builder.read(kernel, getSinks());
  builder.write(kernel, getRow());
  builder.write(kernel, getResult());
  if (!getRows())
    return;
  int64_t seen = getSelected() ? sizeOf(getSelected(), 2) * getRatio() : 0;
  Kernel &other =
      addRows(*this, builder, getRows(), sizeOf(getRows(), 2), seen);
  readSelected(builder, other, getRows(), seen);
  if (getSelected())
    builder.read(other, getSelected());
}

//===----------------------------------------------------------------------===//
// The op GroupedLinearOp
//===----------------------------------------------------------------------===//

LogicalResult GroupedLinearOp::verify() {
  unsigned heads = rankOf(getX()) - 2, groups = rankOf(getResult()) - 2;
  if (failed(verifyNumbers(*this, getX(), heads)) ||
      failed(verifyNumbers(*this, getWeight(), 0)) ||
      failed(verifyNumbers(*this, getResult(), groups)))
    return failure();
  int64_t count = sizeOf(getX(), heads), own = sizeOf(getWeight(), 0);
  if (own < 1 || count % own)
    return emitOpError() << "has " << own << " groups, which do not divide "
                         << count << " heads";
  return failure(failed(verifyWidth(*this, "groups of a result", getResult(),
                                    groups, own)) ||
                 failed(verifyWidth(*this, "a weight", getWeight(), 1,
                                    count / own * sizeOf(getX(), heads + 1))));
}

ShardingFactors GroupedLinearOp::getShardingFactors() {
  ShardingFactors factors;
  if (rankOf(getX()) < 2 || rankOf(getWeight()) != 3 ||
      rankOf(getResult()) != rankOf(getX()))
    return factors;
  int32_t heads = factors.add(FactorKind::grouped);
  FactorList rows =
      addFactors(factors, FactorKind::parallel, rankOf(getX()) - 2);
  int32_t inner = factors.add(FactorKind::whole);
  int32_t out = factors.add(FactorKind::parallel);
  factors.operands = {concat(rows, {heads, inner}),
                      {heads, factors.add(FactorKind::whole), out}};
  factors.results = {concat(rows, {heads, out})};
  return factors;
}

std::optional<TensorParallelFactor> GroupedLinearOp::getTensorParallelFactor() {
  constexpr int32_t heads = 0;
  return TensorParallelFactor{heads,
                              {SplitRule::plain, SplitRule::plain},
                              TensorParallelRole::channels};
}

/// Adds one launch that contains a matmul for each group.
void GroupedLinearOp::buildWorkload(WorkloadBuilder &builder) {
  unsigned rank = rankOf(getX());
  Kernel &kernel = builder.addProduct(*this, KernelKind::batched_matmul,
                                      FlopClass::linear, getX());
  kernel.rows = builder.dims(getX(), 0, rank - 2);
  kernel.contraction = builder.dims(getWeight(), 1, 2);
  kernel.columns = builder.dims(getWeight(), 0, 1);
  kernel.columns.push_back(builder.dims(getWeight(), 2, 3).front());
  for (Value operand : getOperands())
    builder.read(kernel, operand);
  builder.write(kernel, getResult());
}
