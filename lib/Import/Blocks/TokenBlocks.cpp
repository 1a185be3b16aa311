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

/// {"is": "embedding", "table": name, "rows": n, "width": n, "ids": tokens}
Value autopar::buildEmbedding(ModelBuilder &model, autopar::Block &block,
                              Value) {
  int64_t rows = block.integer("rows"), width = block.integer("width");
  std::string tokens = block.text("ids", "query");
  Value ids =
      model.addInput(model.tokens(tokens, {}, model.builder().getI32Type()));
  Value table = model.weight(block.text("table"), {rows, width});
  return EmbeddingOp::create(model.builder(), model.tokens(tokens, {width}),
                             ids, table);
}

/// {"is": "last_token"}
Value autopar::buildLastToken(ModelBuilder &model, autopar::Block &, Value x) {
  Type type =
      getTensorType({1, model.widthOf(x)}, {"batch", ""}, model.elementType());
  return LastTokenOp::create(model.builder(), type, x);
}

/// The weight of the model's function that is called `name`.
static Value findWeight(Value x, StringRef name) {
  mlir::Block *block = x.getParentBlock();
  for (WeightOp weight : block->getOps<WeightOp>())
    if (weight.getName() == name)
      return weight;
  return {};
}

/// {"is": "head", "table": name, "rows": n, "tied_to": name, "tied": flag}
Value autopar::buildHead(ModelBuilder &model, autopar::Block &block, Value x) {
  int64_t rows = block.integer("rows"), width = model.widthOf(x);
  bool tied = block.flag("tied");
  std::string name = block.text("table");
  std::string embedding = block.text("tied_to", "");
  Value table = tied ? findWeight(x, model.renamed(embedding)) : Value();
  if (tied && !table) {
    block.fail("there is no weight \"" + embedding + "\" to be tied to");
    return {};
  }
  if (!table)
    table = model.weight(name, {rows, width});
  return LogitsOp::create(
      model.builder(),
      getTensorType({1, rows}, {"batch", ""}, model.elementType()), x, table);
}
