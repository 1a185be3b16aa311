//===- FeedForwardBlocks.cpp - Dense and routed ---------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Blocks.h"

using namespace autopar;
using namespace autopar::importer;
using namespace autopar::model;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::transformer;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Building dense feed-forward layers
//===----------------------------------------------------------------------===//

/// Multiplies `x` by half `index` of a matrix `[2*width, hidden]` or, if
/// `pointwise`, of a convolution of one token `[2*width, hidden, 1]`.
static Value halfOf(ModelBuilder &model, Value x, const std::string &stem,
                    int64_t width, int index, bool bias, bool pointwise) {
  std::string half = std::to_string(index) + "/2 * ";
  Value w = model.weight(stem + ".weight", {model.widthOf(x), width},
                         "[" + half + (pointwise ? "1, 0, 0/1]" : "1, 0]"),
                         WeightRole::product);
  Value b =
      bias ? model.weight(stem + ".bias", {width}, "[" + half + "0]") : Value();
  return createProduct(model, x, w, b);
}

/// Multiplies `y` by a gate per token: the sigmoid of the product of `x` and a
/// vector.
static Value weighTokens(ModelBuilder &model, Value x, Value y,
                         const std::string &stem) {
  Value w = model.weight(stem + ".weight", {model.widthOf(x)}, "[0/1, 0]",
                         WeightRole::router);
  Value weights =
      LinearOp::create(model.builder(), model.like(x, {}), x, w, Value());
  return WeighOp::create(model.builder(), y.getType(), y, weights,
                         FunctionKind::sigmoid);
}

Value autopar::importer::buildFeedForward(ModelBuilder &model,
                                          autopar::model::Block &block,
                                          Value x) {
  int64_t width = block.integer("width"), hidden = model.widthOf(x);
  bool bias = block.flag("bias"), transposed = block.flag("transposed");
  FunctionKind function = functionOf(block, block.choice("activation"));
  block.mayHave({"gate", "up", "up_first", "pointwise"});
  double limit = block.notNegative("limit", 0);
  bool unitOffset = block.flag("unit_offset");
  Value y;
  bool gated = block.flag("gated", true);
  if (block.has("gate_up") && gated) {
    std::string stem = block.text("gate_up");
    bool upFirst = block.flag("up_first");
    bool pointwise = block.flag("pointwise");
    Value gate =
        halfOf(model, x, stem, width, upFirst ? 1 : 0, bias, pointwise);
    Value up = halfOf(model, x, stem, width, upFirst ? 0 : 1, bias, pointwise);
    y = createGated(model, gate, up, function, limit, unitOffset);
  } else if (block.has("gate") && gated) {
    Value gate = model.linear(x, block.text("gate"), width, bias, transposed);
    Value up = model.linear(x, block.text("up"), width, bias, transposed);
    y = createGated(model, gate, up, function, limit, unitOffset);
  } else {
    Value up = model.linear(x, block.text("up"), width, bias, transposed);
    y = ActivationOp::create(model.builder(), up.getType(), up, function);
  }
  if (block.has("inner_norm")) {
    NormSpec norm;
    norm.stem = block.text("inner_norm");
    norm.eps = block.notNegative("eps", norm.eps);
    y = createNorm(model, y, norm);
  }
  if (!block.has("down"))
    return y;
  y = model.linear(y, block.text("down"), block.integer("out", hidden),
                   block.flag("down_bias", bias), transposed);
  return block.has("token_gate")
             ? weighTokens(model, x, y, block.text("token_gate"))
             : y;
}

/// Builds f(x) multiplied by a value that an earlier step saved.
Value autopar::importer::buildGated(ModelBuilder &model,
                                    autopar::model::Block &block, Value x) {
  Value up = model.saved->lookup(block.text("value"));
  if (!up || up.getType() != x.getType()) {
    block.fail("nothing of this shape was saved under this name", "value");
    return {};
  }
  return createGated(model, x, up,
                     functionOf(block, block.choice("activation")));
}

//===----------------------------------------------------------------------===//
// Building layers with experts
//===----------------------------------------------------------------------===//

