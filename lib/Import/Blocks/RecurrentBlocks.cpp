//===- RecurrentBlocks.cpp - Mamba, delta nets, short convolutions --------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Blocks.h"

#include "autopar/Interfaces/TensorView.h"

#include "llvm/Support/FormatVariadic.h"

using namespace autopar;
using namespace autopar::importer;
using namespace autopar::model;
using namespace autopar::transformer;
using namespace mlir;

using llvm::formatv;

namespace {

/// Helpers for building recurrent blocks, whose tensors share a name prefix
/// (`stem`).
class RecurrentBuilder {
public:
  RecurrentBuilder(ModelBuilder &model, autopar::model::Block &block)
      : model(model), block(block), ops(model.builder()),
        stem(block.text("name", "")) {
    block.mayHave({"eps"});
  }

  std::string tensor(StringRef name) const { return stem + "." + name.str(); }

  /// Multiplies `x` by `total` rows of a matrix from row `at` on, or by all
  /// rows if `total` is 0. The result has the dimensions `dims`.
  Value rowsOf(Value x, const std::string &name, ArrayRef<int64_t> dims,
               int64_t at = 0, int64_t total = 0, bool bias = false) {
    return rowsAs(x, name, dims, product(1, dims.size()) + range(at, total), at,
                  total, bias);
  }

  /// Multiplies `x` by the rows of a matrix that the storage text `out`
  /// selects.
  Value rowsAs(Value x, const std::string &name, ArrayRef<int64_t> dims,
               const std::string &out, int64_t at = 0, int64_t total = 0,
               bool bias = false) {
    SmallVector<int64_t> shape = {model.widthOf(x)};
    shape.append(dims.begin(), dims.end());
    Value w = model.weight(name + ".weight", shape, "[" + out + ", 0]",
                           WeightRole::product);
    Value b = bias ? model.weight(name + ".bias", dims,
                                  "[" + product(0, dims.size()) +
                                      range(at, total) + "]")
                   : Value();
    return LinearOp::create(ops, model.like(x, dims), x, w, b);
  }

  /// Adds a causal convolution of each channel with its last `kernel` tokens,
  /// and the state that keeps these between steps.
  Value convolve(Value x, const std::string &name, ArrayRef<int64_t> channels,
                 int64_t kernel, bool bias,
                 std::optional<FunctionKind> function, int64_t at = 0,
                 int64_t total = 0) {
    SmallVector<int64_t> shape(channels), state(channels);
    shape.push_back(kernel);
    state.push_back(kernel - 1);
    std::string rows = product(0, channels.size()) + range(at, total);
    Value w = model.weight(name + ".weight", shape,
                           formatv("[{0}, 0/1, {1}]", rows, channels.size()));
    Value b = bias ? model.weight(name + ".bias", channels, "[" + rows + "]")
                   : Value();
    Value held = StateOp::create(
        ops, StateType::get(model.tensor({model.symbol("batch")}, state)));
    return ShortConvOp::create(
        ops, x.getType(), x, w, b, held,
        function ? FunctionKindAttr::get(ops.getContext(), *function)
                 : FunctionKindAttr());
  }

  /// Adds the recurrent state of each sequence, in fp32 unless the family sets
  /// a format.
  Value state(ArrayRef<int64_t> dims) {
    std::string name = block.choice("state_type", "float32");
    std::optional<ElementType> type = parseElementType(name);
    if (!type) {
      block.fail("unknown format \"" + name + "\"", "state_type");
      type = ElementType::f32;
    }
    return StateOp::create(ops, StateType::get(model.tensor(
                                    {model.symbol("batch")}, dims,
                                    fromElementType(ops.getContext(), *type))));
  }

  /// Multiplies `y` of shape `[heads, width]` by the output matrix, whose
  /// result has `hidden` elements.
  Value outputOf(Value y, ArrayRef<int64_t> dims, int64_t hidden,
                 const std::string &name, bool bias = false) {
    SmallVector<int64_t> shape(dims);
    shape.push_back(hidden);
    Value w = model.weight(
        name + ".weight", shape,
        formatv("[{0}, {1}]", dims.size(), product(0, dims.size())),
        WeightRole::product);
    Value b = bias ? model.weight(name + ".bias", {hidden}) : Value();
    return LinearOp::create(ops, model.like(y, {hidden}, dims.size()), y, w, b);
  }

