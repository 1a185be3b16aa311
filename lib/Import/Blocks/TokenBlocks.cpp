//===- TokenBlocks.cpp - Tokens in, tokens out ----------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Blocks.h"

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

Value autopar::buildEmbedding(ModelBuilder &model, autopar::Block &block,
                              Value) {
  ImplicitLocOpBuilder &ops = model.builder();
  int64_t width = block.integer("width"), rows = block.integer("rows");
  std::string tokens = block.text("ids", "query");
  Value ids = model.addInput(model.tokens(tokens, {}, ops.getI32Type()));
  Value table = model.weight(block.text("table"), {rows, width});
  Value x = EmbeddingOp::create(ops, model.tokens(tokens, {width}), ids, table);
  double scale = block.number("scale", 1);
  return scale == 1
             ? x
             : ScaleOp::create(ops, x.getType(), x, ops.getF64FloatAttr(scale))
                   .getResult();
}

Value autopar::buildPositionEmbedding(ModelBuilder &model,
                                      autopar::Block &block, Value x) {
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

Value autopar::buildInput(ModelBuilder &model, autopar::Block &block, Value) {
  return model.addInput(
      model.tokens(block.text("tokens"), {block.integer("width")}));
}

/// A convolution whose stride is its kernel: a product with each patch.
Value autopar::buildPatchEmbedding(ModelBuilder &model, autopar::Block &block,
                                   Value) {
  std::vector<int64_t> dims = block.integers("dims");
  int64_t width = block.integer("width");
  std::string stem = block.text("name"), tokens = block.text("tokens");
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

Value autopar::buildConvolution(ModelBuilder &model, autopar::Block &block,
                                Value x) {
  int64_t width = block.integer("width"), kernel = block.integer("kernel");
  std::string stem = block.text("name");
  Value w = model.weight(stem + ".weight", {model.widthOf(x), kernel, width},
                         "[2, 0, 1]");
  Value b =
      block.flag("bias") ? model.weight(stem + ".bias", {width}) : Value();
  return ConvolutionOp::create(
      model.builder(), model.tokens(block.text("tokens"), {width}), x, w, b);
}

Value autopar::buildInsert(ModelBuilder &model, autopar::Block &block,
                           Value x) {
  Value y = model.saved->lookup(block.text("value"));
  if (!y) {
    block.fail("nothing was saved as \"" + block.text("value") + "\"", "value");
    return {};
  }
  return InsertOp::create(model.builder(), x.getType(), x, y);
}

/// The number in front of the symbol: 4 of "source*4".
static int64_t factorOf(StringRef tokens) {
  int64_t factor = 1, part;
  SmallVector<StringRef> words;
  tokens.split(words, '*');
  for (StringRef word : words)
    if (!word.getAsInteger(10, part))
      factor *= part;
  return factor;
}

Value autopar::buildMergeTokens(ModelBuilder &model, autopar::Block &block,
                                Value x) {
  std::string tokens = block.text("tokens");
  bool mean = block.flag("mean");
  int64_t groups = factorOf(tokens);
  int64_t merged = factorOf(model.tokensOf(x)) / std::max<int64_t>(groups, 1);
  if (merged == 1)
    return x;
  Type type = model.tokens(tokens, {model.widthOf(x) * (mean ? 1 : merged)});
  return MergeTokensOp::create(model.builder(), type, x, mean);
}

Value autopar::buildLastToken(ModelBuilder &model, autopar::Block &, Value x) {
  Type type =
      getTensorType({1, model.widthOf(x)}, {"batch", ""}, model.elementType());
  return LastTokenOp::create(model.builder(), type, x);
}

Value autopar::buildHead(ModelBuilder &model, autopar::Block &block, Value x) {
  ImplicitLocOpBuilder &ops = model.builder();
  int64_t rows = block.integer("rows"), width = model.widthOf(x);
  block.mayHave({"tied_to"});
  std::string name = block.text("table"), tiedTo = block.text("tied_to", "");
  bool tied = block.flag("tied"), transposed = block.flag("transposed");
  Value table;
  if (tied)
    if (WeightOp weight = model.findWeight(model.renamed(tiedTo)))
      table = weight;
  if (tied && !table) {
    block.fail("there is no weight \"" + tiedTo + "\" to be tied to");
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
  if (double cap = block.number("softcap", 0); cap != 0)
    y = SoftcapOp::create(ops, y.getType(), y, ops.getF64FloatAttr(cap));
  return y;
}
