//===- AttentionBlock.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Blocks.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace autopar;
using namespace autopar::importer;
using namespace autopar::model;
using namespace autopar::transformer;
using namespace mlir;

using llvm::formatv;

RopeAngles autopar::importer::readAngles(ModelBuilder &model,
                                         autopar::model::Block &block) {
  double theta = block.notNegative("rope_theta", 0);
  std::string scaling = block.choice("rope_scaling");
  if (theta == 0 || scaling.empty())
    return {theta, {}};
  std::optional<RopeScaling> known = symbolizeRopeScaling(scaling);
  if (!known) {
    block.fail("unknown scaling \"" + scaling + "\"", "rope_scaling");
    return {};
  }
  return {theta, RopeScalingAttr::get(model.builder().getContext(), *known)};
}

Value autopar::importer::createRope(ModelBuilder &model,
                                    autopar::model::Block &block, Value x,
                                    const RopeSpec &rope) {
  ImplicitLocOpBuilder &ops = model.builder();
  RopeAngles angles = readAngles(model, block);
  if (angles.theta == 0)
    return x;
  bool partial = rope.width && rope.width != model.widthOf(x);
  if (rope.width % 2 || rope.width > model.widthOf(x)) {
    block.failField("rope_width",
                    "heads of " + std::to_string(model.widthOf(x)) +
                        " elements of which " + std::to_string(rope.width) +
                        " rotate, expected an even number of at most that");
    return x;
  }
  auto flag = [&](bool set) { return set ? ops.getUnitAttr() : UnitAttr(); };
  return RopeOp::create(
      ops, x.getType(), x, ops.getF64FloatAttr(angles.theta), angles.scaling,
      partial ? ops.getI64IntegerAttr(rope.width) : IntegerAttr(),
      flag(partial && rope.last), flag(rope.interleaved), flag(rope.inverse));
}

namespace {

enum class Layout { separate, concat, interleaved, grouped, blocks };

/// Which of queries, keys and values a projection computes.
enum Role { query, key, value };

/// Builds the IR of one attention block from its parameters.
class AttentionBuilder {
public:
  AttentionBuilder(ModelBuilder &model, autopar::model::Block &block)
      : model(model), block(block), ops(model.builder()),
        heads(block.integer("heads")),
        kvHeads(block.integer("kv_heads", heads)),
        width(block.integer("head_dim")),
        valueWidth(block.integer("v_head_dim", width)),
        transposed(block.flag("transposed")), layout(readLayout()) {
    bool bias = block.flag("input_bias");
    block.mayHave({"q_norm",
                   "k_norm",
                   "norm",
                   "norm_weight",
                   "norm_bias",
                   "unit_offset",
                   "eps",
                   "gate_name",
                   "layout",
                   "q",
                   "k",
                   "v",
                   "qkv",
                   "relative_bias",
                   "relative_buckets",
                   "relative_distance",
                   "sinks",
                   "o_layer_norm",
                   "down",
                   "kv",
                   "cache_name"});
    biases[query] = bias;
    biases[key] = block.flag("k_bias", bias);
    biases[value] = block.flag("v_bias", bias);
    if (kvHeads < 1 || heads % kvHeads)
      block.fail(std::to_string(kvHeads) + " key-value heads do not divide " +
                     std::to_string(heads) + " heads",
                 "kv_heads");
  }

  Value build(Value x) {
    if (model.error)
      return {};
    Value memory = x;
    if (block.has("memory"))
      memory = model.saved->lookup(block.text("memory"));
    if (!memory) {
      block.fail("nothing was saved under this name", "memory");
      return {};
    }
    if (block.flag("reads"))
      return readShared(x);
    bool fusedGate = block.choice("gate") == "fused";
    Value q = project(x, query, fusedGate ? "0/2 * " : "");
    Value gate = fusedGate ? project(x, query, "1/2 * ") : Value();
    Value k = project(memory, key);
    Value v = block.flag("v_is_k") ? k : project(memory, value);
    if (block.flag("v_norm")) {
      NormSpec norm;
      norm.hasWeight = false;
      norm.shape = {valueWidth};
      norm.eps = block.notNegative("eps", norm.eps);
      v = createNorm(model, v, norm);
    }
    q = normAndTurn(q, true);
    k = normAndTurn(k, false);
    Value y = attend(x, q, k, v);
    if (block.has("o_norm")) {
      NormSpec norm;
      norm.stem = block.text("o_norm");
      norm.isLayerNorm = norm.hasBias = block.flag("o_layer_norm");
      norm.eps = block.notNegative("eps", norm.eps);
      norm.shape = {heads, valueWidth};
      norm.over = 2;
      norm.storage = "[0*1]";
      y = createNorm(model, y, norm);
    }
    if (gate)
      y = createGated(model, gate, y, FunctionKind::sigmoid);
    return output(gateOutput(x, y), model.widthOf(x));
  }

private:
  Layout readLayout() {
    if (!block.has("qkv"))
      return Layout::separate;
    std::string name = block.choice("layout", "concat");
    if (name == "interleaved")
      return Layout::interleaved;
    if (name == "grouped")
      return Layout::grouped;
    if (name == "blocks")
      return Layout::blocks;
    if (name != "concat")
      block.fail("unknown layout \"" + name + "\"", "layout");
    return Layout::concat;
  }