  Value normOf(Value x, const std::string &name, ArrayRef<int64_t> shape,
               bool hasWeight = true, int64_t groups = 1) {
    NormSpec norm;
    norm.stem = name;
    norm.hasWeight = hasWeight;
    norm.groups = groups;
    norm.shape.assign(shape.begin(), shape.end());
    norm.over = shape.size();
    norm.storage = shape.size() > 1 ? "[" + product(0, shape.size()) + "]" : "";
    norm.eps = block.notNegative("eps", 1e-6);
    return createNorm(model, x, norm);
  }

  /// Returns the storage text for a product of `count` dimensions from `first`
  /// on: "1*2*3".
  static std::string product(size_t first, size_t count) {
    std::string text;
    for (size_t i = 0; i < count; ++i)
      text += (i ? "*" : "") + std::to_string(first + i);
    return text;
  }
  static std::string range(int64_t at, int64_t total) {
    return total ? formatv(" at {0} of {1}", at, total).str() : "";
  }

  ModelBuilder &model;
  autopar::model::Block &block;
  ImplicitLocOpBuilder &ops;
  std::string stem;
};

} // namespace

/// Builds Mamba (arXiv 2312.00752), in which every channel is a head of width
/// 1.
Value autopar::importer::buildMamba(ModelBuilder &model,
                                    autopar::model::Block &block, Value x) {
  RecurrentBuilder b(model, block);
  int64_t hidden = model.widthOf(x), inner = block.integer("inner"),
          n = block.integer("state"), kernel = block.integer("conv"),
          rank = block.integer("dt_rank");
  bool bias = block.flag("bias"), norms = block.flag("norms");
  Value in = b.rowsOf(x, b.tensor("in_proj"), {inner, 1}, 0, 2 * inner, bias);
  Value z =
      b.rowsOf(x, b.tensor("in_proj"), {inner, 1}, inner, 2 * inner, bias);
  in = b.convolve(in, b.tensor("conv1d"), {inner, 1}, kernel,
                  block.flag("conv_bias", true), FunctionKind::silu);
  // Makes one part of x_proj (dt, B or C), which contracts both dimensions of a
  // token's channels: `inner` heads of width 1.
  int64_t total = rank + 2 * n;
  auto part = [&](ArrayRef<int64_t> dims, int64_t at) {
    SmallVector<int64_t> shape = {inner, 1};
    shape.append(dims.begin(), dims.end());
    Value w = model.weight(b.tensor("x_proj.weight"), shape,
                           formatv("[{0} at {1} of {2}, 0*1]",
                                   RecurrentBuilder::product(2, dims.size()),
                                   at, total),
                           WeightRole::product);
    return LinearOp::create(b.ops, model.like(in, dims, 2), in, w, Value())
        .getResult();
  };
  Value dt = part({rank}, 0), input = part({1, n}, rank),
        output = part({1, n}, rank + n);
  if (norms) {
    bool weights = block.flag("norm_weight", true);
    dt = b.normOf(dt, b.tensor("dt_layernorm"), {rank}, weights);
    input = b.normOf(input, b.tensor("b_layernorm"), {n}, weights);
    output = b.normOf(output, b.tensor("c_layernorm"), {n}, weights);
  }
  dt = b.rowsOf(dt, b.tensor("dt_proj"), {inner}, 0, 0, /*bias=*/true);
  Value a = model.weight(b.tensor("A_log"), {inner, n});
  Value d = model.weight(b.tensor("D"), {inner});
  Value y = StateSpaceOp::create(b.ops, in.getType(), in, dt, input, output, a,
                                 b.state({inner, 1, n}), d, Value());
  y = createGated(model, z, y, FunctionKind::silu);
  return b.outputOf(y, {inner, 1}, hidden, b.tensor("out_proj"), bias);
}

