//===- LatentAttentionOps.cpp ---------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/Factors.h"
#include "autopar/Dialect/Transformer/Latents.h"
#include "autopar/Dialect/Transformer/Selected.h"
#include "autopar/Dialect/Transformer/Verifiers.h"
#include "autopar/Interfaces/BytecodeVersion.h"

using namespace autopar;
using namespace autopar::program;
using namespace autopar::transformer;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Properties in bytecode
//===----------------------------------------------------------------------===//

/// Whether files of the version of `bytecode` state which optional operands the
/// op has.
template <typename Bytecode>
static bool saysOperands(Bytecode &bytecode) {
  return versionOf(bytecode, TransformerDialect::getDialectNamespace()) >=
         LatentAttentionOp::firstWithoutCache;
}

LogicalResult LatentAttentionOp::readProperties(DialectBytecodeReader &reader,
                                                OperationState &state) {
  auto &own = state.getOrAddProperties<Properties>();
  if (failed(reader.readOptionalAttribute(own.absorbed)) ||
      failed(reader.readOptionalAttribute(own.at_most)) ||
      failed(reader.readOptionalAttribute(own.by_phase)) ||
      failed(reader.readOptionalAttribute(own.causal)))
    return failure();
  if (!saysOperands(reader))
    return success();
  return reader.readSparseArray(MutableArrayRef(own.operandSegmentSizes));
}

void LatentAttentionOp::writeProperties(DialectBytecodeWriter &writer) {
  Properties &own = getProperties();
  writer.writeOptionalAttribute(own.absorbed);
  writer.writeOptionalAttribute(own.at_most);
  writer.writeOptionalAttribute(own.by_phase);
  writer.writeOptionalAttribute(own.causal);
  if (saysOperands(writer))
    writer.writeSparseArray(ArrayRef(own.operandSegmentSizes));
}

void LatentAttentionOp::setEarlierOperands() {
  auto &sizes = getProperties().operandSegmentSizes;
  size_t given = std::min<size_t>(sizes.size(), (*this)->getNumOperands());
  std::fill_n(sizes.begin(), given, 1);
}

//===----------------------------------------------------------------------===//
// Verifiers of latent attention
//===----------------------------------------------------------------------===//

LogicalResult transformer::verifyLatents(Operation *op,
                                         const LatentOperands &parts) {
  for (Value tensor : {parts.query, parts.latent, parts.keyRope})
    if (failed(verifyNumbers(op, tensor, 2)))
      return failure();
  for (Value weight : {parts.keyWeight, parts.valueWeight})
    if (weight && failed(verifyNumbers(op, weight, 0)))
      return failure();
  int64_t width = sizeOf(parts.keyWeight, 2) + sizeOf(parts.keyRope, 2);
  if (sizeOf(parts.query, 3) != width)
    return op->emitOpError() << "has queries of " << sizeOf(parts.query, 3)
                             << " elements, expected " << width
                             << ": those of a key and its rope part";
  if (parts.selected && parts.atMost)
    return op->emitOpError("has both selected tokens and a number of them");
  if (failed(verifyLimit(op, "at_most", parts.atMost)))
    return failure();
  return parts.selected ? verifyNumbers(op, parts.selected, 2) : success();
}

int64_t LatentOperands::numSeen() const {
  return selected ? sizeOf(selected, 2)
                  : static_cast<int64_t>(atMost.value_or(0));
}

static LatentOperands operandsOf(LatentAttentionOp op) {
  return {op.getQuery(),     op.getLatent(),      op.getKeyRope(),
          op.getKeyWeight(), op.getValueWeight(), op.getSelected(),
          op.getAtMost()};
}

