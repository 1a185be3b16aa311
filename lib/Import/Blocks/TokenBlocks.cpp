//===- TokenBlocks.cpp - Tokens in, tokens out ----------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Blocks.h"

#include "autopar/Import/Formats.h"

#include "llvm/ADT/StringExtras.h"

using namespace autopar;
using namespace autopar::importer;
using namespace autopar::model;
using namespace autopar::transformer;
using namespace mlir;

/// Returns the number of tokens that a block makes, as an extent: `query`,
/// `encoder_tokens*4`.
static NamedExtent readTokens(ModelBuilder &model, autopar::model::Block &block,
                              const char *key = "tokens") {
  std::string text = block.text(key, "query");
  std::optional<NamedExtent> tokens =
      NamedExtent::parse(model.builder().getContext(), text);
  if (tokens && tokens->isSymbolic() && !tokens->isSet())
    return *tokens;
  block.fail("expected a product of symbols and positive numbers, found \"" +
                 text + "\"",
             key);
  return model.symbol("query");
}

Value autopar::importer::buildEmbedding(ModelBuilder &model,
                                        autopar::model::Block &block, Value) {
  ImplicitLocOpBuilder &ops = model.builder();
  int64_t width = block.integer("width"), rows = block.integer("rows");
  NamedExtent tokens = readTokens(model, block, "ids");
  Type type = model.tokens(tokens, {}, ops.getI32Type());
  Value ids;
  // A second table may be looked up with the same token ids.
  if (block.flag("same_ids"))
    ids = model.findInput(type);
  if (!ids)
    ids = model.addInput(type);
  Value table = model.weight(block.text("table"), {rows, width}, "",
                             WeightRole::embedding);
  Value x = EmbeddingOp::create(ops, model.tokens(tokens, {width}), ids, table);
  double scale = block.number("scale", 1);
  return scale == 1
             ? x
             : ScaleOp::create(ops, x.getType(), x, ops.getF64FloatAttr(scale))
                   .getResult();
}

/// Builds the ids of the step's tokens; an embedding that asked for the same
/// input shares it.
Value autopar::importer::buildTokenIds(ModelBuilder &model,
                                       autopar::model::Block &block, Value) {
  Type type =
      model.tokens(readTokens(model, block), {}, model.builder().getI32Type());
  Value ids = model.findInput(type);
  if (!ids)
    block.fail("no embedding in front of it has asked for them");
  return ids;
}

Value autopar::importer::buildPositionEmbedding(ModelBuilder &model,
                                                autopar::model::Block &block,
                                                Value x) {
  block.mayHave({"rows", "storage"});
  ImplicitLocOpBuilder &ops = model.builder();
  Value table = block.has("shape")
                    ? model.weight(block.text("table"), block.integers("shape"))
                    : model.weight(block.text("table"),
                                   {block.integer("rows"), model.widthOf(x)},
                                   block.text("storage", ""));
  int64_t first = block.integer("first", 0);
  return PositionEmbeddingOp::create(
      ops, x.getType(), x, table,
      first ? ops.getI64IntegerAttr(first) : IntegerAttr(),
      block.flag("same") ? ops.getUnitAttr() : UnitAttr());
}

Type autopar::importer::readElement(ModelBuilder &model,
                                    autopar::model::Block &block) {
  if (!block.has("element"))
    return model.elementType();
  std::string text = block.text("element");
  for (ElementType type :
       {ElementType::f32, ElementType::bf16, ElementType::f16, ElementType::i64,
        ElementType::i32, ElementType::i8, ElementType::u8,
        ElementType::fp8_e4m3})
    if (text == nameOf(type))
      return fromElementType(model.builder().getContext(), type);
  block.fail("unknown type of elements \"" + text + "\"", "element");
  return model.elementType();
}

/// Builds the tensors of a part that is only stored: each is kept as it is. A
/// "#" in a name stands for `count` numbers.
Value autopar::importer::buildTensors(ModelBuilder &model,
                                      autopar::model::Block &block, Value x) {
  int64_t from = block.integer("from", 0), count = block.integer("count", 1);
  std::string storage = block.text("storage", "");
  Type element = readElement(model, block);
  for (int64_t number = from; number < from + count; ++number)
    for (const auto &[name, shape] : block.tensors("tensors")) {
      SmallVector<StringRef> parts;
      StringRef(name).split(parts, '#');
      Value tensor = model.weight(llvm::join(parts, std::to_string(number)),
                                  shape, element, storage);
      // A tensor without dimensions has no rows: it is added to every token.
      x = shape.empty()
              ? AddBiasOp::create(model.builder(), x.getType(), x, tensor)
                    .getResult()
              : PositionEmbeddingOp::create(
                    model.builder(), x.getType(), x, tensor, IntegerAttr(),
                    // The table's rows are not positions, so that they do not
                    // limit the context.
                    /*same=*/model.builder().getUnitAttr());
    }
  return x;
}

