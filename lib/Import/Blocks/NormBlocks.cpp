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
using namespace autopar::importer;
using namespace autopar::model;
using namespace autopar::transformer;
using namespace mlir;

FunctionKind autopar::importer::functionOf(autopar::model::Block &block,
                                           const std::string &name) {
  std::optional<FunctionKind> function = symbolizeFunctionKind(name);
  if (!function)
    block.fail("unknown function \"" + shorten(name) + "\"", "activation");
  return function.value_or(FunctionKind::silu);
}

Value autopar::importer::createNorm(ModelBuilder &model, Value x,
                                    const NormSpec &norm) {
  ImplicitLocOpBuilder &ops = model.builder();
  SmallVector<int64_t> shape = norm.shape;
  if (shape.empty())
    shape.push_back(model.widthOf(x));
  Value weight, bias;
  if (norm.hasWeight)
    weight =
        model.weight(norm.tensor.empty() ? norm.stem + ".weight" : norm.tensor,
                     shape, norm.storage);
  if (norm.hasBias)
    bias = model.weight(norm.stem + ".bias", shape, norm.storage);
  auto over = ops.getI64IntegerAttr(norm.over);
  auto eps = ops.getF64FloatAttr(norm.eps);
  if (norm.isLayerNorm)
    return LayerNormOp::create(ops, x.getType(), x, weight, bias, over, eps);
  return RMSNormOp::create(
      ops, x.getType(), x, weight, bias, Value(), over, eps,
      norm.unitOffset ? ops.getUnitAttr() : UnitAttr(),
      norm.groups > 1 ? ops.getI64IntegerAttr(norm.groups) : IntegerAttr());
}

static Value buildNorm(ModelBuilder &model, autopar::model::Block &block,
                       Value x, bool isLayerNorm) {
  NormSpec norm;
  norm.isLayerNorm = isLayerNorm;
  block.mayHave({"name", "unit_offset"});
  norm.tensor = block.text("tensor", "");
  norm.hasWeight = block.flag("weight", true);
  norm.hasBias = block.flag("bias", isLayerNorm);
  norm.unitOffset = block.flag("unit_offset");
  bool isNamed = norm.hasBias || (norm.hasWeight && norm.tensor.empty());
  norm.stem = isNamed ? block.text("name") : "";
  norm.eps = block.notNegative("eps", isLayerNorm ? 1e-5 : 1e-6);
  block.mayHave({"at", "of"});
  if (block.has("of"))
    norm.storage = "[0 at " + std::to_string(block.integer("at", 0)) + " of " +
                   std::to_string(block.integer("of")) + "]";
  return createNorm(model, x, norm);
}

Value autopar::importer::buildRMSNorm(ModelBuilder &model,
                                      autopar::model::Block &block, Value x) {
  return buildNorm(model, block, x, /*isLayerNorm=*/false);
}

Value autopar::importer::buildLayerNorm(ModelBuilder &model,
                                        autopar::model::Block &block, Value x) {
  return buildNorm(model, block, x, /*isLayerNorm=*/true);
}

Value autopar::importer::buildBatchNorm(ModelBuilder &model,
                                        autopar::model::Block &block, Value x) {
  std::string stem = block.text("name");
  auto channels = [&](const char *name) {
    return model.weight(stem + "." + name, {model.widthOf(x)});
  };
  return BatchNormOp::create(
      model.builder(), x.getType(), x, channels("running_mean"),
      channels("running_var"), channels("weight"), channels("bias"),
      model.builder().getF64FloatAttr(block.notNegative("eps", 1e-5)));
}

Value autopar::importer::createGated(ModelBuilder &model, Value gate, Value up,
                                     FunctionKind function, double limit,
                                     bool unitOffset) {
  ImplicitLocOpBuilder &ops = model.builder();
  return GatedOp::create(ops, gate.getType(), gate, up, function, unitOffset,
                         limit != 0 ? ops.getF64FloatAttr(limit) : FloatAttr());
}

Value autopar::importer::createProduct(ModelBuilder &model, Value x, Value w,
                                       Value bias) {
  ArrayRef<int64_t> xShape = TensorView(x).getType().getShape();
  ArrayRef<int64_t> shape = TensorView(w).getType().getShape();
  // Contracts as many dimensions as `x` and the weight have in common, at least
  // one.
  unsigned contracted = 0;
  for (unsigned n = 1; n <= shape.size() && n + 2 <= xShape.size(); ++n)
    if (xShape.take_back(n) == shape.take_front(n))
      contracted = n;
  return LinearOp::create(
      model.builder(), model.like(x, shape.drop_front(contracted), contracted),
      x, w, bias);
}

Value autopar::importer::createHeads(ModelBuilder &model, Value x,
                                     const std::string &stem, int64_t heads,
                                     int64_t size) {
  return createProduct(model, x,
                       model.weight(stem + ".weight",
                                    {model.widthOf(x), heads, size}, "[1*2, 0]",
                                    WeightRole::product));
}