LogicalResult LatentAttentionOp::verify() {
  if (failed(verifyLatents(*this, operandsOf(*this))))
    return failure();
  if (!getCache())
    return success();
  if (failed(verifyNumbers(*this, getCache(), 2)))
    return failure();
  int64_t cached = sizeOf(getLatent(), 2) + sizeOf(getKeyRope(), 2);
  if (sizeOf(getCache(), 2) != cached)
    return emitOpError() << "caches " << sizeOf(getCache(), 2)
                         << " elements, expected " << cached
                         << ": a latent and a rope part";
  return success();
}

int64_t LatentAttentionOp::getNumSeen() { return operandsOf(*this).numSeen(); }

Value LatentAttentionOp::getRows() {
  return getCache() ? Value(getCache()) : Value(getLatent());
}

Value IndexerOp::getRows() {
  return getCache() ? Value(getCache()) : Value(getKey());
}

int64_t IndexerOp::getRatio() {
  return sizeOf(getKey(), 2) / sizeOf(getRows(), 2);
}

LogicalResult IndexerOp::verify() {
  for (Value tensor : std::initializer_list<Value>{getQuery(), getRows()})
    if (failed(verifyNumbers(*this, tensor, 2)))
      return failure();
  int64_t width = sizeOf(getKey(), 2), part = sizeOf(getRows(), 2);
  if (part < 1 || width % part)
    return emitOpError() << "caches " << part
                         << " elements a token, expected a part of the "
                         << width << " of a key";
  TensorView result(getResult());
  if (!isa<IntegerType>(result.getType().getElementType()))
    return emitOpError("selects tokens by indices that are not integers");
  int64_t topK = getTopK();
  if (topK < 1)
    return emitOpError() << "has top_k(" << topK << "), expected at least 1";
  if (result.extent(2) != NamedExtent::number(topK))
    return emitOpError() << "keeps " << topK << " tokens, but the result has "
                         << result.extentText(2);
  return success();
}

//===----------------------------------------------------------------------===//
// Factors, which say how latent attention can be split
//===----------------------------------------------------------------------===//

ShardingFactors LatentAttentionOp::getShardingFactors() {
  ShardingFactors factors;
  if (!haveRanks({{getQuery(), 4},
                  {getLatent(), 3},
                  {getKeyRope(), 3},
                  {getKeyWeight(), 3},
                  {getValueWeight(), 3},
                  {getCache(), 3},
                  {getSelected(), 3},
                  {getSinks(), 1},
                  {getResult(), 4}}))
    return factors;
  int32_t batch = factors.add(FactorKind::parallel);
  int32_t query = factors.add(FactorKind::parallel);
  int32_t heads = factors.add(FactorKind::parallel);
  auto whole = [&] { return factors.add(FactorKind::whole); };
  int32_t latent = whole(), nope = whole(), value = whole();
  int32_t keys = getCache()
                     ? addKeyTokens(factors, query, getQuery(), getCache())
                     : factors.add(FactorKind::seen);
  factors.operands = {{batch, query, heads, whole()},
                      {batch, keys, latent},
                      {batch, keys, whole()},
                      {latent, heads, nope},
                      {latent, heads, value}};
  if (getCache()) {
    int32_t context = factors.add(FactorKind::reduction);
    factors.operands.push_back({batch, context, whole()});
  }
  if (getSelected())
    factors.operands.push_back({batch, query, whole()});
  if (getSinks())
    factors.operands.push_back({heads});
  factors.results = {{batch, query, heads, value}};
  factors.linear.emplace_back();
  return factors;
}

std::optional<TensorParallelFactor>
LatentAttentionOp::getTensorParallelFactor() {
  constexpr int32_t heads = 2;
  return TensorParallelFactor{
      heads, SmallVector<SplitRule, 4>(getNumOperands(), SplitRule::plain),
      TensorParallelRole::attention};
}