  //===--------------------------------------------------------------------===//
  // Building the projections of attention
  //===--------------------------------------------------------------------===//

  int64_t countOf(Role role) const { return role == query ? heads : kvHeads; }
  int64_t widthOf(Role role) const {
    return role == value ? valueWidth : width;
  }

  /// Returns the storage of a projection's output dimension in the checkpoint
  /// (as `#transformer.storage` writes it), for a value whose heads are
  /// dimension `h` and whose elements per head are the next one. `part` is
  /// inserted between both.
  std::string rows(Role role, int h, StringRef part) const {
    int d = h + 1;
    int64_t group = heads / kvHeads;
    switch (layout) {
    case Layout::separate:
      return formatv("{0} * {1}{2}", h, part, d);
    case Layout::interleaved:
      return formatv("{0} * {1}/3 * {2}", h, int(role), d);
    case Layout::grouped:
      return formatv("{0} by {1} at {2} of {3} * {4}", h, kvHeads,
                     role == query ? 0 : group + (role == value), group + 2, d);
    case Layout::blocks: {
      // CodeGen stores the heads in four blocks, each of which has q, v and k
      // of its heads.
      constexpr int64_t blocks = 4, order[] = {0, 2, 1};
      int64_t part = heads / blocks;
      return formatv("{0} by {1} at {2} of {3} * {4}", h, blocks,
                     order[role] * part, 3 * part, d);
    }
    case Layout::concat:
      break;
    }
    int64_t starts[] = {0, heads * width, (heads + kvHeads) * width};
    return formatv("{0} * {1} at {2} of {3}", h, d, starts[role],
                   (heads + kvHeads) * width + kvHeads * valueWidth);
  }

  /// Returns the storage of keys or values in a tensor that has all keys first
  /// and then all values.
  std::string rowsOfPair(Role role, int h) const {
    return formatv("{0} * {1} at {2} of {3}", h, h + 1,
                   role == value ? kvHeads * width : 0,
                   kvHeads * (width + valueWidth));
  }

  /// Returns the name of a tensor of the block: torch's own attention has
  /// "in_proj_weight", others "in_proj.weight".
  static std::string member(const std::string &stem, const char *name) {
    return StringRef(stem).ends_with("_") ? stem + name : stem + "." + name;
  }

  Value project(Value x, Role role, StringRef part = "") {
    static const char *const keys[] = {"q", "k", "v"};
    bool isPair = role != query && block.has("kv");
    std::string stem = block.text(isPair                       ? "kv"
                                  : layout == Layout::separate ? keys[role]
                                                               : "qkv");
    auto rowsOf = [&](int h) {
      return isPair ? rowsOfPair(role, h) : rows(role, h, part);
    };
    int64_t count = countOf(role), size = widthOf(role);
    std::string out = rowsOf(1);
    // The input may consist of several equal tensors side by side, each with
    // its own columns of the matrix.
    int64_t copies = block.integer("copies", 1), hidden = model.widthOf(x);
    Value sum;
    // There is at least one.
    for (int64_t i = 0; i == 0 || i < copies; ++i) {
      std::string in =
          copies == 1
              ? "0"
              : formatv("0 at {0} of {1}", i * hidden, copies * hidden).str();
      Value w = model.weight(member(stem, "weight"), {hidden, count, size},
                             transposed ? "[" + in + ", " + out + "]"
                                        : "[" + out + ", " + in + "]",
                             WeightRole::product);
      Value b = biases[role] && i == 0
                    ? model.weight(member(stem, "bias"), {count, size},
                                   "[" + rowsOf(0) + "]")
                    : Value();
      Value y = LinearOp::create(ops, model.like(x, {count, size}), x, w, b);
      sum = sum ? AddOp::create(ops, y.getType(), sum, y).getResult() : y;
    }
    return sum;
  }

