//===- ImportModel.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Import/ImportModel.h"

#include "LayerRuns.h"
#include "autopar/Dialect/Transformer/Transformer.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

/// The step that a fresh import describes, until another is bound.
static constexpr int64_t defaultQuery = 2048;

namespace {

using Groups = ArrayRef<ArrayRef<int64_t>>;

/// Types and ops that all parts of a model are built from.
class ModelBuilder {
public:
  ModelBuilder(MLIRContext *context, const ModelConfig &config)
      : config(config), builder(UnknownLoc::get(context), context),
        element(fromElementType(context, config.dtype)) {}

  OwningOpRef<ModuleOp> build() {
    OwningOpRef<ModuleOp> module =
        ModuleOp::create(builder.getLoc(), config.name);
    builder.setInsertionPointToEnd(module->getBody());
    WorkloadOp::create(builder, "w", PhaseKind::prefill, 1, defaultQuery,
                       defaultQuery);
    for (const LayerConfig &kind : config.kinds)
      buildLayer(kind);
    buildModel();
    if (!config.defaults.empty()) {
      SmallVector<StringRef> defaults(config.defaults.begin(),
                                      config.defaults.end());
      (*module)->setAttr("transformer.defaults",
                         builder.getStrArrayAttr(defaults));
    }
    return module;
  }

private:
  //===--------------------------------------------------------------------===//
  // Types and weights
  //===--------------------------------------------------------------------===//

  /// `[batch, query, dims..]`.
  Type tokens(ArrayRef<int64_t> dims) {
    SmallVector<int64_t> shape = {1, 1};
    SmallVector<StringRef> names = {"batch", "query"};
    shape.append(dims.begin(), dims.end());
    names.append(dims.size(), "");
    return getTensorType(shape, names, element);
  }

  /// `[{batch*query*topK}, width]`.
  Type routed(int64_t topK, int64_t width) {
    std::string name =
        "{batch*query" + (topK > 1 ? "*" + std::to_string(topK) : "") + "}";
    return getTensorType({1, width}, {name, ""}, element);
  }

  /// A weight: in a layer at its head, after those that are there.
  Value weight(StringRef name, ArrayRef<int64_t> shape, Groups groups = {}) {
    StorageAttr storage = groups.empty()
                              ? StorageAttr()
                              : StorageAttr::get(builder.getContext(), groups);
    OpBuilder::InsertionGuard guard(builder);
    if (lastWeight)
      builder.setInsertionPointAfter(lastWeight);
    else if (layer)
      builder.setInsertionPointToStart(layer);
    auto op = WeightOp::create(builder, RankedTensorType::get(shape, element),
                               builder.getStringAttr(name), storage);
    lastWeight = layer ? op.getOperation() : nullptr;
    return op;
  }

  func::FuncOp beginFunction(StringRef name, Type argument, Type result) {
    auto func = func::FuncOp::create(
        builder, name, builder.getFunctionType({argument}, {result}));
    builder.setInsertionPointToStart(func.addEntryBlock());
    return func;
  }

  void endFunction(func::FuncOp func, Value result) {
    func::ReturnOp::create(builder, result);
    builder.setInsertionPointAfter(func);
  }

  //===--------------------------------------------------------------------===//
  // Blocks
  //===--------------------------------------------------------------------===//

  Value norm(Value x, StringRef name, int64_t width) {
    return RMSNormOp::create(builder, x.getType(), x, weight(name, {width}),
                             builder.getF64FloatAttr(config.normEps));
  }

  /// `x` times a matrix from `hidden` to heads.
  Value toHeads(Value x, StringRef name, int64_t heads, int64_t headDim,
                bool bias) {
    std::string stem = ("self_attn." + name).str();
    Value w = weight(stem + ".weight", {config.hidden, heads, headDim},
                     {{1, 2}, {0}});
    Value b =
        bias ? weight(stem + ".bias", {heads, headDim}, {{0, 1}}) : Value();
    return LinearOp::create(builder, tokens({heads, headDim}), x, w, b);
  }

