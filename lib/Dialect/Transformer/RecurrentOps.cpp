//===- RecurrentOps.cpp - Names and verifiers -----------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/Recurrences.h"

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Names of results in printed IR
//===----------------------------------------------------------------------===//

void StateOp::getAsmResultNames(OpAsmSetValueNameFn setNameFn) {
  setNameFn(getResult(), "state");
}

//===----------------------------------------------------------------------===//
// Verifiers of what the factors of ops do not check
//===----------------------------------------------------------------------===//

static int64_t extentOf(const HeadDim &head) {
  return TensorView(head.tensor).getType().getDimSize(head.dim);
}

LogicalResult transformer::verifySameHeads(Operation *op,
                                           ArrayRef<HeadDim> heads) {
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

LogicalResult transformer::verifyGroups(Operation *op, const HeadDim &heads,
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

/// Returns the number of tokens that a convolution combines: one per column of
/// its weight.
static int64_t kernelOf(Value weight) {
  return tensorOf(weight.getType()).getShape().back();
}

LogicalResult transformer::verifyKernel(Operation *op, Value weight) {
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

LogicalResult StateSpaceOp::verify() {
  return verifyStateSpace(*this, getState());
}

LogicalResult GatedDeltaRuleOp::verify() {
  return verifyDeltaRule(*this, getState());
}

LogicalResult LinearAttentionOp::verify() {
  return verifyNumbers(*this, getQuery(), 2);
}
