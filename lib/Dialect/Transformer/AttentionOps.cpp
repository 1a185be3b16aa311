//===- AttentionOps.cpp ---------------------------------------------------===//
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

//===----------------------------------------------------------------------===//
// The op RopeOp
//===----------------------------------------------------------------------===//

LogicalResult RopeOp::verify() {
  TensorView view(getX());
  unsigned last = view.rank() - 1;
  if (view.isSymbolic(last) || view.getType().getDimSize(last) % 2)
    return emitOpError() << "turns pairs, but the last dimension is "
                         << view.extentText(last);
  if (std::optional<int64_t> width = getWidth())
    if (*width < 2 || *width % 2 || *width > view.getType().getDimSize(last))
      return emitOpError() << "turns " << *width << " of "
                           << view.extentText(last)
                           << " elements, expected an even part of them";
  if (getLast() && !getWidth())
    return emitOpError("turns the last elements without a width: how many");
  return verifyPositive(*this, "theta", getTheta());
}

ShardingFactors RopeOp::getShardingFactors() {
  if (rankOf(getX()) < 1)
    return {};
  ShardingFactors factors = elementwiseFactors(*this);
  factors.kinds.back() = FactorKind::whole;
  return factors;
}

/// Only the elements that the rotation changes are moved: the first `width` of
/// each head.
void RopeOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel = builder.addElementwise(*this);
  if (std::optional<int64_t> width = getWidth())
    for (Traffic &traffic : kernel.traffic)
      traffic.shape.back().extent.factor = *width;
}

//===----------------------------------------------------------------------===//
// The op AttentionOp
//===----------------------------------------------------------------------===//

/// Verifies the numbers of heads: that of key-value heads must divide that of
/// query heads. The factor of heads alone allows other numbers.
static LogicalResult verifyHeads(AttentionOp op) {
  constexpr unsigned headDim = 2;
  int64_t heads = sizeOf(op.getQuery(), headDim);
  int64_t kvHeads = sizeOf(op.getKey(), headDim);
  if (heads < 1 || kvHeads < 1 || heads % kvHeads)
    return op.emitOpError() << "has " << heads << " query heads, which "
                            << kvHeads << " key-value heads do not divide";
  auto expect = [&](Value tensor, unsigned dim, StringRef name,
                    int64_t expected) -> LogicalResult {
    if (!tensor || sizeOf(tensor, dim) == expected)
      return success();
    return op.emitOpError() << "has " << sizeOf(tensor, dim) << " heads in "
                            << name << ", expected " << expected;
  };
  return failure(
      failed(expect(op.getValue(), headDim, "its values", kvHeads)) ||
      failed(expect(op.getCache(), headDim, "its cache", kvHeads)) ||
      failed(expect(op.getResult(), headDim, "its result", heads)) ||
      failed(
          expect(op.getSelected(), headDim, "its selected blocks", kvHeads)) ||
      failed(expect(op.getSinks(), 0, "its sinks", heads)) ||
      failed(expect(op.getBias(), 1, "its bias", heads)));
}

/// The cache must hold the keys that the op sees.
static LogicalResult verifyCacheKeepsWhatIsSeen(AttentionOp op) {
  std::optional<uint64_t> seen =
      op.getWindow() ? op.getWindow() : op.getChunk();
  return verifyKeepsSeen(op, op.getCache(),
                         op.getCausal() ? seen : std::nullopt);
}

static LogicalResult verifyDistances(AttentionOp op) {
  if (!op.getBias() || !op.getMaxDistance()) {
    if (!op.getBias() && !op.getMaxDistance())
      return success();
    return op.emitOpError("has a bias without max_distance, or the reverse");
  }
  int64_t buckets = sizeOf(op.getBias(), 0);
  int64_t exact = (op.getCausal() ? buckets : buckets / 2) / 2;
  auto most = static_cast<int64_t>(*op.getMaxDistance());
  if (exact >= 1 && most > exact)
    return success();
  return op.emitOpError() << "has " << buckets
                          << " buckets for distances up to " << most
                          << ", of which " << exact
                          << " would have one each: expected 1 or more, and a "
                             "max_distance above";
}

