//===- MixtureBackward.cpp - Gradients of mixtures of experts -------------===//
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

//===----------------------------------------------------------------------===//
// Backwards of routing
//===----------------------------------------------------------------------===//

/// Returns the type of a router's scores: `[.., experts]`, in the format of the
/// routing.
static Type scoresTypeOf(RouterOp op) {
  return typeWithLast(op.getResult(),
                      tensorOf(op.getWeight().getType()).getDimSize(1));
}

/// Builds the backward of a router. In the forward, its kernel also writes the
/// scores of all experts.
static LogicalResult build(RouterOp op, BackwardBuilder &back) {
  if (op.getTable() || op.getSqrtSoftplus())
    return op.emitOpError()
           << "with "
           << (op.getTable() ? "a table of experts" : "sqrt_softplus")
           << " has no backward yet";
  Value dy = back.gradientOf(op.getResult());
  OpBuilder forward(op->getContext());
  forward.setInsertionPointAfter(op);
  auto scores =
      RouterScoresOp::create(forward, op.getLoc(), scoresTypeOf(op), op.getX(),
                             op.getWeight(), op.getBias(), op.getSigmoidAttr());
  back.addBeside(op, scores);
  Value dl = RouterBackwardOp::create(
      *back, op.getLoc(), scores.getType(), dy, back.valueOf(scores),
      back.valueOf(op.getResult()), op.getSigmoidAttr(), op.getNormalizedAttr(),
      op.getScaleAttr());
  Value weight = back.valueOf(op.getWeight());
  back.addProduct(op, op.getWeight(), ProductRole::weight,
                  back.valueOf(op.getX()), dl);
  if (Value bias = op.getBias())
    back.add(bias,
             SumTokensOp::create(*back, op.getLoc(), back.gradientTypeOf(bias),
                                 dl, back.valueOf(bias)));
  back.addProduct(op, op.getX(), ProductRole::input, dl, weight);
  return success();
}

static LogicalResult build(RouterScoresOp, BackwardBuilder &) {
  return success();
}

static LogicalResult build(DispatchOp op, BackwardBuilder &back) {
  Value dy = back.gradientOf(op.getResult());
  back.add(op.getX(),
           DispatchBackwardOp::create(*back, op.getLoc(), op.getX().getType(),
                                      dy, back.valueOf(op.getRouting())));
  return success();
}

static LogicalResult build(CombineOp op, BackwardBuilder &back) {
  Value dy = back.gradientOf(op.getResult());
  Value routing = back.valueOf(op.getRouting());
  back.add(op.getRouting(), RoutingGradientOp::create(
                                *back, op.getLoc(), op.getRouting().getType(),
                                dy, back.valueOf(op.getX()), routing));
  back.add(op.getX(),
           CombineBackwardOp::create(*back, op.getLoc(), op.getX().getType(),
                                     dy, routing));
  return success();
}

static LogicalResult build(WeighOp op, BackwardBuilder &back) {
  Value dy = back.gradientOf(op.getResult());
  Value weights = back.valueOf(op.getWeights());
  back.add(op.getWeights(),
           WeighGradientOp::create(
               *back, op.getLoc(), op.getWeights().getType(), dy,
               back.valueOf(op.getX()), weights, op.getFunctionAttr()));
  back.add(op.getX(), WeighOp::create(*back, op.getLoc(), dy.getType(), dy,
                                      weights, op.getFunctionAttr()));
  return success();
}

//===----------------------------------------------------------------------===//
// Backwards of matmuls of experts
//===----------------------------------------------------------------------===//

static LogicalResult build(ExpertsOp op, BackwardBuilder &back) {
  Value dy = back.gradientOf(op.getResult());
  Value weight = back.valueOf(op.getWeight());
  if (Value bias = op.getBias())
    back.add(bias,
             SumExpertsOp::create(*back, op.getLoc(), back.gradientTypeOf(bias),
                                  dy, back.valueOf(bias)));
  back.add(op.getWeight(),
           ExpertsGradientOp::create(*back, op.getLoc(),
                                     back.gradientTypeOf(op.getWeight()),
                                     back.valueOf(op.getX()), dy, weight));
  back.add(op.getX(),
           ExpertsBackwardOp::create(*back, op.getLoc(), op.getX().getType(),
                                     dy, weight, op.getTopKAttr()));
  return success();
}

void autopar::transforms::attachMixtureBackwards(MLIRContext *context) {
  attachBackward<RouterOp, build>(context);
  attachBackward<RouterScoresOp, build>(context);
  attachBackward<DispatchOp, build>(context);
  attachBackward<CombineOp, build, LayerRole::combination>(context);
  attachBackward<WeighOp, build>(context);
  attachBackward<ExpertsOp, build, LayerRole::expert_product>(context);
}
