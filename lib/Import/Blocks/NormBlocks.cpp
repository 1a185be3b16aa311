//===- NormBlocks.cpp - Norms and single products -------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Blocks.h"

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

/// {"is": "rms_norm", "name": stem, "eps": number}
Value autopar::buildRMSNorm(ModelBuilder &model, autopar::Block &block,
                            Value x) {
  Value weight =
      model.weight(block.text("name") + ".weight", {model.widthOf(x)});
  return RMSNormOp::create(
      model.builder(), x.getType(), x, weight,
      model.builder().getF64FloatAttr(block.number("eps", 1e-6)));
}

/// {"is": "layer_norm", "name": stem, "eps": number, "bias": flag}
Value autopar::buildLayerNorm(ModelBuilder &model, autopar::Block &block,
                              Value x) {
  std::string stem = block.text("name");
  Value weight = model.weight(stem + ".weight", {model.widthOf(x)});
  Value bias = block.flag("bias", true)
                   ? model.weight(stem + ".bias", {model.widthOf(x)})
                   : Value();
  return LayerNormOp::create(
      model.builder(), x.getType(), x, weight, bias,
      model.builder().getF64FloatAttr(block.number("eps", 1e-5)));
}

/// {"is": "linear", "name": stem, "width": n, "bias": flag}
Value autopar::buildLinear(ModelBuilder &model, autopar::Block &block,
                           Value x) {
  return model.linear(x, block.text("name"), block.integer("width"),
                      block.flag("bias"), block.flag("transposed"));
}
