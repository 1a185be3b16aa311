//===- LatentAttentionBlock.cpp - Multi-head latent attention -------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Blocks.h"

#include "llvm/Support/FormatVariadic.h"

using namespace autopar;
using namespace autopar::importer;
using namespace autopar::model;
using namespace autopar::transformer;
using namespace mlir;

using llvm::formatv;

namespace {

/// Builds the IR of one latent attention (DeepSeek-V2, arXiv 2405.04434,
/// section 2.1) from the block's parameters.
class LatentAttentionBuilder {
public:
  LatentAttentionBuilder(ModelBuilder &model, autopar::model::Block &block)
      : model(model), block(block), ops(model.builder()),
        heads(block.integer("heads")), rank(block.integer("kv_rank")),
        nope(block.integer("nope_dim")), rope(block.integer("rope_dim")),
        valueWidth(block.integer("v_dim")), bias(block.flag("bias")) {
    block.mayHave({"q", "q_a", "q_a_norm", "q_b", "has_indexer", "index_heads",
                   "index_dim", "index_q", "index_k", "index_k_norm",
                   "index_rope_interleaved", "index_rope_last", "index_eps",
                   "index_weights"});
  }

  Value build(Value x) {
    int64_t hidden = model.widthOf(x);
    Value qLatent = x;
    std::string stem;
    if (int64_t qRank = block.integer("q_rank", 0)) {
      qLatent = model.linear(x, block.text("q_a"), qRank, bias);
      qLatent = norm(qLatent, block.text("q_a_norm"));
      stem = block.text("q_b");
    } else {
      stem = block.text("q");
    }
    Value q =
        createProduct(model, qLatent,
                      model.weight(stem + ".weight",
                                   {model.widthOf(qLatent), heads, nope + rope},
                                   "[1*2, 0]", WeightRole::product));
    bool interleaved = block.flag("rope_interleaved");
    q = createRope(model, block, q, {rope, /*last=*/true, interleaved});
    Value latent = latentPart(x, 0, rank);
    Value keyRope = latentPart(x, rank, rope);
    latent = norm(latent, block.text("kv_a_norm"));
    keyRope = createRope(model, block, keyRope, {0, false, interleaved});
    Value keys = expansion(0, nope), values = expansion(nope, valueWidth);
    Value selected = index(x, qLatent);
    Value y = LatentAttentionOp::create(
        ops, model.like(x, {heads, valueWidth}), q, latent, keyRope, keys,
        values, createRowCache(model, rank + rope), selected, sinks(),
        atMost(selected), ops.getUnitAttr(), UnitAttr());
    return output(gateOutput(x, y), hidden);
  }

private:
  Value norm(Value x, const std::string &stem) {
    NormSpec norm;
    norm.stem = stem;
    norm.eps = block.notNegative("eps", 1e-6);
    return createNorm(model, x, norm);
  }

  /// Multiplies `x` by a range of the rows of kv_a: those of the latent, or
  /// those of the rotated key.
  Value latentPart(Value x, int64_t at, int64_t size) {
    std::string stem = block.text("kv_a"), all = std::to_string(rank + rope);
    Value w = model.weight(stem + ".weight", {model.widthOf(x), size},
                           formatv("[1 at {0} of {1}, 0]", at, all),
                           WeightRole::product);
    Value b = bias ? model.weight(stem + ".bias", {size},
                                  formatv("[0 at {0} of {1}]", at, all))
                   : Value();
    return createProduct(model, x, w, b);
  }

  /// Returns the part of kv_b that computes keys, or values: in each head first
  /// nope_dim rows for keys, then v_dim rows for values.
  Value expansion(int64_t at, int64_t size) {
    return model.weight(
        block.text("kv_b") + ".weight", {rank, heads, size},
        formatv("[1 * 2 by 1 at {0} of {1}, 0]", at, nope + valueWidth),
        WeightRole::product);
  }

  /// Builds DeepSeek-V3.2's lightning indexer, which selects the tokens that
  /// each token attends to.
  Value index(Value x, Value qLatent) {
    int64_t topK = block.integer("index_top_k", 0);
    if (!topK || !block.flag("has_indexer", true))
      return {};
    int64_t count = block.integer("index_heads"),
            size = block.integer("index_dim");
    Value q = createHeads(model, qLatent, block.text("index_q"), count, size);
    Value k = model.linear(x, block.text("index_k"), size);
    NormSpec norm;
    norm.stem = block.text("index_k_norm");
    norm.isLayerNorm = norm.hasBias = true;
    norm.eps = block.notNegative("index_eps", norm.eps);
    k = createNorm(model, k, norm);
    RopeSpec turned;
    turned.width = rope;
    turned.interleaved = block.flag("index_rope_interleaved");
    turned.last = block.flag("index_rope_last");
    q = createRope(model, block, q, turned);
    k = createRope(model, block, k, turned);
    Value weights = model.weight(block.text("index_weights") + ".weight",
                                 {model.widthOf(x), count}, "[1, 0]");
    return IndexerOp::create(
        ops, model.tokens(model.tokensOf(x), {topK}, ops.getI32Type()), q, k,
        createProduct(model, x, weights), createRowCache(model, size), topK);
  }

  /// Returns the limit of attended tokens for a layer without an indexer, which
  /// uses the selection of an earlier layer.
  IntegerAttr atMost(Value selected) {
    int64_t topK = block.integer("index_top_k", 0);
    return topK && !selected ? ops.getI64IntegerAttr(topK) : IntegerAttr();
  }

  Value sinks() {
    std::string name = block.text("sinks", "");
    return name.empty() ? Value() : model.weight(name, {heads});
  }

  /// Multiplies the result by a gate per element, or per head.
  Value gateOutput(Value x, Value y) {
    std::string stem = block.text("gate_name", "");
    bool ofHeads = block.flag("gate_of_heads");
    if (stem.empty())
      return y;
    int64_t hidden = model.widthOf(x);
    if (ofHeads) {
      Value w = model.weight(stem + ".weight", {hidden, heads}, "[1, 0]",
                             WeightRole::product);
      return WeighOp::create(ops, y.getType(), y, createProduct(model, x, w),
                             FunctionKind::sigmoid);
    }
    return createGated(model, createHeads(model, x, stem, heads, valueWidth), y,
                       FunctionKind::sigmoid);
  }

  Value output(Value y, int64_t hidden) {
    std::string stem = block.text("o");
    Value w = model.weight(stem + ".weight", {heads, valueWidth, hidden},
                           "[2, 0*1]", WeightRole::product);
    Value b = bias ? model.weight(stem + ".bias", {hidden}) : Value();
    return createProduct(model, y, w, b);
  }

  ModelBuilder &model;
  autopar::model::Block &block;
  ImplicitLocOpBuilder &ops;
  int64_t heads, rank, nope, rope, valueWidth;
  bool bias;
};

} // namespace

Value autopar::importer::buildLatentAttention(ModelBuilder &model,
                                              autopar::model::Block &block,
                                              Value x) {
  return LatentAttentionBuilder(model, block).build(x);
}
