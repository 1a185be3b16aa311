//===- TokenBackward.cpp - Gradients of products, norms, tables -----------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BackwardBuilder.h"

using namespace autopar;
using namespace autopar::transforms;
using namespace autopar::training;
using namespace autopar::transformer;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Backwards of elementwise ops
//===----------------------------------------------------------------------===//

static LogicalResult build(AddOp op, BackwardBuilder &back) {
  Value dy = back.gradientOf(op.getResult());
  back.add(op.getLhs(), dy);
  back.add(op.getRhs(), dy);
  return success();
}

static LogicalResult build(ScaleOp op, BackwardBuilder &back) {
  Value dy = back.gradientOf(op.getResult());
  back.add(op.getX(), ScaleOp::create(*back, op.getLoc(), dy.getType(), dy,
                                      op.getFactorAttr()));
  return success();
}

static LogicalResult build(CastOp op, BackwardBuilder &back) {
  Value dy = back.gradientOf(op.getResult());
  back.add(op.getX(),
           CastOp::create(*back, op.getLoc(), op.getX().getType(), dy));
  return success();
}

static LogicalResult build(ActivationOp op, BackwardBuilder &back) {
  Value dy = back.gradientOf(op.getResult());
  back.add(op.getX(), ActivationBackwardOp::create(
                          *back, op.getLoc(), dy.getType(), dy,
                          back.valueOf(op.getX()), op.getFunctionAttr()));
  return success();
}

static LogicalResult build(GatedOp op, BackwardBuilder &back) {
  Value dy = back.gradientOf(op.getResult());
  auto made = GatedBackwardOp::create(
      *back, op.getLoc(), dy.getType(), dy.getType(), dy,
      back.valueOf(op.getGate()), back.valueOf(op.getUp()),
      op.getFunctionAttr(), op.getUnitOffsetAttr(), op.getLimitAttr());
  back.add(op.getGate(), made.getDGate());
  back.add(op.getUp(), made.getDUp());
  return success();
}

static LogicalResult build(SoftcapOp op, BackwardBuilder &back) {
  Value dy = back.gradientOf(op.getResult());
  back.add(op.getX(),
           SoftcapBackwardOp::create(*back, op.getLoc(), dy.getType(), dy,
                                     back.valueOf(op.getX()), op.getCapAttr()));
  return success();
}

static LogicalResult build(MultiplyOp op, BackwardBuilder &back) {
  Value dy = back.gradientOf(op.getResult());
  Value factors = back.valueOf(op.getFactors());
  back.add(op.getFactors(),
           FactorGradientOp::create(*back, op.getLoc(),
                                    back.gradientTypeOf(op.getFactors()), dy,
                                    back.valueOf(op.getX()), factors));
  back.add(op.getX(),
           MultiplyOp::create(*back, op.getLoc(), dy.getType(), dy, factors));
  return success();
}

static LogicalResult build(DropoutOp op, BackwardBuilder &back) {
  Value dy = back.gradientOf(op.getResult());
  back.add(op.getX(), DropoutOp::create(*back, op.getLoc(), dy.getType(), dy,
                                        back.valueOf(op.getMask()),
                                        op.getProbabilityAttr()));
  return success();
}

static LogicalResult build(DropoutMaskOp, BackwardBuilder &) {
  return success();
}

//===----------------------------------------------------------------------===//
// Backwards of matmuls
//===----------------------------------------------------------------------===//

/// Adds the gradient of `bias`, which was added to every token; does nothing if
/// it is null.
static void addBias(Value bias, Value dy, BackwardBuilder &back) {
  if (bias)
    back.add(bias, SumTokensOp::create(*back, bias.getLoc(),
                                       back.gradientTypeOf(bias), dy,
                                       back.valueOf(bias)));
}

static LogicalResult build(LinearOp op, BackwardBuilder &back) {
  Value dy = back.gradientOf(op.getResult());
  Value weight = back.valueOf(op.getWeight());
  addBias(op.getBias(), dy, back);
  back.addProduct(op, op.getWeight(), ProductRole::weight,
                  back.valueOf(op.getX()), dy);
  if (back.wants(op.getX()))
    back.addProduct(op, op.getX(), ProductRole::input, dy, weight);
  return success();
}

static LogicalResult build(AddBiasOp op, BackwardBuilder &back) {
  Value dy = back.gradientOf(op.getResult());
  addBias(op.getBias(), dy, back);
  back.add(op.getX(), dy);
  return success();
}

static LogicalResult build(LogitsOp op, BackwardBuilder &back) {
  Value dy = back.gradientOf(op.getResult());
  Value table = back.valueOf(op.getTable());
  back.addProduct(op, op.getTable(), ProductRole::weight, dy,
                  back.valueOf(op.getX()));
  back.addProduct(op, op.getX(), ProductRole::states, dy, table);
  return success();
}