/// Verifies the tables of relative positions in a plane, which have 2*n - 1
/// rows for a plane of n rows of n tokens.
static LogicalResult verifyPlane(AttentionOp op) {
  int64_t rows = sizeOf(op.getDown(), 0);
  for (Value table : {op.getDown(), op.getAcross()})
    if (rankOf(table) != 2 || sizeOf(table, 0) != rows)
      return op.emitOpError("has tables of a plane that differ");
  if (rows < 1 || rows % 2 == 0)
    return op.emitOpError() << "has tables of " << rows
                            << " rows for a plane, expected an odd number";
  int64_t side = (rows + 1) / 2;
  std::optional<uint64_t> chunk = op.getChunk();
  if (chunk && int64_t(*chunk) != side * side)
    return op.emitOpError()
           << "has a chunk of " << *chunk << " tokens, expected a plane of "
           << side << " rows and columns";
  return success();
}

/// Verifies the table of relative distances, which has 2*m + 1 rows for
/// distances up to m.
static LogicalResult verifyNear(AttentionOp op) {
  int64_t rows = sizeOf(op.getDistances(), 0);
  if (rows > 0 && rows % 2 == 1)
    return success();
  return op.emitOpError() << "has " << rows
                          << " rows of distances, expected an odd number";
}

int64_t AttentionOp::getNumSeen() {
  return getSelected() ? sizeOf(getSelected(), 3) *
                             static_cast<int64_t>(getBlock().value_or(0))
                       : 0;
}

/// Verifies the operand with the blocks of keys that were selected for each
/// group of queries.
static LogicalResult verifySelected(AttentionOp op) {
  if (bool(op.getSelected()) != bool(op.getBlock()))
    return op.emitOpError("has selected blocks or their size, expected both");
  if (!op.getSelected())
    return success();
  if (!op.getCausal() || !op.getCache() || op.getWindow() || op.getChunk())
    return op.emitOpError("selects blocks, expected a cache, 'causal' and "
                          "neither a window nor a chunk");
  return failure(failed(verifyLimit(op, "block", op.getBlock())) ||
                 failed(verifyNumbers(op, op.getSelected(), 2)));
}

LogicalResult AttentionOp::verify() {
  constexpr unsigned tokenDim = 1, headDim = 2, widthDim = 3;
  for (Value tensor : std::initializer_list<Value>{
           getQuery(), getKey(), getValue(), getCache(), getResult()})
    if (tensor && failed(verifyNumbers(*this, tensor, headDim)))
      return failure();
  for (Value table : {getSinks(), getBias(), getDistances()})
    if (table && failed(verifyNumbers(*this, table, 0)))
      return failure();
  if (failed(verifyHeads(*this)) || failed(verifySelected(*this)) ||
      (getDown() && failed(verifyPlane(*this))) ||
      (getDistances() && failed(verifyNear(*this))))
    return failure();
  int64_t width = sizeOf(getKey(), widthDim) + sizeOf(getValue(), widthDim);
  if (getCache() && sizeOf(getCache(), widthDim) != width)
    return emitOpError() << "caches " << sizeOf(getCache(), widthDim)
                         << " elements per head, expected " << width
                         << ": a key and a value";
  NamedExtent queries = TensorView(getQuery()).extent(tokenDim);
  NamedExtent keys = TensorView(getKey()).extent(tokenDim);
  if (getCausal() && queries != keys)
    return emitOpError() << "is causal, but has queries of " << queries.str()
                         << " tokens and keys of " << keys.str();
  if (getWindow() && getChunk())
    return emitOpError("has both a window and a chunk");
  if (failed(verifyLimit(*this, "window", getWindow())) ||
      failed(verifyLimit(*this, "chunk", getChunk())) ||
      failed(verifyCacheKeepsWhatIsSeen(*this)) ||
      failed(verifyDistances(*this)))
    return failure();
  return failure(
      (getScale() && failed(verifyPositive(*this, "scale", *getScale()))) ||
      (getSoftcap() &&
       failed(verifyPositive(*this, "softcap", *getSoftcap()))));
}

