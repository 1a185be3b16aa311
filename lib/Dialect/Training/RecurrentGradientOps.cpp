//===- RecurrentGradientOps.cpp - Backwards of recurrences ----------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Training/Training.h"

#include "autopar/Dialect/Transformer/Recurrences.h"
#include "autopar/Dialect/Transformer/RecurrentFactors.h"

using namespace autopar;
using namespace autopar::training;
using namespace autopar::transformer;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Names of results in printed IR
//===----------------------------------------------------------------------===//

static void nameGradients(Operation *op, ArrayRef<StringRef> names,
                          OpAsmSetValueNameFn setNameFn) {
  for (auto [result, name] : llvm::zip(op->getResults(), names))
    setNameFn(result, name);
}

void ShortConvBackwardOp::getAsmResultNames(OpAsmSetValueNameFn setNameFn) {
  nameGradients(*this, {"dx", "dw", "db"}, setNameFn);
}

void StateSpaceBackwardOp::getAsmResultNames(OpAsmSetValueNameFn setNameFn) {
  nameGradients(*this, {"dx", "d_dt", "d_input", "d_output", "da", "dd"},
                setNameFn);
}

void GatedDeltaRuleBackwardOp::getAsmResultNames(
    OpAsmSetValueNameFn setNameFn) {
  nameGradients(*this, {"dq", "dk", "dv", "d_beta", "d_decay", "da"},
                setNameFn);
}

void LinearAttentionBackwardOp::getAsmResultNames(
    OpAsmSetValueNameFn setNameFn) {
  nameGradients(*this, {"dq", "dk", "dv"}, setNameFn);
}

//===----------------------------------------------------------------------===//
// Verifiers of backwards of recurrences
//===----------------------------------------------------------------------===//

/// Verifies that the op has a gradient for `parameter` if, and only if, it has
/// the parameter.
static LogicalResult verifyPair(Operation *op, StringRef name, Value parameter,
                                Value gradient) {
  if (bool(parameter) == bool(gradient))
    return success();
  return op->emitOpError() << "has " << (parameter ? "" : "no ") << name
                           << ", but " << (gradient ? "a" : "no")
                           << " gradient of it";
}

LogicalResult ShortConvBackwardOp::verify() {
  if (failed(verifyKernel(*this, getWeight())))
    return failure();
  return verifyPair(*this, "bias", getBias(), getDBias());
}

LogicalResult StateSpaceBackwardOp::verify() {
  if (failed(verifyStateSpace(*this, Value())))
    return failure();
  return verifyPair(*this, "d", getD(), getDD());
}

LogicalResult GatedDeltaRuleBackwardOp::verify() {
  return verifyDeltaRule(*this, Value());
}

LogicalResult LinearAttentionBackwardOp::verify() {
  return verifyNumbers(*this, getQuery(), 2);
}

//===----------------------------------------------------------------------===//
// Factors, which say how these backwards can be split
//===----------------------------------------------------------------------===//

static unsigned tensorsOf(Operation *op) {
  return op->getNumOperands() + op->getNumResults();
}

ShardingFactors ShortConvBackwardOp::getShardingFactors() {
  if (rankOf(getX()) < 3)
    return {};
  ConvFactors f(getX(), FactorKind::reduction);
  f.factors.operands = {f.x(), f.x(), f.weight};
  if (getBias())
    f.factors.operands.push_back(f.channels);
  f.factors.results = {f.x(), f.weight};
  if (getDBias())
    f.factors.results.push_back(f.channels);
  f.factors.linear = {{}};
  return f.factors;
}

ShardingFactors StateSpaceBackwardOp::getShardingFactors() {
  if (!haveRanks(getX(), getInput(), getA()))
    return {};
  StateSpaceFactors f(getInput(), getA(), /*isBackward=*/true);
  f.factors.operands = {f.x, f.x, f.tokens(), f.matrix, f.matrix, f.a};
  for (Value parameter : {getD(), getDtBias()})
    if (parameter)
      f.factors.operands.push_back({f.heads});
  f.factors.results = {f.x, f.tokens(), f.matrix, f.matrix, f.a};
  if (getDD())
    f.factors.results.push_back({f.heads});
  f.factors.linear = {{}};
  return f.factors;
}

std::optional<TensorParallelFactor>
ShortConvBackwardOp::getTensorParallelFactor() {
  return channelsOf(getX(), tensorsOf(*this));
}

std::optional<TensorParallelFactor>
StateSpaceBackwardOp::getTensorParallelFactor() {
  constexpr unsigned input = 3, output = 4;
  unsigned results = getNumOperands();
  return splitHeads(tensorsOf(*this),
                    {input, output, results + 2, results + 3});
}

ShardingFactors GatedDeltaRuleBackwardOp::getShardingFactors() {
  DeltaFactors f(FactorKind::reduction, getDecay());
  f.factors.operands = {f.values,   f.keys,  f.keys,    f.values,
                        f.tokens(), f.decay, {f.heads}, f.bias};
  f.factors.results = {f.keys,     f.keys,  f.values,
                       f.tokens(), f.decay, {f.heads}};
  f.factors.linear = {{}};
  return f.factors;
}

std::optional<TensorParallelFactor>
GatedDeltaRuleBackwardOp::getTensorParallelFactor() {
  constexpr unsigned query = 1, key = 2;
  unsigned results = getNumOperands();
  return splitHeads(tensorsOf(*this), {query, key, results, results + 1});
}

ShardingFactors LinearAttentionBackwardOp::getShardingFactors() {
  HeadFactors f(FactorKind::parallel, FactorKind::parallel);
  FactorList tokens = concat(f.tokens(), {f.addWhole()});
  f.factors.operands.assign(getNumOperands(), tokens);
  f.factors.results.assign(getNumResults(), tokens);
  return f.factors;
}

std::optional<TensorParallelFactor>
LinearAttentionBackwardOp::getTensorParallelFactor() {
  return splitHeads(tensorsOf(*this), {});
}

//===----------------------------------------------------------------------===//
// Workloads of backwards of recurrences
//===----------------------------------------------------------------------===//

/// FLOPs of a backward over those of the forward: it computes the forward
/// again, and two matmuls for each of its matmuls.
static constexpr int64_t backwardShare = 3;

void ShortConvBackwardOp::buildWorkload(WorkloadBuilder &builder) {
  addConv(builder, *this, backwardShare, getX(), getWeight());
}

void StateSpaceBackwardOp::buildWorkload(WorkloadBuilder &builder) {
  addStateSpace(builder, *this, backwardShare, getX(), getInput());
}

void GatedDeltaRuleBackwardOp::buildWorkload(WorkloadBuilder &builder) {
  addDeltaRule(builder, *this, backwardShare, getKey(), getValue(), getDecay());
}

void LinearAttentionBackwardOp::buildWorkload(WorkloadBuilder &builder) {
  addLinearAttention(builder, *this, backwardShare, getQuery());
}