ShardingFactors IndexerOp::getShardingFactors() {
  ShardingFactors factors;
  if (!haveRanks({{getQuery(), 4},
                  {getKey(), 3},
                  {getWeight(), 3},
                  {getCache(), 3},
                  {getResult(), 3}}))
    return factors;
  int32_t batch = factors.add(FactorKind::parallel);
  auto whole = [&] { return factors.add(FactorKind::whole); };
  int32_t query = factors.add(FactorKind::parallel);
  int32_t heads = whole(), width = whole();
  // With a compressed cache, a window of tokens may lie on several devices, so
  // that tokens must not be split.
  bool isCompressed = getRatio() > 1;
  int32_t keys = isCompressed ? whole()
                 : getCache()
                     ? addKeyTokens(factors, query, getQuery(), getCache())
                     : factors.add(FactorKind::seen);
  factors.operands = {{batch, query, heads, width},
                      {batch, keys, width},
                      {batch, query, heads}};
  if (getCache())
    factors.operands.push_back(
        {batch, isCompressed ? whole() : factors.add(FactorKind::seen),
         isCompressed ? whole() : width});
  factors.results = {{batch, query, whole()}};
  return factors;
}

//===----------------------------------------------------------------------===//
// Workloads of latent attention
//===----------------------------------------------------------------------===//

static Dim number(int64_t size) {
  Dim dim;
  dim.extent.factor = size;
  return dim;
}