static LogicalResult build(CrossEntropyOp op, BackwardBuilder &back) {
  back.add(op.getX(), CrossEntropyBackwardOp::create(
                          *back, op.getLoc(), op.getX().getType(),
                          back.valueOf(op.getX()), back.valueOf(op.getLabels()),
                          op.getFormAttr(), op.getChunksAttr()));
  return success();
}

//===----------------------------------------------------------------------===//
// Backwards of embedding tables
//===----------------------------------------------------------------------===//

static LogicalResult build(EmbeddingOp op, BackwardBuilder &back) {
  Value dy = back.gradientOf(op.getResult());
  back.add(op.getTable(),
           EmbeddingGradientOp::create(
               *back, op.getLoc(), back.gradientTypeOf(op.getTable()),
               back.valueOf(op.getIds()), dy, back.valueOf(op.getTable())));
  return success();
}

static LogicalResult build(PositionEmbeddingOp op, BackwardBuilder &back) {
  Value dy = back.gradientOf(op.getResult());
  back.add(op.getTable(),
           PositionGradientOp::create(*back, op.getLoc(),
                                      back.gradientTypeOf(op.getTable()), dy,
                                      back.valueOf(op.getTable()),
                                      op.getFirstAttr(), op.getSameAttr()));
  back.add(op.getX(), dy);
  return success();
}

//===----------------------------------------------------------------------===//
// Backwards of ops that select or move tokens
//===----------------------------------------------------------------------===//

static LogicalResult build(InsertOp op, BackwardBuilder &back) {
  Value dz = back.gradientOf(op.getResult());
  auto made = InsertBackwardOp::create(*back, op.getLoc(), dz.getType(),
                                       op.getY().getType(), dz);
  back.add(op.getX(), made.getDx());
  back.add(op.getY(), made.getDInserted());
  return success();
}

static LogicalResult build(MergeTokensOp op, BackwardBuilder &back) {
  if (back.wants(op.getX()))
    back.add(op.getX(), MergeTokensBackwardOp::create(
                            *back, op.getLoc(), op.getX().getType(),
                            back.gradientOf(op.getResult()), op.getMeanAttr()));
  return success();
}

//===----------------------------------------------------------------------===//
// Backwards of norms
//===----------------------------------------------------------------------===//

namespace {

/// The properties in which kinds of norms differ.
struct NormForm {
  UnitAttr centered, unitOffset;
  IntegerAttr groups;
};

} // namespace

template <typename Norm>
static LogicalResult buildNorm(Norm op, NormForm form, BackwardBuilder &back) {
  Value dy = back.gradientOf(op.getResult()), x = back.valueOf(op.getX());
  Value weight = op.getWeight() ? back.valueOf(op.getWeight()) : Value();
  addBias(op.getBias(), dy, back);
  if (weight)
    back.add(op.getWeight(),
             NormGradientOp::create(*back, op.getLoc(),
                                    back.gradientTypeOf(op.getWeight()), dy, x,
                                    weight, form.centered, op.getOverAttr(),
                                    op.getEpsAttr(), form.groups));
  back.add(op.getX(), NormBackwardOp::create(*back, op.getLoc(), dy.getType(),
                                             dy, x, weight, form.centered,
                                             op.getOverAttr(), op.getEpsAttr(),
                                             form.unitOffset, form.groups));
  return success();
}

static LogicalResult build(RMSNormOp op, BackwardBuilder &back) {
  return buildNorm(op, {{}, op.getUnitOffsetAttr(), op.getGroupsAttr()}, back);
}

static LogicalResult build(LayerNormOp op, BackwardBuilder &back) {
  return buildNorm(op, {back->getUnitAttr(), {}, {}}, back);
}

void autopar::transforms::attachTokenBackwards(MLIRContext *context) {
  attachBackward<AddOp, build, LayerRole::residual>(context);
  attachBackward<ScaleOp, build>(context);
  attachBackward<CastOp, build>(context);
  attachBackward<ActivationOp, build, LayerRole::activation>(context);
  attachBackward<GatedOp, build, LayerRole::activation>(context);
  attachBackward<SoftcapOp, build>(context);
  attachBackward<MultiplyOp, build>(context);
  attachBackward<DropoutOp, build>(context);
  attachBackward<DropoutMaskOp, build>(context);
  attachBackward<LinearOp, build, LayerRole::product>(context);
  attachBackward<AddBiasOp, build>(context);
  attachBackward<LogitsOp, build>(context);
  attachBackward<CrossEntropyOp, build>(context);
  attachBackward<EmbeddingOp, build>(context);
  attachBackward<PositionEmbeddingOp, build>(context);
  attachBackward<InsertOp, build>(context);
  attachBackward<MergeTokensOp, build>(context);
  attachBackward<RMSNormOp, build, LayerRole::norm>(context);
  attachBackward<LayerNormOp, build, LayerRole::norm>(context);
}