/// Builds Mamba-2 (arXiv 2405.21060), in which the channels of a head share the
/// step size, and the heads of a group share B and C.
Value autopar::importer::buildMamba2(ModelBuilder &model,
                                     autopar::model::Block &block, Value x) {
  RecurrentBuilder b(model, block);
  block.mayHave({"norm_groups"});
  int64_t hidden = model.widthOf(x), heads = block.integer("heads"),
          width = block.integer("head_dim"), groups = block.integer("groups"),
          n = block.integer("state"), kernel = block.integer("conv");
  bool bias = block.flag("bias"), convBias = block.flag("conv_bias", true);
  int64_t inner = heads * width, shared = groups * n;
  int64_t total = 2 * inner + 2 * shared + heads, mixed = inner + 2 * shared;
  auto in = [&](ArrayRef<int64_t> dims, int64_t at) {
    return b.rowsOf(x, b.tensor("in_proj"), dims, at, total, bias);
  };
  Value z = in({heads, width}, 0), values = in({heads, width}, inner);
  Value input = in({groups, n}, 2 * inner),
        output = in({groups, n}, 2 * inner + shared);
  Value dt = in({heads}, 2 * inner + 2 * shared);
  auto convolve = [&](Value part, ArrayRef<int64_t> dims, int64_t at) {
    return b.convolve(part, b.tensor("conv1d"), dims, kernel, convBias,
                      FunctionKind::silu, at, mixed);
  };
  values = convolve(values, {heads, width}, 0);
  input = convolve(input, {groups, n}, inner);
  output = convolve(output, {groups, n}, inner + shared);
  std::string vectors = block.text("vectors", block.text("name", ""));
  Value a = model.weight(vectors + ".A_log", {heads});
  Value d = model.weight(vectors + ".D", {heads});
  Value dtBias = model.weight(vectors + ".dt_bias", {heads});
  Value y =
      StateSpaceOp::create(b.ops, values.getType(), values, dt, input, output,
                           a, b.state({heads, width, n}), d, dtBias);
  y = createGated(model, z, y, FunctionKind::silu);
  if (block.flag("gated_norm", true))
    y = b.normOf(y, b.tensor("norm"), {heads, width}, /*hasWeight=*/true,
                 block.integer("norm_groups", 1));
  return b.outputOf(y, {heads, width}, hidden, b.tensor("out_proj"),
                    block.flag("output_bias", bias));
}

namespace {
struct DeltaNetInputs {
  Value q, k, v, z, beta, decay;
};
} // namespace

/// Makes the inputs of a delta net as Qwen3.5 stores them: q, k and v one after
/// the other in one tensor, the rest in tensors of their own.
static DeltaNetInputs splitInputs(RecurrentBuilder &b, Value x,
                                  int64_t keyHeads, int64_t heads,
                                  int64_t keyWidth, int64_t width) {
  int64_t keys = keyHeads * keyWidth, total = 2 * keys + heads * width;
  std::string in = b.tensor("in_proj_qkv");
  DeltaNetInputs inputs;
  inputs.q = b.rowsOf(x, in, {keyHeads, keyWidth}, 0, total);
  inputs.k = b.rowsOf(x, in, {keyHeads, keyWidth}, keys, total);
  inputs.v = b.rowsOf(x, in, {heads, width}, 2 * keys, total);
  inputs.z = b.rowsOf(x, b.tensor("in_proj_z"), {heads, width});
  inputs.beta = b.rowsOf(x, b.tensor("in_proj_b"), {heads});
  inputs.decay = b.rowsOf(x, b.tensor("in_proj_a"), {heads});
  return inputs;
}

/// Makes the inputs of a delta net as Lara 4 stores them: q, k, v, z, beta and
/// decay one after the other in one tensor.
static DeltaNetInputs joinedInputs(RecurrentBuilder &b, Value x,
                                   int64_t keyHeads, int64_t heads,
                                   int64_t keyWidth, int64_t width) {
  int64_t keys = keyHeads * keyWidth, values = heads * width;
  int64_t total = 2 * (keys + values + heads);
  std::string in = b.tensor("in_proj");
  DeltaNetInputs inputs;
  inputs.q = b.rowsOf(x, in, {keyHeads, keyWidth}, 0, total);
  inputs.k = b.rowsOf(x, in, {keyHeads, keyWidth}, keys, total);
  inputs.v = b.rowsOf(x, in, {heads, width}, 2 * keys, total);
  inputs.z = b.rowsOf(x, in, {heads, width}, 2 * keys + values, total);
  inputs.beta = b.rowsOf(x, in, {heads}, total - 2 * heads, total);
  inputs.decay = b.rowsOf(x, in, {heads}, total - heads, total);
  return inputs;
}

/// Makes the inputs of a delta net as Flash Linear Attention and OLMo hybrid
/// store them: one tensor each.
static DeltaNetInputs apartInputs(RecurrentBuilder &b, Value x,
                                  int64_t keyHeads, int64_t heads,
                                  int64_t keyWidth, int64_t width) {
  DeltaNetInputs inputs;
  inputs.q = b.rowsOf(x, b.tensor("q_proj"), {keyHeads, keyWidth});
  inputs.k = b.rowsOf(x, b.tensor("k_proj"), {keyHeads, keyWidth});
  inputs.v = b.rowsOf(x, b.tensor("v_proj"), {heads, width});
  inputs.z = b.rowsOf(x, b.tensor("g_proj"), {heads, width});
  inputs.beta = b.rowsOf(x, b.tensor("b_proj"), {heads});
  inputs.decay = b.rowsOf(x, b.tensor("a_proj"), {heads});
  return inputs;
}