static Dims concat(Dims a, const Dims &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

void transformer::readSelected(WorkloadBuilder &builder, Kernel &kernel,
                               Value cache, int64_t seen) {
  builder.read(kernel, cache);
  if (seen == 0)
    return;
  Extent &tokens = kernel.traffic.back().shape[1].extent;
  const Extent &query = kernel.pairs->query.extent;
  tokens.limit = query.factor * seen;
  tokens.limitSymbols = query.symbols;
}

namespace {

/// Adds the kernels of a latent attention, which can be computed in two forms.
class LatentKernels {
public:
  LatentKernels(LatentAttentionOp op, WorkloadBuilder &builder,
                std::optional<Phase> phase = std::nullopt)
      : op(op), builder(builder), phase(phase),
        type(builder.formatOf(op.getQuery())),
        heads(builder.dims(op.getQuery(), 2, 3)),
        latent(number(sizeOf(op.getLatent(), 2))),
        rope(number(sizeOf(op.getKeyRope(), 2))),
        nope(number(sizeOf(op.getKeyWeight(), 2))),
        value(number(sizeOf(op.getValueWeight(), 2))) {}

  /// Computes keys and values of all cached tokens from their latents, and then
  /// attention with them.
  void expand() {
    Dims cached = builder.dims(op.getRows(), 0, 2);
    Dims keys = concat(concat(cached, heads), {nope});
    Dims values = concat(concat(cached, heads), {value});
    for (bool isKey : {true, false}) {
      Kernel &kernel = addProduct(op.getLatent());
      kernel.rows = cached;
      kernel.contraction = {latent};
      kernel.columns = concat(heads, {isKey ? nope : value});
      builder.read(kernel, op.getRows());
      builder.read(kernel, isKey ? op.getKeyWeight() : op.getValueWeight());
      builder.move(kernel, isKey ? keys : values, type, /*write=*/true);
    }
    Kernel &kernel =
        addAttention(widthOf(nope) + widthOf(rope) + widthOf(value),
                     KernelKind::latent_attention);
    builder.read(kernel, op.getQuery());
    builder.move(kernel, keys, type, /*write=*/false);
    builder.move(kernel, values, type, /*write=*/false);
    builder.move(kernel, concat(cached, {rope}), type, /*write=*/false);
    builder.write(kernel, op.getResult());
    appendToCache(kernel);
  }

  /// Projects queries into the space of latents, computes attention there, and
  /// projects the results back.
  void absorb() {
    Dims tokens = builder.dims(op.getQuery(), 0, 2);
    Dims queries = concat(concat(tokens, heads), {latent});
    Kernel &into = addProduct(op.getQuery(), KernelKind::batched_matmul);
    into.rows = tokens;
    into.contraction = {nope};
    into.columns = concat(heads, {latent});
    builder.move(into, concat(concat(tokens, heads), {nope}), type,
                 /*write=*/false);
    builder.read(into, op.getKeyWeight());
    builder.move(into, queries, type, /*write=*/true);

    Kernel &kernel =
        addAttention(2 * widthOf(latent) + widthOf(rope),
                     op.getNumSeen() != 0 ? KernelKind::sparse_attention
                                          : KernelKind::latent_attention);
    builder.move(kernel, queries, type, /*write=*/false);
    builder.move(kernel, concat(concat(tokens, heads), {rope}), type,
                 /*write=*/false);
    // The queries are converted to the number format of the cache.
    kernel.compute = builder.formatOf(op.getRows());
    if (!op.getCache())
      builder.read(kernel, op.getKeyRope());
    readSelected(builder, kernel, op.getRows(), op.getNumSeen());
    builder.move(kernel, queries, type, /*write=*/true);
    appendToCache(kernel);

    Kernel &out = addProduct(op.getQuery(), KernelKind::batched_matmul);
    out.rows = tokens;
    out.contraction = {latent};
    out.columns = concat(heads, {value});
    builder.move(out, queries, type, /*write=*/false);
    builder.read(out, op.getValueWeight());
    builder.write(out, op.getResult());
  }

private:
  static int64_t widthOf(const Dim &dim) { return dim.extent.factor; }

  Kernel &addProduct(Value input, KernelKind kind = KernelKind::matmul) {
    Kernel &kernel = builder.addProduct(op, kind, FlopClass::linear, input);
    kernel.phase = phase;
    return kernel;
  }

  Kernel &addAttention(int64_t width, KernelKind kind) {
    Kernel &kernel =
        builder.addProduct(op, kind, FlopClass::attention, op.getQuery());
    kernel.rows = builder.dims(op.getQuery(), 0, 1);
    kernel.columns = heads;
    kernel.contraction = {number(width)};
    Pairs pairs;
    pairs.query = builder.dims(op.getQuery(), 1, 2).front();
    pairs.context = builder.dims(op.getRows(), 1, 2).front();
    pairs.causal = op.getCausal();
    pairs.window = op.getNumSeen();
    kernel.pairs = pairs;
    kernel.phase = phase;
    kernel.mixesTokens = phase != Phase::prefill;
    for (Value operand : {op.getSelected(), op.getSinks()})
      if (operand)
        builder.read(kernel, operand);
    return kernel;
  }

  void appendToCache(Kernel &kernel) {
    if (!op.getCache())
      return;
    Dim context = kernel.pairs->context;
    builder.write(kernel, op.getLatent());
    builder.write(kernel, op.getKeyRope());
    if (phase != Phase::prefill)
      builder.exchangeNormalisers(op, op.getResult(), context);
  }

  LatentAttentionOp op;
  WorkloadBuilder &builder;
  /// The phase of the sequences that use this form; nothing if all sequences
  /// do.
  std::optional<Phase> phase;
  ElementType type;
  Dims heads;
  Dim latent, rope, nope, value;
};

} // namespace

void LatentAttentionOp::buildWorkload(WorkloadBuilder &builder) {
  if (getByPhase()) {
    LatentKernels(*this, builder, Phase::decode).absorb();
    LatentKernels(*this, builder, Phase::prefill).expand();
  } else if (getAbsorbed()) {
    LatentKernels(*this, builder).absorb();
  } else {
    LatentKernels(*this, builder).expand();
  }
}

/// Engines bring queries and keys into 8 bits for the scores (DeepSeek-V3.2,
/// arXiv:2512.02556).
void IndexerOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel = addIndexKernel(builder, *this, getQuery(), getWeight(),
                                  getRows(), getResult());
  kernel.compute = ElementType::fp8_e4m3;
  // Compressed keys are written to the cache by the op that computes them, all
  // other keys by this op.
  if (getCache() && getRatio() == 1)
    builder.write(kernel, getKey());
}
