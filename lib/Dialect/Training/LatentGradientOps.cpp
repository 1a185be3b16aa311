//===- LatentGradientOps.cpp - Latent attention in training ---------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Training/Training.h"

#include "autopar/Dialect/Transformer/Factors.h"
#include "autopar/Dialect/Transformer/Latents.h"
#include "autopar/Dialect/Transformer/Verifiers.h"
#include "autopar/Interfaces/WorkloadBuilder.h"

using namespace autopar;
using namespace autopar::program;
using namespace autopar::training;
using namespace autopar::transformer;
using namespace mlir;

void ConcatSharedBackwardOp::getAsmResultNames(OpAsmSetValueNameFn setNameFn) {
  setNameFn(getDx(), "dx");
  setNameFn(getDShared(), "d_shared");
}

void LatentAttentionBackwardOp::getAsmResultNames(
    OpAsmSetValueNameFn setNameFn) {
  setNameFn(getDQuery(), "dq");
  setNameFn(getDLatent(), "d_latent");
  setNameFn(getDKeyRope(), "d_rope");
  setNameFn(getDKeyWeight(), "d_key_weight");
  setNameFn(getDValueWeight(), "d_value_weight");
}

//===----------------------------------------------------------------------===//
// Verifiers of backwards of latent attention
//===----------------------------------------------------------------------===//

/// Verifies that each head of `all` has the elements of `own` followed by those
/// of `shared`.
static LogicalResult verifyWidths(Operation *op, Value all, Value own,
                                  Value shared) {
  auto last = [](Value tensor) { return unsigned(rankOf(tensor) - 1); };
  for (Value tensor : {all, own, shared})
    if (failed(verifyNumbers(op, tensor, last(tensor))))
      return failure();
  int64_t found = sizeOf(all, last(all));
  int64_t expected = sizeOf(own, last(own)) + sizeOf(shared, last(shared));
  if (found == expected)
    return success();
  return op->emitOpError() << "has heads of " << found << " elements, expected "
                           << expected
                           << ": those of a head, and those that all share";
}

LogicalResult ConcatSharedOp::verify() {
  return verifyWidths(*this, getResult(), getX(), getShared());
}

LogicalResult ConcatSharedBackwardOp::verify() {
  return verifyWidths(*this, getDy(), getDx(), getDShared());
}

LogicalResult LatentNormaliserOp::verify() {
  return verifyLatents(*this,
                       {getQuery(), getLatent(), getKeyRope(), getKeyWeight(),
                        Value(), getSelected(), getAtMost()});
}

static LatentOperands operandsOf(LatentAttentionBackwardOp op) {
  return {op.getQuery(),     op.getLatent(),      op.getKeyRope(),
          op.getKeyWeight(), op.getValueWeight(), op.getSelected(),
          op.getAtMost()};
}

LogicalResult LatentAttentionBackwardOp::verify() {
  return verifyLatents(*this, operandsOf(*this));
}

//===----------------------------------------------------------------------===//
// Factors, which say how these backwards can be split
//===----------------------------------------------------------------------===//

namespace {

/// The factors of tensors with heads, and of a tensor that all heads share. The
/// factor of heads comes first: if an axis could split both it and the tokens
/// of the shared tensor, the shared tensor is gathered, which is the smaller
/// one.
struct SharedFactors {
  SharedFactors(Value own, FactorKind ofHeads)
      : heads(factors.add(ofHeads)),
        tokens(addFactors(factors, FactorKind::parallel, rankOf(own) - 2)) {}

  FactorList ofHeads() {
    return concat(tokens, {heads, factors.add(FactorKind::whole)});
  }
  FactorList ofShared() {
    return concat(tokens, {factors.add(FactorKind::whole)});
  }

  ShardingFactors factors;
  int32_t heads;
  FactorList tokens;
};

} // namespace

static bool haveHeads(Value all, Value own, Value shared) {
  int64_t rank = rankOf(own);
  return rank >= 2 && rankOf(all) == rank && rankOf(shared) == rank - 1;
}

ShardingFactors ConcatSharedOp::getShardingFactors() {
  if (!haveHeads(getResult(), getX(), getShared()))
    return {};
  SharedFactors all(getX(), FactorKind::parallel);
  FactorList own = all.ofHeads(), shared = all.ofShared();
  all.factors.operands = {own, shared};
  all.factors.results = {all.ofHeads()};
  return all.factors;
}