/// Makes the inputs of a delta net as Qwen3-Next stores them: for each key head
/// its q and k, and the v and z of its value heads; beta and decay likewise.
static DeltaNetInputs fusedInputs(RecurrentBuilder &b, Value x,
                                  int64_t keyHeads, int64_t heads,
                                  int64_t keyWidth, int64_t width) {
  int64_t group = heads / keyHeads, rows = 2 * keyWidth + 2 * group * width;
  if (heads % keyHeads || 2 * keyWidth % width) {
    b.block.fail("key heads and widths must divide those of values");
    return {x, x, x, x, x, x};
  }
  std::string qkvz = b.tensor("in_proj_qkvz"), ba = b.tensor("in_proj_ba");
  auto key = [&](int64_t at) {
    return b.rowsAs(x, qkvz, {keyHeads, keyWidth},
                    formatv("1 * 2 by 1 at {0} of {1}", at, rows));
  };
  auto value = [&](int64_t at) {
    return b.rowsAs(
        x, qkvz, {heads, width},
        formatv("1 by {0} at {1} of {2} * 2", keyHeads, at, rows / width));
  };
  auto scalar = [&](int64_t at) {
    return b.rowsAs(x, ba, {heads},
                    formatv("1 by {0} at {1} of {2}", keyHeads, at, 2 * group));
  };
  int64_t first = 2 * keyWidth / width;
  return {key(0),    key(keyWidth), value(first), value(first + group),
          scalar(0), scalar(group)};
}

/// Builds the gated delta net of Qwen3-Next and Qwen3.5 (arXiv 2412.06464).
Value autopar::importer::buildDeltaNet(ModelBuilder &model,
                                       autopar::model::Block &block, Value x) {
  RecurrentBuilder b(model, block);
  int64_t hidden = model.widthOf(x), keyHeads = block.integer("key_heads"),
          heads = block.integer("value_heads"),
          keyWidth = block.integer("key_dim"),
          width = block.integer("value_dim"), kernel = block.integer("conv");
  int64_t keys = keyHeads * keyWidth, values = heads * width;
  std::string layout = block.choice("inputs", "split");
  auto read = layout == "fused"    ? fusedInputs
              : layout == "joined" ? joinedInputs
              : layout == "apart"  ? apartInputs
                                   : splitInputs;
  DeltaNetInputs in = read(b, x, keyHeads, heads, keyWidth, width);
  auto convolve = [&](Value part, const char *own, ArrayRef<int64_t> dims,
                      int64_t at) {
    if (layout == "apart")
      return b.convolve(part, b.tensor(std::string(own) + "_conv1d"), dims,
                        kernel, /*bias=*/false, FunctionKind::silu);
    return b.convolve(part, b.tensor("conv1d"), dims, kernel, /*bias=*/false,
                      FunctionKind::silu, at, 2 * keys + values);
  };
  Value q = convolve(in.q, "q", {keyHeads, keyWidth}, 0);
  Value k = convolve(in.k, "k", {keyHeads, keyWidth}, keys);
  Value v = convolve(in.v, "v", {heads, width}, 2 * keys);
  Value dtBias = model.weight(b.tensor("dt_bias"), {heads});
  Value a = block.flag("a_log_f32")
                ? model.weight(b.tensor("A_log"), {heads}, b.ops.getF32Type())
                : model.weight(b.tensor("A_log"), {heads});
  Value y =
      GatedDeltaRuleOp::create(b.ops, v.getType(), q, k, v, in.beta, in.decay,
                               a, dtBias, b.state({heads, keyWidth, width}));
  y = b.normOf(y, b.tensor(block.text("norm", "norm")), {width});
  y = createGated(model, in.z, y, FunctionKind::silu);
  return b.outputOf(y, {heads, width}, hidden,
                    b.tensor(block.text("out", "out_proj")));
}

