//===- GradientOps.cpp - Syntax and verifiers -----------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Training/Training.h"

#include "autopar/Dialect/Transformer/NormTypes.h"
#include "autopar/Interfaces/NumberSyntax.h"
#include "autopar/Interfaces/WordSyntax.h"

using namespace autopar;
using namespace autopar::training;
using namespace autopar::transformer;
using namespace mlir;

#define GET_OP_CLASSES
#include "autopar/Dialect/Training/TrainingOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Names of results
//===----------------------------------------------------------------------===//

void GatedBackwardOp::getAsmResultNames(OpAsmSetValueNameFn setNameFn) {
  setNameFn(getDGate(), "d_gate");
  setNameFn(getDUp(), "d_up");
}

void AttentionBackwardOp::getAsmResultNames(OpAsmSetValueNameFn setNameFn) {
  setNameFn(getDQuery(), "dq");
  setNameFn(getDKey(), "dk");
  setNameFn(getDValue(), "dv");
}

void AttendBackwardOp::getAsmResultNames(OpAsmSetValueNameFn setNameFn) {
  setNameFn(getDProbabilities(), "dp");
  setNameFn(getDValue(), "dv");
}

void AttentionProbabilitiesBackwardOp::getAsmResultNames(
    OpAsmSetValueNameFn setNameFn) {
  setNameFn(getDQuery(), "dq");
  setNameFn(getDKey(), "dk");
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

static LogicalResult verifyProbability(Operation *op, const APFloat &value) {
  double probability = value.convertToDouble();
  if (probability >= 0 && probability < 1)
    return success();
  return op->emitOpError() << "has a probability of " << probability
                           << ", expected 0 to below 1";
}

LogicalResult DropoutMaskOp::verify() {
  return verifyProbability(*this, getProbability());
}

LogicalResult DropoutOp::verify() {
  return verifyProbability(*this, getProbability());
}