ShardingFactors ConcatSharedBackwardOp::getShardingFactors() {
  if (!haveHeads(getDy(), getDx(), getDShared()))
    return {};
  SharedFactors all(getDx(), FactorKind::reduction);
  FactorList own = all.ofHeads(), shared = all.ofShared();
  all.factors.operands = {all.ofHeads()};
  all.factors.results = {own, shared};
  all.factors.linear = {{}};
  all.factors.sharesReplicas = true;
  return all.factors;
}

namespace {

/// The factors of attention to latents of the same step, whose tokens must not
/// be split or may be passed around a ring.
struct LatentFactors {
  explicit LatentFactors(FactorKind kind)
      : batch(factors.add(kind)), query(factors.add(kind)),
        heads(factors.add(kind)) {}

  int32_t addWhole() { return factors.add(FactorKind::whole); }
  void addSelected(Value selected) {
    if (selected)
      factors.operands.push_back({batch, query, addWhole()});
  }

  ShardingFactors factors;
  int32_t batch, query, heads;
  int32_t width = addWhole(), tokens = factors.add(FactorKind::seen),
          latent = addWhole(), rope = addWhole(), nope = addWhole(),
          value = addWhole();
  FactorList queries = {batch, query, heads, width},
             latents = {batch, tokens, latent}, ropes = {batch, tokens, rope},
             keyWeight = {latent, heads, nope},
             valueWeight = {latent, heads, value},
             results = {batch, query, heads, value},
             normaliser = {batch, query, heads};
};

} // namespace

static bool haveRank(ValueRange tensors, int64_t rank) {
  return llvm::all_of(
      tensors, [&](Value tensor) { return !tensor || rankOf(tensor) == rank; });
}

ShardingFactors LatentNormaliserOp::getShardingFactors() {
  if (!haveRank({getQuery()}, 4) ||
      !haveRank({getLatent(), getKeyRope(), getKeyWeight(), getSelected()}, 3))
    return {};
  LatentFactors all(FactorKind::parallel);
  all.factors.operands = {all.queries, all.latents, all.ropes, all.keyWeight};
  all.addSelected(getSelected());
  all.factors.results = {all.normaliser};
  return all.factors;
}

ShardingFactors LatentAttentionBackwardOp::getShardingFactors() {
  if (!haveRank({getDy(), getQuery()}, 4) ||
      !haveRank({getLatent(), getKeyRope(), getKeyWeight(), getValueWeight(),
                 getNormaliser(), getSelected()},
                3))
    return {};
  LatentFactors all(FactorKind::reduction);
  all.factors.operands = {all.results, all.queries,   all.latents,
                          all.ropes,   all.keyWeight, all.valueWeight,
                          all.results, all.normaliser};
  all.addSelected(getSelected());
  all.factors.results = {all.queries, all.latents, all.ropes, all.keyWeight,
                         all.valueWeight};
  all.factors.linear = {{}};
  return all.factors;
}

/// Returns the factor of heads; all tensors with heads have the same number of
/// them.
static TensorParallelFactor splitHeads(Operation *op) {
  constexpr int32_t heads = 2;
  return {heads,
          SmallVector<SplitRule, 4>(op->getNumOperands() + op->getNumResults(),
                                    SplitRule::plain),
          TensorParallelRole::attention};
}

std::optional<TensorParallelFactor>
LatentNormaliserOp::getTensorParallelFactor() {
  return splitHeads(*this);
}
std::optional<TensorParallelFactor>
LatentAttentionBackwardOp::getTensorParallelFactor() {
  return splitHeads(*this);
}

//===----------------------------------------------------------------------===//
// Workloads of backwards of latent attention
//===----------------------------------------------------------------------===//

void ConcatSharedOp::buildWorkload(WorkloadBuilder &builder) {
  builder.addElementwise(*this);
}

void ConcatSharedBackwardOp::buildWorkload(WorkloadBuilder &builder) {
  builder.addElementwise(*this);
}

/// The normaliser costs nothing: the attention's own kernel writes it.
void LatentNormaliserOp::buildWorkload(WorkloadBuilder &) {}