/// Builds an input of the model: features of each token or, without tokens, one
/// vector of features.
Value autopar::importer::buildInput(ModelBuilder &model,
                                    autopar::model::Block &block, Value) {
  SmallVector<int64_t> dims = {block.integer("width")};
  if (!block.has("tokens"))
    return model.addInput(model.tensor({}, dims));
  if (block.has("columns"))
    dims.insert(dims.begin(), block.integer("columns"));
  return model.addInput(model.tokens(readTokens(model, block), dims));
}

/// Builds a convolution whose stride equals its kernel, as a matmul with each
/// patch.
Value autopar::importer::buildPatchEmbedding(ModelBuilder &model,
                                             autopar::model::Block &block,
                                             Value) {
  std::vector<int64_t> dims = block.integers("dims");
  int64_t width = block.integer("width");
  std::string stem = block.text("name");
  NamedExtent tokens = readTokens(model, block);
  Value patches = model.addInput(model.tokens(tokens, dims));
  std::string storage = "[" + std::to_string(dims.size());
  for (size_t i = 0; i < dims.size(); ++i)
    storage += ", " + std::to_string(i);
  SmallVector<int64_t> shape(dims.begin(), dims.end());
  shape.push_back(width);
  Value w = model.weight(stem + ".weight", shape, storage + "]");
  Value b =
      block.flag("bias") ? model.weight(stem + ".bias", {width}) : Value();
  return LinearOp::create(model.builder(), model.tokens(tokens, {width}),
                          patches, w, b);
}

Value autopar::importer::buildConvolution(ModelBuilder &model,
                                          autopar::model::Block &block,
                                          Value x) {
  int64_t width = block.integer("width"), kernel = block.integer("kernel");
  std::string stem = block.text("name");
  bool hasColumns = TensorView(x).rank() == 4;
  bool isPlane = hasColumns || block.flag("plane");
  block.mayHave({"columns", "columns_first"});
  SmallVector<int64_t> shape = {model.widthOf(x), kernel}, dims;
  if (isPlane)
    shape.push_back(kernel);
  if (hasColumns)
    dims.push_back(block.integer("columns"));
  shape.push_back(width);
  dims.push_back(width);
  const char *storage = !isPlane                      ? "[2, 0, 1]"
                        : block.flag("columns_first") ? "[3, 0, 2, 1]"
                                                      : "[3, 0, 1, 2]";
  Value w = model.weight(stem + ".weight", shape, storage);
  Value b =
      block.flag("bias") ? model.weight(stem + ".bias", {width}) : Value();
  return ConvolutionOp::create(
      model.builder(), model.tokens(readTokens(model, block), dims), x, w, b);
}

Value autopar::importer::createChannelConvolution(ModelBuilder &model, Value x,
                                                  const std::string &stem,
                                                  int64_t kernel, bool isPlane,
                                                  bool bias, Type result) {
  int64_t width = model.widthOf(x);
  SmallVector<int64_t> shape(isPlane ? 3 : 2, kernel);
  shape.front() = width;
  Value w = model.weight(stem + ".weight", shape,
                         isPlane ? "[0, 0/1, 1, 2]" : "[0, 0/1, 1]");
  Value b = bias ? model.weight(stem + ".bias", {width}) : Value();
  return ChannelConvolutionOp::create(model.builder(), result, x, w, b);
}

/// Builds a causal convolution over a whole sequence at once, which keeps no
/// state between steps.
static Value createCausalConvolution(ModelBuilder &model, Value x,
                                     const std::string &stem, int64_t kernel,
                                     bool bias) {
  int64_t width = model.widthOf(x);
  Value w = model.weight(stem + ".weight", {width, kernel}, "[0, 0/1, 1]");
  Value b = bias ? model.weight(stem + ".bias", {width}) : Value();
  return ShortConvOp::create(model.builder(), x.getType(), x, w, b, Value(),
                             FunctionKindAttr());
}

Value autopar::importer::buildChannelConvolution(ModelBuilder &model,
                                                 autopar::model::Block &block,
                                                 Value x) {
  bool hasColumns = TensorView(x).rank() == 4;
  block.mayHave({"columns", "plane"});
  SmallVector<int64_t> dims = {model.widthOf(x)};
  if (block.flag("causal"))
    return createCausalConvolution(model, x, block.text("name"),
                                   block.integer("kernel"), block.flag("bias"));
  if (hasColumns)
    dims.insert(dims.begin(), block.integer("columns"));
  Type type = model.tokens(
      block.has("tokens") ? readTokens(model, block) : model.tokensOf(x), dims);
  return createChannelConvolution(
      model, x, block.text("name"), block.integer("kernel"),
      hasColumns || block.flag("plane"), block.flag("bias"), type);
}

