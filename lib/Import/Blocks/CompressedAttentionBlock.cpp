//===- CompressedAttentionBlock.cpp - DeepSeek-V4's attention -------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Blocks.h"

using namespace autopar;
using namespace autopar::importer;
using namespace autopar::model;
using namespace autopar::transformer;
using namespace mlir;

namespace {

/// Builds the IR of one attention to a window of tokens and to compressed rows,
/// each made of several tokens (DeepSeek-V4, technical report, section 2.3).
class CompressedAttentionBuilder {
public:
  CompressedAttentionBuilder(ModelBuilder &model, autopar::model::Block &block)
      : model(model), block(block), ops(model.builder()),
        heads(block.integer("heads")), width(block.integer("head_dim")),
        ratio(block.integer("ratio", 0)), window(block.integer("window")) {
    block.mayHave({"compressor", "index_top_k", "index_heads", "index_dim",
                   "index_q", "index_weights", "index_compressor"});
    turned = {block.integer("rope_width"), /*last=*/true, /*interleaved=*/true};
  }

  Value build(Value x) {
    int64_t hidden = model.widthOf(x);
    Value latent = model.linear(x, block.text("q_a"), block.integer("q_rank"));
    latent = norm(latent, block.text("q_a_norm"));
    NormSpec plain;
    plain.hasWeight = false;
    plain.eps = eps();
    Value q = createNorm(
        model, createHeads(model, latent, block.text("q_b"), heads, width),
        plain);
    q = createRope(model, block, q, turned);
    Value row =
        norm(model.linear(x, block.text("kv"), width), block.text("kv_norm"));
    row = createRope(model, block, row, turned);
    Value compressed, rows, selected;
    if (ratio > 1) {
      compressed = compress(x, block.text("compressor"), width);
      rows = createRowCache(model, width / ratio);
      selected = select(x, latent);
    }
    Value sinks = model.weight(block.text("sinks"), {heads}, ops.getF32Type());
    Value y = CompressedAttentionOp::create(
        ops, q.getType(), q, row, createRowCache(model, width, window),
        compressed, rows, selected, sinks, ops.getI64IntegerAttr(window));
    RopeSpec back = turned;
    back.inverse = true;
    return output(createRope(model, block, y, back), hidden);
  }

private:
  double eps() { return block.notNegative("eps", 1e-6); }

  Value norm(Value x, const std::string &stem) {
    NormSpec norm;
    norm.stem = stem;
    norm.eps = eps();
    return createNorm(model, x, norm);
  }

  /// Builds compressed rows: one row of `size` elements per `ratio` tokens;
  /// rows among which an indexer chooses overlap. The matmuls are in the
  /// model's number format; the tokens of a window that is not complete yet are
  /// kept in f32.
  Value compress(Value x, const std::string &stem, int64_t size) {
    if (size % ratio) {
      block.failField(
          "ratio", "rows of " + std::to_string(size) + " elements for each " +
                       std::to_string(ratio) + " tokens, expected a divisor");
      return {};
    }
    int64_t windows = selects() ? 2 : 1, wide = windows * size;
    auto product = [&](const char *name) {
      return createProduct(model, x,
                           model.weight(stem + name + ".weight",
                                        {model.widthOf(x), wide}, "[1, 0]"));
    };
    Value value = product(".wkv"), gate = product(".wgate");
    Value bias = model.weight(stem + ".ape", {ratio, wide}, ops.getF32Type());
    Value weight = model.weight(stem + ".norm.weight", {size});
    Value states =
        createRowCache(model, 2 * wide, windows * ratio, ops.getF32Type());
    RopeAngles angles = readAngles(model, block);
    bool partial = turned.width != size;
    return CompressOp::create(
        ops, model.like(x, {size}), value, gate, bias, weight, states,
        ops.getF64FloatAttr(eps()), ops.getF64FloatAttr(angles.theta),
        angles.scaling,
        partial ? ops.getI64IntegerAttr(turned.width) : IntegerAttr(),
        partial ? ops.getUnitAttr() : UnitAttr(), ops.getUnitAttr());
  }

  bool selects() { return block.integer("index_top_k", 0) != 0; }

  /// Builds the selection of the rows to which each token attends; null if it
  /// attends to all.
  Value select(Value x, Value latent) {
    if (!selects())
      return {};
    int64_t count = block.integer("index_heads"),
            size = block.integer("index_dim");
    Value q = createRope(
        model, block,
        createHeads(model, latent, block.text("index_q"), count, size), turned);
    Value key = compress(x, block.text("index_compressor"), size);
    if (!key)
      return {};
    Value weights =
        createProduct(model, x,
                      model.weight(block.text("index_weights") + ".weight",
                                   {model.widthOf(x), count}, "[1, 0]"));
    int64_t topK = block.integer("index_top_k");
    return IndexerOp::create(
        ops, model.tokens(model.tokensOf(x), {topK}, ops.getI32Type()), q, key,
        weights, createRowCache(model, size / ratio), topK);
  }

  /// Builds the output projection: one matmul per group of heads, then one of
  /// all results.
  Value output(Value y, int64_t hidden) {
    int64_t groups = block.integer("o_groups"), rank = block.integer("o_rank");
    if (groups < 1 || heads % groups) {
      block.failField("o_groups", std::to_string(groups) + " groups of " +
                                      std::to_string(heads) +
                                      " heads, expected a divisor");
      return {};
    }
    Value a = model.weight(block.text("o_a") + ".weight",
                           {groups, heads / groups * width, rank}, "[0*2, 1]",
                           WeightRole::product);
    Value inner =
        GroupedLinearOp::create(ops, model.like(y, {groups, rank}, 2), y, a);
    Value b =
        model.weight(block.text("o_b") + ".weight", {groups, rank, hidden},
                     "[2, 0*1]", WeightRole::product);
    return createProduct(model, inner, b);
  }

  ModelBuilder &model;
  autopar::model::Block &block;
  ImplicitLocOpBuilder &ops;
  int64_t heads, width, ratio, window;
  RopeSpec turned;
};

} // namespace

Value autopar::importer::buildCompressedAttention(ModelBuilder &model,
                                                  autopar::model::Block &block,
                                                  Value x) {
  return CompressedAttentionBuilder(model, block).build(x);
}
