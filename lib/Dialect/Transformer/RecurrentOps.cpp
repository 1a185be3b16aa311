//===- RecurrentOps.cpp - Names and verifiers -----------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/Training.h"

#include "Verifiers.h"

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Names of results
//===----------------------------------------------------------------------===//

void StateOp::getAsmResultNames(OpAsmSetValueNameFn setNameFn) {
  setNameFn(getResult(), "state");
}

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
// Verifiers: what the factors do not say
//===----------------------------------------------------------------------===//

namespace {

/// A dimension that counts heads, and whose.
struct HeadDim {
  StringRef name;
  Value tensor;
  unsigned dim;
};

} // namespace

static int64_t extentOf(const HeadDim &head) {
  return TensorView(head.tensor).getType().getDimSize(head.dim);
}

/// Heads are a grouped factor, whose extents may differ: these may not.
static LogicalResult verifySameHeads(Operation *op, ArrayRef<HeadDim> heads) {
  auto text = [](const HeadDim &head) {
    return TensorView(head.tensor).extentText(head.dim);
  };
  const HeadDim &first = heads.front();
  for (const HeadDim &head : heads)
    if (head.tensor && extentOf(head) != extentOf(first))
      return op->emitOpError()
             << "has " << text(first) << " heads in " << first.name << ", but "
             << text(head) << " in " << head.name;
  return success();
}

static LogicalResult verifyGroups(Operation *op, const HeadDim &heads,
                                  const HeadDim &groups) {
  if (extentOf(groups) >= 1 && extentOf(heads) % extentOf(groups) == 0)
    return success();
  return op->emitOpError() << "has " << extentOf(heads) << " " << heads.name
                           << ", which " << extentOf(groups) << " "
                           << groups.name << " do not divide";
}

LogicalResult StateOp::verify() {
  TensorView view(getResult());
  if (view.rank() < 2 || !view.extent(0).is("batch"))
    return emitOpError("expected a tensor [batch, ..] of rank 2 or more");
  if (!view.partialAxes().empty())
    return emitOpError("is a partial sum");
  return verifyNumbers(*this, getResult(), 1);
}

/// The tokens that a convolution has weights for.
static int64_t kernelOf(Value weight) {
  return tensorOf(weight.getType()).getShape().back();
}

static LogicalResult verifyKernel(Operation *op, Value weight) {
  if (failed(verifyNumbers(op, weight, 0)))
    return failure();
  int64_t kernel = kernelOf(weight);
  if (kernel >= 2)
    return success();
  return op->emitOpError() << "has a kernel of " << kernel
                           << " tokens, expected at least 2";
}

LogicalResult ShortConvOp::verify() {
  if (failed(verifyKernel(*this, getWeight())))
    return failure();
  if (!getState())
    return success();
  int64_t kernel = kernelOf(getWeight());
  TensorView state(getState());
  if (state.extent(state.rank() - 1) == NamedExtent::number(kernel - 1))
    return success();
  return emitOpError() << "has a state of "
                       << state.extentText(state.rank() - 1)
                       << " tokens, expected " << kernel - 1
                       << " for a kernel of " << kernel;
}

/// A parameter has a gradient of its own.
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

/// The state is null of a backward.
template <typename Op>
static LogicalResult verifyStateSpace(Op op, Value state) {
  for (Value tensor : {op.getX(), op.getInput()})
    if (failed(verifyNumbers(op, tensor, 2)))
      return failure();
  HeadDim same[] = {{"x", op.getX(), 2}, {"dt", op.getDt(), 2},
                    {"a", op.getA(), 0}, {"the state", state, 1},
                    {"d", op.getD(), 0}, {"dt_bias", op.getDtBias(), 0}};
  if (failed(verifySameHeads(op, same)))
    return failure();
  return verifyGroups(op, {"heads", op.getX(), 2},
                      {"groups", op.getInput(), 2});
}

LogicalResult StateSpaceOp::verify() {
  return verifyStateSpace(*this, getState());
}

LogicalResult StateSpaceBackwardOp::verify() {
  if (failed(verifyStateSpace(*this, Value())))
    return failure();
  return verifyPair(*this, "d", getD(), getDD());
}

template <typename Op>
static LogicalResult verifyDeltaRule(Op op, Value state) {
  for (Value tensor : {op.getQuery(), op.getValue()})
    if (failed(verifyNumbers(op, tensor, 2)))
      return failure();
  HeadDim same[] = {
      {"the values", op.getValue(), 2}, {"beta", op.getBeta(), 2},
      {"decay", op.getDecay(), 2},      {"a_log", op.getALog(), 0},
      {"dt_bias", op.getDtBias(), 0},   {"the state", state, 1}};
  if (failed(verifySameHeads(op, same)))
    return failure();
  return verifyGroups(op, {"value heads", op.getValue(), 2},
                      {"key heads", op.getQuery(), 2});
}

LogicalResult GatedDeltaRuleOp::verify() {
  return verifyDeltaRule(*this, getState());
}

LogicalResult GatedDeltaRuleBackwardOp::verify() {
  return verifyDeltaRule(*this, Value());
}

LogicalResult LinearAttentionOp::verify() {
  return verifyNumbers(*this, getQuery(), 2);
}

LogicalResult LinearAttentionBackwardOp::verify() {
  return verifyNumbers(*this, getQuery(), 2);
}