/// Builds a tensor that is passed to layers from outside.
Value autopar::importer::buildWeight(ModelBuilder &model,
                                     autopar::model::Block &block, Value) {
  return model.weight(block.text("name"), block.integers("shape"));
}

Value autopar::importer::buildLayerPart(ModelBuilder &model,
                                        autopar::model::Block &block, Value) {
  Value x = model.saved->lookup(block.text("value"));
  if (!x) {
    block.fail("nothing was saved as \"" + block.text("value") + "\"", "value");
    return {};
  }
  return LayerPartOp::create(model.builder(),
                             model.like(x, {model.widthOf(x)}, 2), x);
}

Value autopar::importer::buildInsert(ModelBuilder &model,
                                     autopar::model::Block &block, Value x) {
  Value y = model.saved->lookup(block.text("value"));
  if (!y) {
    block.fail("nothing was saved as \"" + block.text("value") + "\"", "value");
    return {};
  }
  return InsertOp::create(model.builder(), x.getType(), x, y);
}

Value autopar::importer::buildMergeTokens(ModelBuilder &model,
                                          autopar::model::Block &block,
                                          Value x) {
  NamedExtent tokens = readTokens(model, block);
  bool mean = block.flag("mean");
  int64_t merged = model.tokensOf(x).factor() / tokens.factor();
  int64_t width = model.widthOf(x);
  if (int64_t parts = block.integer("parts", 0)) {
    Type type = model.tokens(tokens, {parts, width / parts});
    return MergeTokensOp::create(model.builder(), type, x, /*mean=*/false);
  }
  if (merged == 1 && !block.has("patch"))
    return x;
  SmallVector<int64_t> dims = {width * (mean ? 1 : merged)};
  if (block.has("patch")) {
    std::vector<int64_t> patch = block.integers("patch");
    dims.assign(patch.begin(), patch.end());
    dims.push_back(width);
  }
  return MergeTokensOp::create(model.builder(), model.tokens(tokens, dims), x,
                               mean);
}

Value autopar::importer::createRowCache(ModelBuilder &model, int64_t size,
                                        int64_t window, Type element) {
  RankedTensorType type =
      model.tensor({model.symbol("batch"), model.symbol("context")}, {size},
                   element ? element : model.cacheFormat());
  ImplicitLocOpBuilder &ops = model.builder();
  return KVCacheOp::create(ops, CacheType::get(type),
                           window ? ops.getI64IntegerAttr(window)
                                  : IntegerAttr(),
                           /*name=*/StringAttr());
}

Value autopar::importer::buildLastToken(ModelBuilder &model,
                                        autopar::model::Block &, Value x) {
  Type type = model.tensor({model.symbol("batch")}, {model.widthOf(x)});
  return LastTokenOp::create(model.builder(), type, x);
}

Value autopar::importer::buildHead(ModelBuilder &model,
                                   autopar::model::Block &block, Value x) {
  ImplicitLocOpBuilder &ops = model.builder();
  int64_t rows = block.integer("rows"), width = model.widthOf(x);
  block.mayHave({"tied_to"});
  std::string name = block.text("table"), tiedTo = block.text("tied_to", "");
  bool tied = block.flag("tied"), transposed = block.flag("transposed");
  Value table;
  if (tied)
    if (WeightOp weight = model.findWeight(model.renamed(tiedTo))) {
      model.storeAsHead(weight);
      table = weight;
    }
  if (tied && !table) {
    block.fail("there is no weight \"" + tiedTo + "\" to be tied to");
    return {};
  }
  if (table && TensorView(table).getType().getShape() !=
                   ArrayRef<int64_t>{rows, width}) {
    block.failField("tied", "a head of " + std::to_string(rows) + " x " +
                                std::to_string(width) +
                                " cannot be tied to \"" + tiedTo +
                                "\", which has another shape");
    return {};
  }
  if (!table)
    table = model.weight(name, {rows, width}, transposed ? "[1, 0]" : "",
                         WeightRole::head);
  Value y = LogitsOp::create(ops, model.like(x, {rows}), x, table);
  if (std::string bias = block.text("bias", ""); !bias.empty())
    y = AddBiasOp::create(ops, y.getType(), y, model.weight(bias, {rows}));
  if (double scale = block.number("scale", 1); scale != 1)
    y = ScaleOp::create(ops, y.getType(), y, ops.getF64FloatAttr(scale));
  if (double cap = block.notNegative("softcap", 0); cap != 0)
    y = SoftcapOp::create(ops, y.getType(), y, ops.getF64FloatAttr(cap));
  return y;
}