  /// Returns queries or keys as attention reads them: normalised and rotated,
  /// if the block says so.
  Value normAndTurn(Value x, bool isQuery) {
    bool normFirst = !block.flag("norm_after_rope");
    RopeSpec rope;
    rope.width = block.integer("rope_width", 0);
    rope.interleaved = block.flag("rope_interleaved");
    if (normFirst)
      x = norm(x, isQuery);
    x = createRope(model, block, x, rope);
    return normFirst ? x : norm(x, isQuery);
  }

  Value norm(Value x, bool isQuery) {
    std::string over =
        block.choice("qk_norm", block.has("q_norm") ? "head" : "");
    if (over.empty())
      return x;
    int64_t count = isQuery ? heads : kvHeads;
    NormSpec norm;
    norm.isLayerNorm = block.choice("norm", "rms_norm") == "layer_norm";
    norm.hasWeight = block.flag("norm_weight", true);
    norm.hasBias = block.flag("norm_bias");
    norm.unitOffset = block.flag("unit_offset");
    norm.eps = block.notNegative("eps", 1e-6);
    if (norm.hasWeight)
      norm.stem = block.text(isQuery ? "q_norm" : "k_norm");
    norm.shape = {width};
    if (over != "head")
      norm.shape = {count, width};
    if (over == "all") {
      norm.over = 2;
      norm.storage = "[0*1]";
    } else if (norm.stem.find('*') != std::string::npos) {
      norm.storage = "[1]";
    }
    return createNorm(model, x, norm);
  }

  //===--------------------------------------------------------------------===//
  // Building attention
  //===--------------------------------------------------------------------===//

  IntegerAttr optional(int64_t value) {
    return value ? ops.getI64IntegerAttr(value) : IntegerAttr();
  }

  /// Adds the KV cache of all tokens or, with a `window`, of the last ones.
  Value cache(int64_t window) {
    if (!block.flag("cache", true))
      return {};
    StringRef context = block.has("memory") ? "cross_tokens" : "context";
    RankedTensorType type =
        model.tensor({model.symbol("batch"), model.symbol(context)},
                     {kvHeads, width + valueWidth}, model.cacheFormat());
    std::string name = block.choice("cache_name");
    return KVCacheOp::create(ops, CacheType::get(type), optional(window),
                             name.empty() ? StringAttr()
                                          : ops.getStringAttr(name));
  }

  /// If a layer uses the keys and values of an earlier layer, nothing computes
  /// them here.
  Value readShared(Value x) {
    block.mayHave({"v_is_k", "v_norm", "softcap", "chunk"});
    if (!block.flag("causal", true) || !block.has("cache_name"))
      block.fail("reads the keys of an earlier layer, expected \"cache_name\" "
                 "and \"causal\"",
                 "reads");
    Value q = normAndTurn(project(x, query), true);
    int64_t window = block.integer("window", 0);
    Value y =
        SharedAttentionOp::create(ops, model.like(x, {heads, valueWidth}), q,
                                  cache(window), optional(window), scaleAttr());
    return output(y, model.widthOf(x));
  }

  /// Returns the factor of attention scores as an attribute; null if it is the
  /// usual one, 1/sqrt(width).
  FloatAttr scaleAttr() {
    double usual = 1 / std::sqrt(double(width));
    double scale = block.positive("scale", usual);
    return scale != usual ? ops.getF64FloatAttr(scale) : FloatAttr();
  }