  /// `x` times a matrix `[in, out]`.
  Value linear(Value x, StringRef stem, int64_t in, int64_t out, bool bias) {
    Value w = weight((stem + ".weight").str(), {in, out}, {{1}, {0}});
    Value b = bias ? weight((stem + ".bias").str(), {out}) : Value();
    return LinearOp::create(builder, tokens({out}), x, w, b);
  }

  Value rope(Value x, const AttentionConfig &attention) {
    StringAttr scaling = attention.ropeScaling.empty()
                             ? StringAttr()
                             : builder.getStringAttr(attention.ropeScaling);
    return RopeOp::create(builder, x.getType(), x,
                          builder.getF64FloatAttr(attention.ropeTheta),
                          scaling);
  }

  Value buildAttention(Value x, const AttentionConfig &attention) {
    int64_t heads = attention.heads, kvHeads = attention.kvHeads,
            width = attention.headDim;
    Value q = toHeads(x, "q_proj", heads, width, attention.inputBias);
    Value k = toHeads(x, "k_proj", kvHeads, width, attention.inputBias);
    Value v = toHeads(x, "v_proj", kvHeads, width, attention.inputBias);
    if (attention.qkNorm) {
      q = norm(q, "self_attn.q_norm.weight", width);
      k = norm(k, "self_attn.k_norm.weight", width);
    }
    IntegerAttr window = attention.window
                             ? builder.getI64IntegerAttr(attention.window)
                             : IntegerAttr();
    Type cacheType = getTensorType({2, 1, 1, kvHeads, width},
                                   {"", "batch", "context", "", ""}, element);
    Value cache = KVCacheOp::create(builder, cacheType, window);
    q = rope(q, attention);
    k = rope(k, attention);
    Value y = AttentionOp::create(builder, q.getType(), q, k, v, cache,
                                  builder.getUnitAttr(), window);
    Value w = weight("self_attn.o_proj.weight", {heads, width, config.hidden},
                     {{2}, {0, 1}});
    Value b = attention.outputBias
                  ? weight("self_attn.o_proj.bias", {config.hidden})
                  : Value();
    return LinearOp::create(builder, tokens({config.hidden}), y, w, b);
  }

  FunctionKind activation() {
    return *symbolizeFunctionKind(config.activation);
  }

  Value buildDense(Value x, const FeedForwardConfig &dense) {
    int64_t hidden = config.hidden, width = dense.intermediate;
    Value gate = linear(x, "mlp.gate_proj", hidden, width, dense.bias);
    Value up = linear(x, "mlp.up_proj", hidden, width, dense.bias);
    Value y = GatedOp::create(builder, gate.getType(), gate, up, activation());
    return linear(y, "mlp.down_proj", width, hidden, dense.bias);
  }

  Value experts(Value x, std::string_view name, const FeedForwardConfig &sparse,
                int64_t in, int64_t out) {
    Value w = weight(name, {sparse.experts, in, out}, {{2}, {1}});
    return ExpertsOp::create(builder, routed(sparse.topK, out), x, w,
                             sparse.topK);
  }

  Value buildExperts(Value x, const FeedForwardConfig &sparse) {
    int64_t hidden = config.hidden, width = sparse.intermediate;
    const ExpertNames &names = config.expertNames;
    Value router = weight(names.router, {hidden, sparse.experts}, {{1}, {0}});
    Value routing = RouterOp::create(builder, tokens({sparse.topK}), x, router,
                                     sparse.topK);
    Value set =
        DispatchOp::create(builder, routed(sparse.topK, hidden), x, routing);
    Value gate = experts(set, names.gate, sparse, hidden, width);
    Value up = experts(set, names.up, sparse, hidden, width);
    Value y = GatedOp::create(builder, gate.getType(), gate, up, activation());
    Value down = experts(y, names.down, sparse, width, hidden);
    return CombineOp::create(builder, x.getType(), down, routing);
  }