/// Builds Kimi delta attention (arXiv 2510.26692): each channel of a head has
/// its own decay, and both gates are computed by two matmuls with the width of
/// a head between them, or by one.
Value autopar::importer::buildKimiDelta(ModelBuilder &model,
                                        autopar::model::Block &block, Value x) {
  RecurrentBuilder b(model, block);
  int64_t hidden = model.widthOf(x), heads = block.integer("heads"),
          width = block.integer("head_dim"), kernel = block.integer("conv");
  SmallVector<int64_t> dims = {heads, width};
  auto convolved = [&](StringRef name) {
    Value part = b.rowsOf(x, b.tensor(name.str() + "_proj"), dims);
    return b.convolve(part, b.tensor(name.str() + "_conv1d"), dims, kernel,
                      /*bias=*/false, FunctionKind::silu);
  };
  auto gate = [&](StringRef name, bool isFull) {
    if (isFull)
      return b.rowsOf(x, b.tensor(name.str() + "_proj"), dims);
    Value inner = b.rowsOf(x, b.tensor(name.str() + "_a_proj"), {width});
    return b.rowsOf(inner, b.tensor(name.str() + "_b_proj"), dims);
  };
  Value q = convolved("q"), k = convolved("k"), v = convolved("v");
  Value decay = gate("f", block.flag("full_decay")),
        beta = b.rowsOf(x, b.tensor("b_proj"), {heads});
  Type f32 = b.ops.getF32Type();
  Value a = model.weight(b.tensor("A_log"), {heads}, f32,
                         block.flag("flat_a_log") ? "" : "[0/1, 0/1, 0, 0/1]");
  Value dtBias = model.weight(b.tensor("dt_bias"), dims, f32, "[0*1]");
  Value y = GatedDeltaRuleOp::create(b.ops, v.getType(), q, k, v, beta, decay,
                                     a, dtBias, b.state({heads, width, width}));
  y = b.normOf(y, b.tensor("o_norm"), {width});
  y = createGated(model, gate("g", block.flag("full_gate")), y,
                  FunctionKind::sigmoid);
  return b.outputOf(y, dims, hidden, b.tensor(block.text("out", "o_proj")));
}

/// Builds LFM2's gated short convolution: C * conv(B * x).
Value autopar::importer::buildShortConv(ModelBuilder &model,
                                        autopar::model::Block &block, Value x) {
  RecurrentBuilder b(model, block);
  int64_t hidden = model.widthOf(x), kernel = block.integer("conv");
  bool bias = block.flag("bias");
  std::string stem = block.text("in");
  auto in = [&](int64_t part) {
    return b.rowsOf(x, stem, {hidden}, part * hidden, 3 * hidden, bias);
  };
  Value before = in(0), after = in(1), y = in(2);
  y = createGated(model, before, y, FunctionKind::identity);
  // In image models the convolution also sees later tokens, along rows and
  // columns.
  std::string conv = block.text("conv_name");
  y = block.flag("plane")
          ? createChannelConvolution(model, y, conv, kernel, /*isPlane=*/true,
                                     bias, y.getType())
          : b.convolve(y, conv, {hidden}, kernel, bias, std::nullopt);
  y = createGated(model, after, y, FunctionKind::identity);
  return b.outputOf(y, {hidden}, hidden, block.text("out"), bias);
}

/// Builds the lightning attention of MiniMax-01 (arXiv 2501.08313).
Value autopar::importer::buildLinearAttention(ModelBuilder &model,
                                              autopar::model::Block &block,
                                              Value x) {
  RecurrentBuilder b(model, block);
  int64_t hidden = model.widthOf(x), heads = block.integer("heads"),
          width = block.integer("head_dim");
  FunctionKind function = functionOf(block, block.choice("activation", "silu"));
  std::string stem = block.text("qkv");
  Value parts[3];
  for (int64_t i = 0; i < 3; ++i) {
    // The three parts (q, k, v) of each head are adjacent in the tensor.
    Value part = b.rowsAs(x, stem, {heads, width}, formatv("1*{0}/3*2", i));
    parts[i] = ActivationOp::create(b.ops, part.getType(), part, function);
  }
  Value gate = b.rowsOf(x, block.text("gate"), {heads, width});
  Value y = LinearAttentionOp::create(
      b.ops, parts[0].getType(), parts[0], parts[1], parts[2],
      b.state({heads, width, width}),
      b.ops.getI64IntegerAttr(block.integer("layers")));
  y = b.normOf(y, block.text("norm"), {heads, width});
  y = createGated(model, gate, y, FunctionKind::sigmoid);
  return b.outputOf(y, {heads, width}, hidden, block.text("out"));
}
