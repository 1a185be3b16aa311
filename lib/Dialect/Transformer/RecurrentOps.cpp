//===- RecurrentOps.cpp - Names and verifiers -----------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/Transformer.h"

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Names of results
//===----------------------------------------------------------------------===//

void StateOp::getAsmResultNames(OpAsmSetValueNameFn setNameFn) {
  setNameFn(getResult(), "state");
}

//===----------------------------------------------------------------------===//
// Verifiers: what the factors do not say
//===----------------------------------------------------------------------===//

/// Refuses symbols in the dimensions of `tensor` from `begin` on.
static LogicalResult verifyNumbers(Operation *op, Value tensor,
                                   unsigned begin) {
  TensorView view(tensor);
  for (unsigned dim = begin; dim < view.rank(); ++dim)
    if (view.isSymbolic(dim))
      return op->emitOpError()
             << "has " << view.extentText(dim) << " for dimension " << dim
             << " of a " << view.getType() << ", expected a number";
  return success();
}

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

LogicalResult ShortConvOp::verify() {
  if (failed(verifyNumbers(*this, getWeight(), 0)))
    return failure();
  TensorView weight(getWeight());
  int64_t kernel = weight.getType().getShape().back();
  if (kernel < 2)
    return emitOpError() << "has a kernel of " << kernel
                         << " tokens, expected at least 2";
  if (!getState())
    return success();
  TensorView state(getState());
  if (state.extent(state.rank() - 1) == NamedExtent::number(kernel - 1))
    return success();
  return emitOpError() << "has a state of "
                       << state.extentText(state.rank() - 1)
                       << " tokens, expected " << kernel - 1
                       << " for a kernel of " << kernel;
}

LogicalResult StateSpaceOp::verify() {
  for (Value tensor : {getX(), getInput()})
    if (failed(verifyNumbers(*this, tensor, 2)))
      return failure();
  HeadDim heads = {"x", getX(), 2};
  HeadDim same[] = {heads,
                    {"dt", getDt(), 2},
                    {"a", getA(), 0},
                    {"the state", getState(), 1},
                    {"d", getD(), 0},
                    {"dt_bias", getDtBias(), 0}};
  if (failed(verifySameHeads(*this, same)))
    return failure();
  return verifyGroups(*this, {"heads", getX(), 2}, {"groups", getInput(), 2});
}

LogicalResult GatedDeltaRuleOp::verify() {
  for (Value tensor : {getQuery(), getValue()})
    if (failed(verifyNumbers(*this, tensor, 2)))
      return failure();
  HeadDim same[] = {{"the values", getValue(), 2},
                    {"beta and decay", getBeta(), 2},
                    {"a_log", getALog(), 0},
                    {"dt_bias", getDtBias(), 0},
                    {"the state", getState(), 1}};
  if (failed(verifySameHeads(*this, same)))
    return failure();
  return verifyGroups(*this, {"value heads", getValue(), 2},
                      {"key heads", getQuery(), 2});
}

LogicalResult LinearAttentionOp::verify() {
  return verifyNumbers(*this, getQuery(), 2);
}
