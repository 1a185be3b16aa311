//===- NormBlocks.cpp - Norms, products, elements -------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Blocks.h"

#include "autopar/Interfaces/TensorView.h"
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

Value autopar::createNorm(ModelBuilder &model, Value x, const NormSpec &norm) {
  ImplicitLocOpBuilder &ops = model.builder();
  SmallVector<int64_t> shape = norm.shape;
  if (shape.empty())
    shape.push_back(model.widthOf(x));
  Value weight, bias;
  if (norm.hasWeight)
    weight = model.weight(norm.stem + ".weight", shape, norm.storage);
  if (norm.hasBias)
    bias = model.weight(norm.stem + ".bias", shape, norm.storage);
  auto over = ops.getI64IntegerAttr(norm.over);
  auto eps = ops.getF64FloatAttr(norm.eps);
  if (norm.isLayerNorm)
    return LayerNormOp::create(ops, x.getType(), x, weight, bias, over, eps);
  return RMSNormOp::create(ops, x.getType(), x, weight, bias, over, eps,
                           norm.unitOffset ? ops.getUnitAttr() : UnitAttr());
}

static Value buildNorm(ModelBuilder &model, autopar::Block &block, Value x,
                       bool isLayerNorm) {
  NormSpec norm;
  norm.isLayerNorm = isLayerNorm;
  block.mayHave({"name"});
  norm.hasWeight = block.flag("weight", true);
  norm.hasBias = block.flag("bias", isLayerNorm);
  norm.unitOffset = block.flag("unit_offset");
  norm.stem = norm.hasWeight || norm.hasBias ? block.text("name") : "";
  norm.eps = block.number("eps", isLayerNorm ? 1e-5 : 1e-6);
  return createNorm(model, x, norm);
}

Value autopar::buildRMSNorm(ModelBuilder &model, autopar::Block &block,
                            Value x) {
  return buildNorm(model, block, x, /*isLayerNorm=*/false);
}

Value autopar::buildLayerNorm(ModelBuilder &model, autopar::Block &block,
                              Value x) {
  return buildNorm(model, block, x, /*isLayerNorm=*/true);
}

Value autopar::createGated(ModelBuilder &model, Value gate, Value up,
                           FunctionKind function) {
  return GatedOp::create(model.builder(), gate.getType(), gate, up, function);
}

Value autopar::createProduct(ModelBuilder &model, Value x, Value w,
                             Value bias) {
  ArrayRef<int64_t> xShape = TensorView(x).getType().getShape();
  ArrayRef<int64_t> shape = TensorView(w).getType().getShape();
  // As many dimensions are contracted as agree; the first always is.
  unsigned contracted = 0;
  for (unsigned n = 1; n <= shape.size() && n + 2 <= xShape.size(); ++n)
    if (xShape.take_back(n) == shape.take_front(n))
      contracted = n;
  return LinearOp::create(
      model.builder(), model.like(x, shape.drop_front(contracted), contracted),
      x, w, bias);
}

Value autopar::buildLinear(ModelBuilder &model, autopar::Block &block,
                           Value x) {
  Value y = model.linear(x, block.text("name"), block.integer("width"),
                         block.flag("bias"), block.flag("transposed"));
  if (!block.has("activation"))
    return y;
  return ActivationOp::create(model.builder(), y.getType(), y,
                              functionOf(block, block.choice("activation")));
}

Value autopar::buildActivation(ModelBuilder &model, autopar::Block &block,
                               Value x) {
  return ActivationOp::create(model.builder(), x.getType(), x,
                              functionOf(block, block.choice("function")));
}

Value autopar::buildScale(ModelBuilder &model, autopar::Block &block, Value x) {
  double factor = block.number("by", 1);
  if (factor == 1)
    return x;
  return ScaleOp::create(model.builder(), x.getType(), x,
                         model.builder().getF64FloatAttr(factor));
}

Value autopar::buildSoftcap(ModelBuilder &model, autopar::Block &block,
                            Value x) {
  double cap = block.number("at", 0);
  if (cap == 0)
    return x;
  return SoftcapOp::create(model.builder(), x.getType(), x,
                           model.builder().getF64FloatAttr(cap));
}
