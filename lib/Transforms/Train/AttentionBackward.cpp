//===- AttentionBackward.cpp - Gradients of attention ---------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BackwardBuilder.h"
#include "TrainingForms.h"

using namespace autopar;
using namespace autopar::transforms;
using namespace autopar::training;
using namespace autopar::transformer;
using namespace mlir;

static LogicalResult build(RopeOp op, BackwardBuilder &back) {
  if (op.getInverse())
    return op.emitOpError("with inverse angles has no backward yet");
  Value dy = back.gradientOf(op.getResult());
  back.add(op.getX(),
           RopeBackwardOp::create(*back, op.getLoc(), dy.getType(), dy,
                                  op.getThetaAttr(), op.getScalingAttr(),
                                  op.getWidthAttr(), op.getLastAttr(),
                                  op.getInterleavedAttr()));
  return success();
}

/// Returns the type of an attention's normaliser: `[batch, query, heads]` of
/// f32.
static Type normaliserTypeOf(Value query) {
  TensorView view(query);
  return getTensorType(view.getType().getShape().drop_back(),
                       ArrayRef(namesOf(view)).drop_back(),
                       Float32Type::get(query.getContext()));
}

/// Returns what an attention has for which there is no backward yet, as text
/// for an error; null if it has nothing such.
static const char *findUnknown(AttentionOp op) {
  if (op.getCache())
    return "a cache";
  if (op.getBias() || op.getDown() || op.getDistances())
    return "learned biases of positions";
  if (op.getSelected())
    return "selected blocks";
  return nullptr;
}

static void addSinks(AttentionOp op, Value y, Value normaliser,
                     BackwardBuilder &back) {
  Value sinks = op.getSinks();
  if (!sinks)
    return;
  Value dy = back.gradientOf(op.getResult());
  back.add(sinks, SinkGradientOp::create(*back, op.getLoc(),
                                         back.gradientTypeOf(sinks), dy, y,
                                         normaliser, back.valueOf(sinks)));
}

/// Builds the backward of an attention. In the forward, its kernel also writes
/// the normaliser.
static LogicalResult build(AttentionOp op, BackwardBuilder &back) {
  if (const char *unknown = findUnknown(op))
    return op.emitOpError() << "with " << unknown << " has no backward yet";
  Value dy = back.gradientOf(op.getResult());
  OpBuilder forward(op->getContext());
  forward.setInsertionPointAfter(op);
  auto written = AttentionNormaliserOp::create(
      forward, op.getLoc(), normaliserTypeOf(op.getQuery()), op.getQuery(),
      op.getKey(), op.getSinks(), op.getCausalAttr(), op.getWindowAttr(),
      op.getChunkAttr(), op.getScaleAttr(), op.getSoftcapAttr(),
      op.getAlibiAttr());
  back.addBeside(op, written);
  Value query = back.valueOf(op.getQuery()), key = back.valueOf(op.getKey()),
        value = back.valueOf(op.getValue()),
        y = back.ownValueOf(op.getResult()), normaliser = back.valueOf(written);
  addSinks(op, y, normaliser, back);
  auto made = AttentionBackwardOp::create(
      *back, op.getLoc(), op.getQuery().getType(), op.getKey().getType(),
      op.getValue().getType(), dy, query, key, value, y, normaliser,
      op.getCausalAttr(), op.getWindowAttr(), op.getChunkAttr(),
      op.getScaleAttr(), op.getSoftcapAttr(), op.getAlibiAttr());
  back.add(op.getQuery(), made.getDQuery());
  back.add(op.getKey(), made.getDKey());
  back.add(op.getValue(), made.getDValue());
  return success();
}

static LogicalResult build(AttentionNormaliserOp, BackwardBuilder &) {
  return success();
}