  Value attend(Value x, Value q, Value k, Value v) {
    if (block.flag("channels"))
      return ChannelAttentionOp::create(ops, q.getType(), q, k, v);
    int64_t window = block.integer("window", 0),
            chunk = block.integer("chunk", 0);
    Value sinks;
    if (std::string name = block.text("sinks", ""); !name.empty())
      sinks = model.weight(name, {heads});
    Value bias;
    int64_t maxDistance = 0;
    if (block.flag("has_relative_bias", block.has("relative_bias"))) {
      bias = model.weight(block.text("relative_bias") + ".weight",
                          {block.integer("relative_buckets"), heads});
      maxDistance = block.integer("relative_distance");
    }
    // The table of biases is one that all layers share.
    if (block.has("bias_value")) {
      bias = model.saved->lookup(block.text("bias_value"));
      maxDistance = block.integer("relative_distance");
    }
    Value down, across;
    block.mayHave({"across", "plane"});
    if (int64_t side = block.integer("plane", 0)) {
      down = model.weight(block.text("down"), {2 * side - 1, width});
      across = model.weight(block.text("across"), {2 * side - 1, width});
    }
    Value distances;
    block.mayHave({"most_distance"});
    if (block.has("distances"))
      distances = model.weight(block.text("distances"),
                               {2 * block.integer("most_distance") + 1, width});
    double softcap = block.notNegative("softcap", 0);
    auto flag = [&](bool set) { return set ? ops.getUnitAttr() : UnitAttr(); };
    bool causal = block.flag("causal", !block.has("memory"));
    Value kv = cache(window ? window : chunk);
    Value selected = selectBlocks(x);
    return AttentionOp::create(
        ops, model.like(x, {heads, valueWidth}), q, k, v, kv, sinks, bias, down,
        across, distances, flag(causal), optional(window), optional(chunk),
        scaleAttr(), softcap != 0 ? ops.getF64FloatAttr(softcap) : FloatAttr(),
        flag(block.flag("alibi")), optional(maxDistance), selected,
        optional(selected ? block.integer("index_block") : 0));
  }

  Value indexNorm(Value x, const char *stem) {
    NormSpec norm;
    norm.stem = block.text(stem);
    norm.unitOffset = block.flag("unit_offset");
    norm.eps = block.notNegative("eps", norm.eps);
    return createNorm(model, x, norm);
  }

  /// Builds the selection of the blocks of tokens that the heads of a group see
  /// (MiniMax-M3); null if they see all tokens.
  Value selectBlocks(Value x) {
    block.mayHave({"index_heads", "index_dim", "index_block", "index_local",
                   "index_q", "index_k", "index_q_norm", "index_k_norm"});
    int64_t topK = block.integer("index_top_k", 0);
    if (!topK)
      return {};
    int64_t groups = block.integer("index_heads"),
            size = block.integer("index_dim");
    if (groups != kvHeads) {
      block.failField("index_heads", std::to_string(groups) +
                                         " groups, expected one for each of " +
                                         std::to_string(kvHeads) +
                                         " key-value heads");
      return {};
    }
    Value q = createHeads(model, x, block.text("index_q"), groups, size);
    Value k = model.linear(x, block.text("index_k"), size);
    RopeSpec turned;
    turned.width = std::min(size, block.integer("rope_width", size));
    q = createRope(model, block, indexNorm(q, "index_q_norm"), turned);
    k = createRope(model, block, indexNorm(k, "index_k_norm"), turned);
    return BlockIndexerOp::create(
        ops, model.tokens(model.tokensOf(x), {groups, topK}, ops.getI32Type()),
        q, k, createRowCache(model, size), block.integer("index_block"), topK,
        block.integer("index_local", 0));
  }

  /// Multiplies the result by a gate with its own weight: one gate per head, or
  /// one per element.
  Value gateOutput(Value x, Value y) {
    std::string kind = block.choice("gate");
    if (kind.empty() || kind == "fused")
      return y;
    std::string stem = block.text("gate_name");
    if (kind == "element")
      return createGated(model, createHeads(model, x, stem, heads, valueWidth),
                         y, FunctionKind::sigmoid);
    Value w = model.weight(stem + ".weight", {model.widthOf(x), heads},
                           "[1, 0]", WeightRole::product);
    return WeighOp::create(ops, y.getType(), y, createProduct(model, x, w),
                           FunctionKind::sigmoid);
  }

  Value output(Value y, int64_t hidden) {
    std::string stem = block.text("o");
    Value w =
        model.weight(stem + ".weight", {heads, valueWidth, hidden},
                     transposed ? "[0*1, 2]" : "[2, 0*1]", WeightRole::product);
    Value b = block.flag("output_bias") ? model.weight(stem + ".bias", {hidden})
                                        : Value();
    return LinearOp::create(ops, model.like(y, {hidden}, 2), y, w, b);
  }

  ModelBuilder &model;
  autopar::model::Block &block;
  ImplicitLocOpBuilder &ops;
  int64_t heads, kvHeads, width, valueWidth;
  bool transposed;
  Layout layout;
  bool biases[3];
};

} // namespace

Value autopar::importer::buildAttention(ModelBuilder &model,
                                        autopar::model::Block &block, Value x) {
  return AttentionBuilder(model, block).build(x);
}