namespace {

/// How the checkpoint stores the matrices of all experts, in the syntax of
/// storage that `ModelBuilder::weight` takes. In the IR they are
/// [experts, in, width] and [experts, width, out]. If one tensor fuses gate and
/// up, {} stands for the half: 0/2 is gate, 1/2 is up.
struct ExpertLayout {
  StringRef name;
  /// `fused`: whether gate and up are one tensor. `stems`: whether names lack
  /// ".weight".
  bool fused, stems;
  StringRef in, inBias, out;
};

constexpr ExpertLayout layouts[] = {
    {"each", false, true, "[2, 1]", "[1]", "[2, 1]"},
    {"in_out", true, false, "[0, 1, {} * 2]", "[0, {} * 1]", "[0, 1, 2]"},
    {"in_out_interleaved", true, false, "[0, 1, 2 * {}]", "[0, 1 * {}]",
     "[0, 1, 2]"},
    {"out_in", true, false, "[0, {} * 2, 1]", "[0, {} * 1]", "[0, 2, 1]"},
    {"flat", false, false, "[0*2, 1]", "[0*1]", "[0*1, 2]"},
    {"stacked", false, false, "[0, 2, 1]", "[0, 1]", "[0, 2, 1]"},
};

/// Builds the IR of a mixture of experts from the block's parameters.
class ExpertsBuilder {
public:
  ExpertsBuilder(ModelBuilder &model, autopar::model::Block &block)
      : model(model), block(block), ops(model.builder()),
        experts(block.integer("experts")), topK(block.integer("top_k")),
        width(block.integer("width")) {
    block.mayHave({"gate", "up", "gate_up", "gated", "gate_up_bias", "up_bias",
                   "keep", "latent_in", "latent_out", "latent_norm", "eps",
                   "correction_storage", "limit", "unit_offset", "words"});
    std::string name = block.choice("layout", "each");
    for (const ExpertLayout &known : layouts)
      if (known.name == name)
        layout = &known;
    if (!layout)
      block.fail("unknown layout \"" + name + "\"", "layout");
    else if (layout->fused && !block.has("down_bias"))
      split();
  }

  Value build(Value x) {
    if (!layout)
      return {};
    Value routed = block.has("router_value")
                       ? model.saved->lookup(block.text("router_value"))
                       : x;
    if (!routed) {
      block.fail("nothing was saved under this name", "router_value");
      return {};
    }
    Value routing = route(routed);
    int64_t latent = block.integer("latent", 0);
    Value tokens =
        latent ? model.linear(x, block.text("latent_in"), latent) : x;
    int64_t hidden = model.widthOf(tokens);
    Value set =
        DispatchOp::create(ops, model.routed(x, topK, hidden), tokens, routing);
    Value inner = activate(x, set, hidden);
    std::string bias = block.text("down_bias", "");
    Value w = weight(nameOf("down"), {experts, width, hidden}, layout->out);
    // Experts that are stored one by one have one bias tensor each.
    const char *storedBias = StringRef(bias).contains('*') ? "[1]" : "";
    Value b = bias.empty() ? Value()
                           : model.weight(bias, {experts, hidden}, storedBias);
    Value down = ExpertsOp::create(ops, model.routed(x, topK, hidden), inner, w,
                                   b, topK);
    Value y = CombineOp::create(ops, tokens.getType(), down, routing);
    if (!latent)
      return y;
    if (block.has("latent_norm"))
      y = latentNorm(y);
    return model.linear(y, block.text("latent_out"), model.widthOf(x));
  }

private:
  Value latentNorm(Value y) {
    NormSpec norm;
    norm.stem = block.text("latent_norm");
    norm.eps = block.notNegative("eps", norm.eps);
    return createNorm(model, y, norm);
  }

  /// Switches to the layout in which a quantised checkpoint stores packed
  /// experts one by one.
  void split() {
    std::string down = block.text("down");
    std::string stem = down.substr(0, down.rfind('.'));
    if (!model.splitsExperts(stem))
      return;
    layout = &layouts[0];
    splitStem = stem;
  }

  std::string nameOf(const char *matrix) {
    return splitStem.empty() ? block.text(matrix)
                             : splitStem + ".*." + matrix + "_proj";
  }