namespace {

/// Adds the kernels of the backward of an attention that is computed in the
/// space of latents.
class LatentBackwardKernels {
public:
  LatentBackwardKernels(LatentAttentionBackwardOp op, WorkloadBuilder &builder)
      : op(op), builder(builder), type(builder.formatOf(op.getQuery())),
        tokens(builder.dims(op.getQuery(), 0, 2)),
        heads(builder.dims(op.getQuery(), 2, 3)),
        latent(builder.dims(op.getKeyWeight(), 0, 1)),
        nope(builder.dims(op.getKeyWeight(), 2, 3)),
        value(builder.dims(op.getValueWeight(), 2, 3)) {}

  void run() {
    Kernel &queries = addProduct(tokens, nope, concat(heads, latent));
    move(queries, nope, /*write=*/false);
    builder.read(queries, op.getKeyWeight());
    move(queries, latent, /*write=*/true);

    Kernel &results = addProduct(tokens, value, concat(heads, latent));
    builder.read(results, op.getDy());
    builder.read(results, op.getValueWeight());
    move(results, latent, /*write=*/true);

    attend();

    Kernel &back = addProduct(tokens, latent, concat(heads, nope));
    move(back, latent, /*write=*/false);
    builder.read(back, op.getKeyWeight());
    builder.write(back, op.getDQuery());

    addGradient(nope, op.getDKeyWeight());
    addGradient(value, op.getDValueWeight());
  }

private:
  static Dims concat(Dims a, const Dims &b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }

  /// Adds a matmul with a matrix for each head, and returns its kernel.
  Kernel &addProduct(const Dims &rows, const Dims &contraction, Dims columns) {
    Kernel &kernel = builder.addProduct(op, KernelKind::batched_matmul,
                                        FlopClass::linear, Value());
    kernel.rows = rows;
    kernel.contraction = contraction;
    kernel.columns = std::move(columns);
    return kernel;
  }
  /// Adds the traffic of rows of `width` elements for each token and head to
  /// `kernel`.
  void move(Kernel &kernel, const Dims &width, bool write) {
    builder.move(kernel, concat(concat(tokens, heads), width), type, write);
  }

  /// Adds the kernel with the five matmuls of the backward, and the traffic of
  /// the latents that the queries attended to.
  void attend() {
    int64_t ofLatents = sizeOf(op.getLatent(), 2);
    int64_t ofKeys = ofLatents + sizeOf(op.getKeyRope(), 2);
    Kernel &kernel = builder.addProduct(op, KernelKind::attention_backward,
                                        FlopClass::attention, Value());
    kernel.rows = {tokens.front()};
    kernel.columns = heads;
    Dim widths;
    widths.extent.factor = 3 * ofKeys + 3 * ofLatents;
    kernel.contraction = {widths};
    Pairs pairs;
    pairs.query = tokens.back();
    pairs.context = builder.dims(op.getLatent(), 1, 2).front();
    pairs.causal = op.getCausal();
    pairs.window = operandsOf(op).numSeen();
    kernel.pairs = pairs;
    for (int i = 0; i < 2; ++i)
      move(kernel, latent, /*write=*/false);
    for (Value operand : {op.getLatent(), op.getKeyRope(), op.getY(),
                          op.getNormaliser(), op.getSelected()})
      if (operand)
        builder.read(kernel, operand);
    for (int i = 0; i < 2; ++i)
      move(kernel, latent, /*write=*/true);
    builder.write(kernel, op.getDLatent());
    builder.write(kernel, op.getDKeyRope());
  }

  void addGradient(const Dims &width, Value gradient) {
    Kernel &kernel = addProduct(latent, tokens, concat(heads, width));
    kernel.ofWeights = true;
    move(kernel, latent, /*write=*/false);
    move(kernel, width, /*write=*/false);
    builder.write(kernel, gradient);
    builder.makesProduct(gradient);
  }

  LatentAttentionBackwardOp op;
  WorkloadBuilder &builder;
  ElementType type;
  Dims tokens, heads, latent, nope, value;
};

} // namespace

void LatentAttentionBackwardOp::buildWorkload(WorkloadBuilder &builder) {
  LatentBackwardKernels(*this, builder).run();
}
