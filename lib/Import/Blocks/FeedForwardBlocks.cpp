//===- FeedForwardBlocks.cpp - Dense and routed ---------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Blocks.h"

#include "autopar/Support/Text.h"

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

FunctionKind autopar::functionOf(autopar::Block &block,
                                 const std::string &name) {
  std::optional<FunctionKind> function = symbolizeFunctionKind(name);
  if (!function)
    block.fail("unknown function \"" + shorten(name) + "\"", "activation");
  return function.value_or(FunctionKind::silu);
}

/// {"is": "feed_forward", "width": n, "gate": stem, "up": stem, "down": stem,
///  "bias": flag, "activation": function}; without "gate" it is not gated.
Value autopar::buildFeedForward(ModelBuilder &model, autopar::Block &block,
                                Value x) {
  ImplicitLocOpBuilder &ops = model.builder();
  int64_t width = block.integer("width"), hidden = model.widthOf(x);
  bool bias = block.flag("bias");
  FunctionKind function = functionOf(block, block.choice("activation"));
  Value y;
  if (block.has("gate")) {
    Value gate = model.linear(x, block.text("gate"), width, bias);
    Value up = model.linear(x, block.text("up"), width, bias);
    y = GatedOp::create(ops, gate.getType(), gate, up, function);
  } else {
    Value up = model.linear(x, block.text("up"), width, bias);
    y = ActivationOp::create(ops, up.getType(), up, function);
  }
  return model.linear(y, block.text("down"), hidden, bias);
}

static Value routedProduct(ModelBuilder &model, Value x, Value set,
                           const std::string &stem, int64_t experts,
                           int64_t topK, int64_t in, int64_t out) {
  Value w = model.weight(stem + ".weight", {experts, in, out}, "[2, 1]",
                         WeightRole::expert);
  return ExpertsOp::create(model.builder(), model.routed(x, topK, out), set, w,
                           topK);
}

/// {"is": "experts", "experts": n, "top_k": n, "width": n, "router": stem,
///  "gate": stem with *, "up": ..., "down": ..., "activation": function}
Value autopar::buildExperts(ModelBuilder &model, autopar::Block &block,
                            Value x) {
  ImplicitLocOpBuilder &ops = model.builder();
  int64_t experts = block.integer("experts"), topK = block.integer("top_k"),
          width = block.integer("width"), hidden = model.widthOf(x);
  FunctionKind function = functionOf(block, block.choice("activation"));
  Value router = model.weight(block.text("router") + ".weight",
                              {hidden, experts}, "[1, 0]");
  Value routing = RouterOp::create(ops, model.like(x, {topK}), x, router, topK);
  Value set =
      DispatchOp::create(ops, model.routed(x, topK, hidden), x, routing);
  Value gate = routedProduct(model, x, set, block.text("gate"), experts, topK,
                             hidden, width);
  Value up = routedProduct(model, x, set, block.text("up"), experts, topK,
                           hidden, width);
  Value y = GatedOp::create(ops, gate.getType(), gate, up, function);
  Value down = routedProduct(model, x, y, block.text("down"), experts, topK,
                             width, hidden);
  return CombineOp::create(ops, x.getType(), down, routing);
}