  Value route(Value x) {
    std::string stem = block.text("router");
    // Zero experts, which return their input, have a row in the router but no
    // weights.
    int64_t idle = block.integer("zero_experts", 0);
    int64_t routes = experts + idle;
    if (idle)
      noteIdle(idle);
    Value w = model.weight(
        stem + ".weight", {model.widthOf(x), routes},
        block.flag("router_transposed") ? "[0, 1]" : "[1, 0]",
        block.flag("router_module") ? WeightRole::router : WeightRole::other);
    Value bias = block.flag("router_bias")
                     ? model.weight(stem + ".bias", {routes})
                     : Value();
    Value correction = correctionOf(routes);
    bool sigmoid = block.flag("sigmoid");
    Value ids, table;
    block.mayHave({"ids"});
    if (std::string name = block.text("table", ""); !name.empty()) {
      ids = model.saved->lookup(block.text("ids"));
      table =
          model.weight(name, {block.integer("words"), topK}, ops.getI64Type());
      if (!ids) {
        block.fail("nothing was saved under this name", "ids");
        return {};
      }
    }
    int64_t groups = block.integer("groups", 0),
            keep = block.integer("keep", 0);
    bool grouped = groups > 1 && keep > 0;
    auto optional = [&](int64_t n) {
      return grouped ? ops.getI64IntegerAttr(n) : IntegerAttr();
    };
    auto flag = [&](bool set) { return set ? ops.getUnitAttr() : UnitAttr(); };
    double scale = block.positive("scale", 1);
    return RouterOp::create(
        ops, model.like(x, {topK}), x, w, bias, correction,
        ops.getI64IntegerAttr(topK), flag(sigmoid), optional(groups),
        optional(keep), flag(block.flag("normalized")),
        scale != 1 ? ops.getF64FloatAttr(scale) : FloatAttr(), ids, table,
        flag(block.flag("sqrt_softplus")));
  }

  /// Returns the correction that is added to the scores for selection; null if
  /// there is none.
  Value correctionOf(int64_t routes) {
    std::string name = block.text("correction", "");
    std::string storage = block.text("correction_storage", "");
    if (name.empty())
      return {};
    return block.flag("correction_f32", true)
               ? model.weight(name, {routes}, ops.getF32Type(), storage)
               : model.weight(name, {routes}, storage);
  }

  void noteIdle(int64_t idle) {
    ModelDefault note = {"active parameters and FLOPs are an upper bound: " +
                         std::to_string(idle) + " of " +
                         std::to_string(experts + idle) +
                         " experts return their input and compute nothing"};
    if (!llvm::is_contained(model.notes.defaults, note))
      model.notes.defaults.push_back(note);
  }

  /// Returns f(gate) * up, with the limit and the offset of the block's
  /// parameters.
  Value gated(Value gate, Value up) {
    return createGated(
        model, gate, up, functionOf(block, block.choice("activation")),
        block.notNegative("limit", 0), block.flag("unit_offset"));
  }

  /// Builds the first matmul of the experts (up and, if there is one, gate) and
  /// the activation.
  Value activate(Value x, Value set, int64_t hidden) {
    if (layout->fused && block.flag("gated", true)) {
      Value gate = product(x, set, hidden, "gate_up", "0/2");
      Value up = product(x, set, hidden, "gate_up", "1/2");
      return gated(gate, up);
    }
    bool hasGate = block.has("gate") || !splitStem.empty();
    if (!layout->fused && hasGate && block.flag("gated", true)) {
      Value gate = product(x, set, hidden, "gate", "0/1");
      Value up = product(x, set, hidden, "up", "0/1");
      return gated(gate, up);
    }
    Value up = product(x, set, hidden, layout->fused ? "gate_up" : "up", "0/1");
    return ActivationOp::create(ops, up.getType(), up,
                                functionOf(block, block.choice("activation")));
  }

  Value product(Value x, Value set, int64_t hidden, const char *key,
                StringRef half) {
    Value w =
        weight(nameOf(key), {experts, hidden, width}, with(layout->in, half));
    std::string bias = layout->fused            ? block.text("gate_up_bias", "")
                       : StringRef(key) == "up" ? block.text("up_bias", "")
                                                : std::string();
    Value b = bias.empty() ? Value()
                           : model.weight(bias, {experts, width},
                                          with(layout->inBias, half));
    return ExpertsOp::create(ops, model.routed(x, topK, width), set, w, b,
                             topK);
  }

  Value weight(const std::string &name, ArrayRef<int64_t> shape,
               StringRef storage) {
    return model.weight(
        layout->stems ? name + ".weight" : name, shape, storage.str(),
        layout->stems ? WeightRole::expert : WeightRole::packed);
  }

  static std::string with(StringRef storage, StringRef half) {
    auto [before, after] = storage.split("{}");
    return after.empty() ? storage.str() : (before + half + after).str();
  }

  ModelBuilder &model;
  autopar::model::Block &block;
  ImplicitLocOpBuilder &ops;
  int64_t experts, topK, width;
  const ExpertLayout *layout = nullptr;
  /// The name prefix of experts that this checkpoint stores one by one instead
  /// of packed; "" if it does not.
  std::string splitStem;
};

} // namespace

Value autopar::importer::buildExperts(ModelBuilder &model,
                                      autopar::model::Block &block, Value x) {
  return ExpertsBuilder(model, block).build(x);
}