  void buildLayer(const LayerConfig &kind) {
    Type stream = tokens({config.hidden});
    func::FuncOp func = beginFunction(kind.name, stream, stream);
    func.setPrivate();
    layer = &func.getBody().front();
    lastWeight = nullptr;
    Value x = func.getArgument(0);
    Value y = norm(x, "input_layernorm.weight", config.hidden);
    y = buildAttention(y, kind.attention);
    x = AddOp::create(builder, x.getType(), x, y);
    y = norm(x, "post_attention_layernorm.weight", config.hidden);
    y = kind.feedForward.experts ? buildExperts(y, kind.feedForward)
                                 : buildDense(y, kind.feedForward);
    x = AddOp::create(builder, x.getType(), x, y);
    layer = nullptr;
    lastWeight = nullptr;
    endFunction(func, x);
  }

  //===--------------------------------------------------------------------===//
  // The whole
  //===--------------------------------------------------------------------===//

  /// A repeat around `body`, which gets the carried value and returns the next.
  Value repeat(int64_t count, StringAttr prefix, int64_t first, Value init,
               llvm::function_ref<Value(Value)> body) {
    auto op = RepeatOp::create(
        builder, TypeRange(init.getType()), builder.getI64IntegerAttr(count),
        prefix, builder.getI64IntegerAttr(first), ValueRange(init));
    OpBuilder::InsertionGuard guard(builder);
    Block &block = op.getBody().emplaceBlock();
    Value carried = block.addArgument(init.getType(), builder.getLoc());
    builder.setInsertionPointToStart(&block);
    YieldOp::create(builder, body(carried));
    return op.getResult(0);
  }

  Value buildRuns(Value x, const LayerPattern &pattern) {
    for (const LayerRun &run : pattern.runs) {
      auto call = [&](Value input) -> Value {
        return func::CallOp::create(builder, config.kinds[run.kind].name,
                                    TypeRange(input.getType()), input)
            .getResult(0);
      };
      // The pattern itself repeats a single run.
      bool single = pattern.runs.size() == 1 || run.count == 1;
      x = single ? call(x) : repeat(run.count, StringAttr(), 0, x, call);
    }
    return x;
  }

  void buildModel() {
    Type ids = getTensorType({1, 1}, {"batch", "query"}, builder.getI32Type());
    Type result = getTensorType({1, config.vocabulary}, {"batch", ""}, element);
    func::FuncOp func = beginFunction("model", ids, result);
    Value table =
        weight("model.embed_tokens.weight", {config.vocabulary, config.hidden});
    Value x = EmbeddingOp::create(builder, tokens({config.hidden}),
                                  func.getArgument(0), table);
    auto prefix = builder.getStringAttr("model.layers");
    for (const LayerPattern &pattern : findPatterns(config.layers))
      x = repeat(pattern.count, prefix, pattern.first, x,
                 [&](Value carried) { return buildRuns(carried, pattern); });
    x = norm(x, "model.norm.weight", config.hidden);
    Value last = LastTokenOp::create(
        builder, getTensorType({1, config.hidden}, {"batch", ""}, element), x);
    Value head =
        config.tiedEmbeddings
            ? table
            : weight("lm_head.weight", {config.vocabulary, config.hidden});
    Value logits = LogitsOp::create(builder, result, last, head);
    endFunction(func, logits);
  }

  const ModelConfig &config;
  ImplicitLocOpBuilder builder;
  Type element;
  /// The layer being built, and the last weight at its head.
  Block *layer = nullptr;
  Operation *lastWeight = nullptr;
};

} // namespace

OwningOpRef<ModuleOp> autopar::importModel(MLIRContext *context,
                                           const ModelConfig &config) {
  context->loadDialect<TransformerDialect, func::FuncDialect>();
  return ModelBuilder(context, config).build();
}