/// Builds the backward of a latent attention. The selection of tokens has no
/// gradient.
static LogicalResult build(LatentAttentionOp op, BackwardBuilder &back) {
  if (op.getCache() || op.getSinks())
    return op.emitOpError() << "with " << (op.getCache() ? "a cache" : "sinks")
                            << " has no backward yet";
  Value dy = back.gradientOf(op.getResult());
  OpBuilder forward(op->getContext());
  forward.setInsertionPointAfter(op);
  auto written = LatentNormaliserOp::create(
      forward, op.getLoc(), normaliserTypeOf(op.getQuery()), op.getQuery(),
      op.getLatent(), op.getKeyRope(), op.getKeyWeight(), op.getSelected(),
      op.getAtMostAttr(), op.getCausalAttr());
  back.addBeside(op, written);
  Value selected = op.getSelected() ? back.valueOf(op.getSelected()) : Value();
  Value query = back.valueOf(op.getQuery()),
        latent = back.valueOf(op.getLatent()),
        rope = back.valueOf(op.getKeyRope()),
        keyWeight = back.valueOf(op.getKeyWeight()),
        valueWeight = back.valueOf(op.getValueWeight()),
        y = back.ownValueOf(op.getResult()), normaliser = back.valueOf(written);
  auto made = LatentAttentionBackwardOp::create(
      *back, op.getLoc(), op.getQuery().getType(), op.getLatent().getType(),
      op.getKeyRope().getType(), back.gradientTypeOf(op.getKeyWeight()),
      back.gradientTypeOf(op.getValueWeight()), dy, query, latent, rope,
      keyWeight, valueWeight, y, normaliser, selected, op.getAtMostAttr(),
      op.getCausalAttr());
  back.add(op.getQuery(), made.getDQuery());
  back.add(op.getLatent(), made.getDLatent());
  back.add(op.getKeyRope(), made.getDKeyRope());
  back.add(op.getKeyWeight(), made.getDKeyWeight());
  back.add(op.getValueWeight(), made.getDValueWeight());
  return success();
}

static LogicalResult build(LatentNormaliserOp, BackwardBuilder &) {
  return success();
}

static LogicalResult build(ConcatSharedOp op, BackwardBuilder &back) {
  auto made = ConcatSharedBackwardOp::create(
      *back, op.getLoc(), op.getX().getType(), op.getShared().getType(),
      back.gradientOf(op.getResult()));
  back.add(op.getX(), made.getDx());
  back.add(op.getShared(), made.getDShared());
  return success();
}

static LogicalResult build(AttentionProbabilitiesOp op, BackwardBuilder &back) {
  Value dy = back.gradientOf(op.getResult());
  auto made = AttentionProbabilitiesBackwardOp::create(
      *back, op.getLoc(), op.getQuery().getType(), op.getKey().getType(), dy,
      back.valueOf(op.getResult()), back.valueOf(op.getQuery()),
      back.valueOf(op.getKey()), op.getScaleAttr());
  back.add(op.getQuery(), made.getDQuery());
  back.add(op.getKey(), made.getDKey());
  return success();
}

static LogicalResult build(AttendOp op, BackwardBuilder &back) {
  Value dy = back.gradientOf(op.getResult());
  auto made = AttendBackwardOp::create(
      *back, op.getLoc(), op.getProbabilities().getType(),
      op.getValue().getType(), dy, back.valueOf(op.getProbabilities()),
      back.valueOf(op.getValue()));
  back.add(op.getProbabilities(), made.getDProbabilities());
  back.add(op.getValue(), made.getDValue());
  return success();
}

void autopar::transforms::attachAttentionBackwards(MLIRContext *context) {
  attachBackward<RopeOp, build>(context);
  constexpr LayerRole role = LayerRole::attention;
  attachBackward<AttentionOp, build, role>(context);
  attachBackward<AttentionNormaliserOp, build, role>(context);
  attachBackward<LatentAttentionOp, build, role>(context);
  attachBackward<LatentNormaliserOp, build, role>(context);
  attachBackward<ConcatSharedOp, build>(context);
  attachBackward<AttentionProbabilitiesOp, build, role>(context);
  attachBackward<AttendOp, build, role>(context);
}