/// Whether the keys are those of the op's own query tokens, which it appends to
/// a cache.
static bool appendsOwnTokens(AttentionOp op) {
  return op.getCache() && TensorView(op.getQuery()).extent(1) ==
                              TensorView(op.getKey()).extent(1);
}

ShardingFactors AttentionOp::getShardingFactors() {
  ShardingFactors factors;
  for (Value tensor : {getQuery(), getKey(), getValue(), getResult()})
    if (rankOf(tensor) != 4)
      return factors;
  if ((getCache() && rankOf(getCache()) != 4) ||
      (getSinks() && rankOf(getSinks()) != 1) ||
      (getBias() && rankOf(getBias()) != 2) ||
      (getDown() && (rankOf(getDown()) != 2 || rankOf(getAcross()) != 2)) ||
      (getDistances() && rankOf(getDistances()) != 2) ||
      (getSelected() && rankOf(getSelected()) != 4))
    return factors;
  int32_t batch = factors.add(FactorKind::parallel);
  int32_t query = factors.add(FactorKind::parallel);
  int32_t heads = factors.add(FactorKind::grouped);
  int32_t keys =
      appendsOwnTokens(*this)
          ? addKeyTokens(factors, query, getQuery(), getCache())
          : factors.add(getCache() ? FactorKind::whole : FactorKind::seen);
  int32_t width = factors.add(FactorKind::whole);
  int32_t valueWidth = factors.add(FactorKind::whole);
  factors.operands = {{batch, query, heads, width},
                      {batch, keys, heads, width},
                      {batch, keys, heads, valueWidth}};
  if (getCache()) {
    int32_t context =
        factors.add(getSelected() ? FactorKind::whole : FactorKind::reduction);
    int32_t cached = factors.add(FactorKind::whole);
    factors.operands.push_back({batch, context, heads, cached});
  }
  if (getSinks())
    factors.operands.push_back({heads});
  if (getBias())
    factors.operands.push_back({factors.add(FactorKind::whole), heads});
  for (Value table : {getDown(), getAcross(), getDistances()})
    if (table)
      factors.operands.push_back({factors.add(FactorKind::whole), width});
  if (getSelected())
    factors.operands.push_back(
        {batch, query, heads, factors.add(FactorKind::whole)});
  factors.results = {{batch, query, heads, valueWidth}};
  factors.linear.emplace_back();
  return factors;
}

std::optional<TensorParallelFactor> AttentionOp::getTensorParallelFactor() {
  constexpr int32_t heads = 2;
  TensorParallelFactor factor = {
      heads,
      {SplitRule::plain, SplitRule::cap, SplitRule::cap},
      TensorParallelRole::attention};
  if (getCache())
    factor.operandRules.push_back(SplitRule::cap);
  for (Value table :
       {getSinks(), getBias(), getDown(), getAcross(), getDistances()})
    if (table)
      factor.operandRules.push_back(SplitRule::plain);
  if (getSelected())
    factor.operandRules.push_back(SplitRule::cap);
  return factor;
}

/// Adds the matmuls of each query with the n rows of both tables at which its
/// keys lie.
static void addPlane(AttentionOp op, WorkloadBuilder &builder) {
  Kernel &kernel = builder.addProduct(op, KernelKind::matmul,
                                      FlopClass::attention, op.getQuery());
  kernel.rows = builder.dims(op.getQuery(), 0, 3);
  kernel.contraction = builder.dims(op.getQuery(), 3, 4);
  Dim columns;
  columns.extent.factor = sizeOf(op.getDown(), 0) + 1;
  kernel.columns = {columns};
  builder.read(kernel, op.getQuery());
  builder.read(kernel, op.getDown());
  builder.read(kernel, op.getAcross());
}

/// Whether all tokens of the op attend to each other and to no other tokens, as
/// in an encoder.
static bool isOfEncoder(AttentionOp op, WorkloadBuilder &builder) {
  auto tokensOf = [&](Value value) {
    return builder.dims(value, 1, 2).front().extent;
  };
  return !op.getCache() && !op.getCausal() && !op.getWindow() &&
         !op.getChunk() && !op.getSinks() && !op.getBias() &&
         !op.getDistances() && !op.getDown() &&
         tokensOf(op.getQuery()) == tokensOf(op.getKey());
}

