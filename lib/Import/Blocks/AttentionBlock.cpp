//===- AttentionBlock.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Blocks.h"

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

namespace {

/// Writes one attention from its parameters.
class AttentionBuilder {
public:
  AttentionBuilder(ModelBuilder &model, autopar::Block &block)
      : model(model), block(block), ops(model.builder()),
        heads(block.integer("heads")),
        kvHeads(block.integer("kv_heads", heads)),
        width(block.integer("head_dim")) {}

  Value build(Value x) {
    bool bias = block.flag("input_bias");
    Value q = project(x, block.text("q"), heads, bias);
    Value k = project(x, block.text("k"), kvHeads, bias);
    Value v = project(x, block.text("v"), kvHeads, bias);
    q = norm(q, "q_norm");
    k = norm(k, "k_norm");
    IntegerAttr window;
    if (int64_t tokens = block.integer("window", 0))
      window = ops.getI64IntegerAttr(tokens);
    Type cacheType =
        getTensorType({2, 1, 1, kvHeads, width},
                      {"", "batch", "context", "", ""}, model.elementType());
    Value cache = KVCacheOp::create(ops, cacheType, window);
    q = rope(q);
    k = rope(k);
    Value y = AttentionOp::create(ops, q.getType(), q, k, v, cache,
                                  ops.getUnitAttr(), window);
    return output(y, model.widthOf(x));
  }

private:
  Value project(Value x, const std::string &stem, int64_t count, bool bias) {
    Value w = model.weight(stem + ".weight", {model.widthOf(x), count, width},
                           "[1*2, 0]", WeightRole::product);
    Value b =
        bias ? model.weight(stem + ".bias", {count, width}, "[0*1]") : Value();
    return LinearOp::create(ops, model.like(x, {count, width}), x, w, b);
  }

  Value norm(Value x, const char *key) {
    if (!block.has(key))
      return x;
    Value weight = model.weight(block.text(key) + ".weight", {width});
    return RMSNormOp::create(ops, x.getType(), x, weight,
                             ops.getF64FloatAttr(block.number("eps", 1e-6)));
  }

  Value rope(Value x) {
    if (!block.has("rope_theta"))
      return x;
    std::string scaling = block.choice("rope_scaling");
    return RopeOp::create(
        ops, x.getType(), x,
        ops.getF64FloatAttr(block.number("rope_theta", 10000)),
        scaling.empty() ? StringAttr() : ops.getStringAttr(scaling));
  }

  Value output(Value y, int64_t hidden) {
    std::string stem = block.text("o");
    Value w = model.weight(stem + ".weight", {heads, width, hidden}, "[2, 0*1]",
                           WeightRole::product);
    Value b = block.flag("output_bias") ? model.weight(stem + ".bias", {hidden})
                                        : Value();
    return LinearOp::create(ops, model.like(y, {hidden}, 2), y, w, b);
  }

  ModelBuilder &model;
  autopar::Block &block;
  ImplicitLocOpBuilder &ops;
  int64_t heads, kvHeads, width;
};

} // namespace

Value autopar::buildAttention(ModelBuilder &model, autopar::Block &block,
                              Value x) {
  return AttentionBuilder(model, block).build(x);
}
