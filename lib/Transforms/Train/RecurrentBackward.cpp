//===- RecurrentBackward.cpp - Gradients of recurrences -------------------===//
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

static Value valueOfAny(Value value, BackwardBuilder &back) {
  return value ? back.valueOf(value) : Value();
}

static Type gradientTypeOfAny(Value weight, BackwardBuilder &back) {
  return weight ? back.gradientTypeOf(weight) : Type();
}

static LogicalResult build(ShortConvOp op, BackwardBuilder &back) {
  Value dy = back.gradientOf(op.getResult());
  auto made = ShortConvBackwardOp::create(
      *back, op.getLoc(), op.getX().getType(),
      back.gradientTypeOf(op.getWeight()),
      gradientTypeOfAny(op.getBias(), back), dy, back.valueOf(op.getX()),
      back.valueOf(op.getWeight()), valueOfAny(op.getBias(), back),
      op.getFunctionAttr());
  back.add(op.getX(), made.getDX());
  back.add(op.getWeight(), made.getDWeight());
  if (op.getBias())
    back.add(op.getBias(), made.getDBias());
  return success();
}

/// Adds the gradient of `bias`, which was added to every token of the value
/// with gradient `dy`.
static void addBiasGradient(Location loc, Value bias, Value dy,
                            BackwardBuilder &back) {
  back.add(bias, SumTokensOp::create(*back, loc, back.gradientTypeOf(bias), dy,
                                     back.valueOf(bias)));
}

static LogicalResult build(StateSpaceOp op, BackwardBuilder &back) {
  Value dy = back.gradientOf(op.getResult());
  auto made = StateSpaceBackwardOp::create(
      *back, op.getLoc(), op.getX().getType(), op.getDt().getType(),
      op.getInput().getType(), op.getOutput().getType(),
      back.gradientTypeOf(op.getA()), gradientTypeOfAny(op.getD(), back), dy,
      back.valueOf(op.getX()), back.valueOf(op.getDt()),
      back.valueOf(op.getInput()), back.valueOf(op.getOutput()),
      back.valueOf(op.getA()), valueOfAny(op.getD(), back),
      valueOfAny(op.getDtBias(), back));
  back.add(op.getX(), made.getDX());
  back.add(op.getDt(), made.getDDt());
  back.add(op.getInput(), made.getDInput());
  back.add(op.getOutput(), made.getDOutput());
  back.add(op.getA(), made.getDA());
  if (op.getD())
    back.add(op.getD(), made.getDD());
  if (op.getDtBias())
    addBiasGradient(op.getLoc(), op.getDtBias(), made.getDDt(), back);
  return success();
}

static LogicalResult build(GatedDeltaRuleOp op, BackwardBuilder &back) {
  Value dy = back.gradientOf(op.getResult());
  auto made = GatedDeltaRuleBackwardOp::create(
      *back, op.getLoc(), op.getQuery().getType(), op.getKey().getType(),
      op.getValue().getType(), op.getBeta().getType(), op.getDecay().getType(),
      back.gradientTypeOf(op.getALog()), dy, back.valueOf(op.getQuery()),
      back.valueOf(op.getKey()), back.valueOf(op.getValue()),
      back.valueOf(op.getBeta()), back.valueOf(op.getDecay()),
      back.valueOf(op.getALog()), back.valueOf(op.getDtBias()));
  back.add(op.getQuery(), made.getDQuery());
  back.add(op.getKey(), made.getDKey());
  back.add(op.getValue(), made.getDValue());
  back.add(op.getBeta(), made.getDBeta());
  back.add(op.getDecay(), made.getDDecay());
  back.add(op.getALog(), made.getDALog());
  addBiasGradient(op.getLoc(), op.getDtBias(), made.getDDecay(), back);
  return success();
}

static LogicalResult build(LinearAttentionOp op, BackwardBuilder &back) {
  Value dy = back.gradientOf(op.getResult());
  Type type = op.getQuery().getType();
  auto made = LinearAttentionBackwardOp::create(
      *back, op.getLoc(), type, type, type, dy, back.valueOf(op.getQuery()),
      back.valueOf(op.getKey()), back.valueOf(op.getValue()),
      op.getLayersAttr());
  back.add(op.getQuery(), made.getDQuery());
  back.add(op.getKey(), made.getDKey());
  back.add(op.getValue(), made.getDValue());
  return success();
}

/// Builds the backward by `build` for an op whose sequences begin with the
/// step, so that it has no state.
template <typename Op, BuildBackward<Op> build>
static LogicalResult withoutState(Op op, BackwardBuilder &back) {
  if (op.getState())
    return op.emitOpError("with a state has no backward: what other steps have "
                          "to do with it is not known");
  return build(op, back);
}

template <typename... Ops>
static void attach(MLIRContext *context) {
  (attachBackward<Ops, withoutState<Ops, build>>(context), ...);
}

void autopar::transforms::attachRecurrentBackwards(MLIRContext *context) {
  attach<ShortConvOp, StateSpaceOp, GatedDeltaRuleOp, LinearAttentionOp>(
      context);
}
