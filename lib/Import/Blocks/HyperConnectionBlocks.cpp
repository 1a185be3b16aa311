//===- HyperConnectionBlocks.cpp - Several residual streams ---------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Blocks.h"

using namespace autopar;
using namespace autopar::importer;
using namespace autopar::transformer;
using namespace mlir;

Value autopar::importer::buildHyperExpand(ModelBuilder &model,
                                          autopar::model::Block &block,
                                          Value x) {
  int64_t streams = block.integer("streams");
  return HyperExpandOp::create(model.builder(),
                               model.like(x, {streams, model.widthOf(x)}), x);
}

/// The coefficients of hyper-connections are stored and computed in f32.
Value autopar::importer::buildHyperPre(ModelBuilder &model,
                                       autopar::model::Block &block, Value x) {
  ImplicitLocOpBuilder &ops = model.builder();
  TensorView streams(x);
  if (streams.rank() != 4) {
    block.fail("there are no streams to mix: no hyper_expand is in front");
    return {};
  }
  int64_t count = streams.getType().getDimSize(2), width = model.widthOf(x);
  Type f32 = ops.getF32Type(), post, residual;
  FloatAttr magnitude;
  IntegerAttr sinkhorn;
  int64_t coefficients = count, scales = 1;
  auto add = [&](ArrayRef<int64_t> dims, int64_t more) {
    coefficients += more;
    ++scales;
    return model.tokens(model.tokensOf(x), dims, f32);
  };
  if (block.has("post")) {
    magnitude = ops.getF64FloatAttr(block.positive("post", 1));
    post = add({count}, count);
  }
  if (int64_t iterations = block.integer("sinkhorn", 0)) {
    sinkhorn = ops.getI64IntegerAttr(iterations);
    residual = add({count, count}, count * count);
  }
  Value weight = model.weight(block.text("weight"),
                              {count, width, coefficients}, f32, "[2, 0*1]");
  Value base = model.weight(block.text("base"), {coefficients}, f32);
  Value scale = model.weight(block.text("scale"), {scales}, f32);
  return HyperPreOp::create(
             ops, model.like(x, {width}, 2), post, residual, x, weight, base,
             scale, ops.getF64FloatAttr(block.notNegative("eps", 1e-6)),
             ops.getF64FloatAttr(block.notNegative("gate_eps", 1e-6)),
             magnitude, sinkhorn)
      .getResult();
}