/// Adds a fused (flash) attention kernel, whose traffic does not include the
/// scores.
void AttentionOp::buildWorkload(WorkloadBuilder &builder) {
  bool isEncoder = isOfEncoder(*this, builder);
  Kernel &kernel = builder.addProduct(
      *this, isEncoder ? KernelKind::encoder_attention : KernelKind::attention,
      FlopClass::attention, getQuery());
  Value seen = getCache() ? Value(getCache()) : Value(getKey());
  kernel.rows = builder.dims(getQuery(), 0, 1);
  kernel.columns = builder.dims(getQuery(), 2, 3);
  Dim widths;
  widths.extent.factor =
      sizeOf(getQuery(), 3) * (getDistances() ? 2 : 1) + sizeOf(getValue(), 3);
  kernel.contraction = {widths};
  Pairs pairs;
  pairs.query = builder.dims(getQuery(), 1, 2).front();
  pairs.context = builder.dims(seen, 1, 2).front();
  pairs.causal = getCausal();
  pairs.window = getSelected() ? getNumSeen() : getWindow().value_or(0);
  pairs.chunk = getChunk().value_or(0);
  kernel.pairs = pairs;
  // Shape tables exist for attention to a KV cache, causal attention, and
  // attention of an encoder.
  if (getCache() || getCausal() || isEncoder)
    kernel.heads = {builder.dims(seen, 2, 3).front(), widths.extent.factor / 2};
  kernel.mixesTokens = true;
  builder.read(kernel, getQuery());
  readSelected(builder, kernel, seen, getNumSeen());
  if (!getCache())
    builder.read(kernel, getValue());
  for (Value table : {getSinks(), getBias(), getDistances(), getSelected()})
    if (table)
      builder.read(kernel, table);
  builder.write(kernel, getResult());
  if (getDown())
    addPlane(*this, builder);
  if (!getCache())
    return;
  builder.exchangeNormalisers(*this, getResult(), pairs.context);
  // The kernel also writes the new keys and values to the cache.
  builder.write(kernel, getKey());
  builder.write(kernel, getValue());
}

//===----------------------------------------------------------------------===//
// The op ChannelAttentionOp
//===----------------------------------------------------------------------===//

LogicalResult ChannelAttentionOp::verify() {
  constexpr unsigned headDim = 2;
  return verifyNumbers(*this, getQuery(), headDim);
}

ShardingFactors ChannelAttentionOp::getShardingFactors() {
  ShardingFactors factors;
  if (rankOf(getQuery()) != 4)
    return factors;
  FactorList x = {
      factors.add(FactorKind::parallel), factors.add(FactorKind::whole),
      factors.add(FactorKind::parallel), factors.add(FactorKind::whole)};
  factors.operands = {x, x, x};
  factors.results = {x};
  return factors;
}

std::optional<TensorParallelFactor>
ChannelAttentionOp::getTensorParallelFactor() {
  constexpr int32_t heads = 2;
  return TensorParallelFactor{
      heads,
      {SplitRule::plain, SplitRule::plain, SplitRule::plain},
      TensorParallelRole::attention};
}

/// Adds two matmuls: the scores of all channels with each other, and the
/// product of scores and values.
void ChannelAttentionOp::buildWorkload(WorkloadBuilder &builder) {
  auto addPart = [&](Value operand) -> Kernel & {
    Kernel &kernel = builder.addProduct(*this, KernelKind::matmul,
                                        FlopClass::attention, getQuery());
    kernel.rows = builder.dims(getQuery(), 0, 3);
    kernel.contraction = builder.dims(getQuery(), 3, 4);
    kernel.columns = builder.dims(getQuery(), 3, 4);
    kernel.mixesTokens = true;
    builder.read(kernel, operand);
    return kernel;
  };
  builder.read(addPart(getQuery()), getKey());
  builder.write(addPart(getValue()), getResult());
}