/// Returns the storage of a matmul's weight: a range of the tensor's columns
/// ("in_at", "in_of"), or the shape of a convolution.
static std::string storageOf(autopar::model::Block &block, int64_t at,
                             int64_t of) {
  block.mayHave({"in_at", "in_of"});
  std::string in = "0";
  if (of)
    in += " at " + std::to_string(at) + " of " + std::to_string(of);
  if (block.flag("transposed"))
    return "[" + in + ", 1]";
  std::string storage = "[1, " + in;
  if (block.has("shape"))
    for (size_t extra = block.integers("shape").size(); extra > 2; --extra)
      storage += ", 0/1";
  return storage + "]";
}

/// Returns `x` times the weight `name`. With `copies`, the stored tensor
/// [out, in] multiplies that many copies of `x` side by side: the result is the
/// sum of the products of `x` with each copy's range of columns.
static Value addProducts(ModelBuilder &model, autopar::model::Block &block,
                         Value x, const std::string &name, Value bias) {
  int64_t in = model.widthOf(x), width = block.integer("width");
  // Patches that still have several dimensions are multiplied with the weight
  // of a convolution; columns of a plane with one whose checkpoint stores their
  // elements side by side.
  if (ArrayRef<int64_t> shape = TensorView(x).getType().getShape();
      shape.size() > 3 && !block.flag("each_stream")) {
    SmallVector<int64_t> dims(shape.drop_front(2));
    dims.push_back(width);
    Value w = model.weight(name, dims,
                           shape.size() == 5 ? "[3, 2, 0, 1]" : "[2, 1*0]",
                           WeightRole::product);
    return createProduct(model, x, w, bias);
  }
  int64_t copies = block.integer("copies", 1);
  auto addProduct = [&](int64_t i, Value bias) -> Value {
    bool isRange = copies > 1 || block.has("in_of");
    int64_t at = copies > 1 ? i * in : block.integer("in_at", 0);
    int64_t of = copies > 1 ? copies * in : block.integer("in_of", 0);
    Value w =
        model.weight(name, {in, width}, storageOf(block, at, isRange ? of : 0),
                     WeightRole::product);
    return LinearOp::create(model.builder(), model.like(x, {width}), x, w,
                            bias);
  };
  Value sum = addProduct(0, bias);
  for (int64_t i = 1; i < copies; ++i)
    sum = AddOp::create(model.builder(), sum.getType(), sum,
                        addProduct(i, Value()));
  return sum;
}

Value autopar::importer::buildLinear(ModelBuilder &model,
                                     autopar::model::Block &block, Value x) {
  block.mayHave({"name", "bias", "each_stream"});
  std::string name = block.text("weight", "");
  Value bias;
  if (name.empty()) {
    // A layer that is only a matmul has no name of its own in its list.
    std::string stem = block.text("name");
    stem += stem.empty() ? "" : ".";
    name = stem + "weight";
    if (block.flag("bias"))
      bias = model.weight(stem + "bias", {block.integer("width")});
  }
  Value y = addProducts(model, block, x, name, bias);
  if (!block.has("activation"))
    return y;
  return ActivationOp::create(model.builder(), y.getType(), y,
                              functionOf(block, block.choice("activation")));
}

Value autopar::importer::buildActivation(ModelBuilder &model,
                                         autopar::model::Block &block,
                                         Value x) {
  return ActivationOp::create(model.builder(), x.getType(), x,
                              functionOf(block, block.choice("function")));
}

Value autopar::importer::buildSoftmax(ModelBuilder &model,
                                      autopar::model::Block &, Value x) {
  return SoftmaxOp::create(model.builder(), x.getType(), x);
}

Value autopar::importer::buildScale(ModelBuilder &model,
                                    autopar::model::Block &block, Value x) {
  if (block.has("value")) {
    Value factors = model.saved->lookup(block.text("value"));
    if (factors)
      return MultiplyOp::create(model.builder(), x.getType(), x, factors);
    block.fail("nothing was saved under this name", "value");
    return {};
  }
  if (block.has("name"))
    return MultiplyOp::create(
        model.builder(), x.getType(), x,
        model.weight(block.text("name"), {block.integer("width", 1)}));
  double factor = block.number("by", 1);
  if (factor == 1)
    return x;
  return ScaleOp::create(model.builder(), x.getType(), x,
                         model.builder().getF64FloatAttr(factor));
}

Value autopar::importer::buildSoftcap(ModelBuilder &model,
                                      autopar::model::Block &block, Value x) {
  double cap = block.notNegative("at", 0);
  if (cap == 0)
    return x;
  return SoftcapOp::create(model.builder(), x.getType(), x,
                           model.builder().getF64FloatAttr(cap));
}
