//===- GradientOps.cpp - Syntax and verifiers -----------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/Training.h"

#include "NormTypes.h"
#include "autopar/Interfaces/NumberSyntax.h"
#include "autopar/Interfaces/WordSyntax.h"

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

#define GET_OP_CLASSES
#include "autopar/Dialect/Transformer/TrainingOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Names of results
//===----------------------------------------------------------------------===//

#define AUTOPAR_NAME_RESULT(OP, NAME)                                          \
  void OP::getAsmResultNames(OpAsmSetValueNameFn setNameFn) {                  \
    setNameFn(getResult(), NAME);                                              \
  }
AUTOPAR_NAME_RESULT(CrossEntropyOp, "loss")
AUTOPAR_NAME_RESULT(CrossEntropyBackwardOp, "d_logits")
AUTOPAR_NAME_RESULT(CastOp, "cast")
AUTOPAR_NAME_RESULT(LinearBackwardOp, "dx")
AUTOPAR_NAME_RESULT(LogitsBackwardOp, "dx")
AUTOPAR_NAME_RESULT(ProductGradientOp, "dw")
AUTOPAR_NAME_RESULT(SumTokensOp, "db")
AUTOPAR_NAME_RESULT(FactorGradientOp, "df")
AUTOPAR_NAME_RESULT(EmbeddingGradientOp, "dt")
AUTOPAR_NAME_RESULT(PositionGradientOp, "dt")
AUTOPAR_NAME_RESULT(NormBackwardOp, "dx")
AUTOPAR_NAME_RESULT(NormGradientOp, "dw")
AUTOPAR_NAME_RESULT(ActivationBackwardOp, "dx")
AUTOPAR_NAME_RESULT(SoftcapBackwardOp, "dx")
AUTOPAR_NAME_RESULT(DropoutMaskOp, "mask")
AUTOPAR_NAME_RESULT(DropoutOp, "dropped")
AUTOPAR_NAME_RESULT(RopeBackwardOp, "dx")
AUTOPAR_NAME_RESULT(AttentionNormaliserOp, "normaliser")
AUTOPAR_NAME_RESULT(AttentionProbabilitiesOp, "probabilities")
AUTOPAR_NAME_RESULT(AttendOp, "attn")
AUTOPAR_NAME_RESULT(SinkGradientOp, "ds")
AUTOPAR_NAME_RESULT(RouterScoresOp, "scores")
AUTOPAR_NAME_RESULT(RouterBackwardOp, "dl")
AUTOPAR_NAME_RESULT(RoutingGradientOp, "dr")
AUTOPAR_NAME_RESULT(CombineBackwardOp, "dx")
AUTOPAR_NAME_RESULT(DispatchBackwardOp, "dx")
AUTOPAR_NAME_RESULT(WeighGradientOp, "dw")
AUTOPAR_NAME_RESULT(ExpertsBackwardOp, "dx")
AUTOPAR_NAME_RESULT(ExpertsGradientOp, "dw")
AUTOPAR_NAME_RESULT(SumExpertsOp, "db")
#undef AUTOPAR_NAME_RESULT

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
