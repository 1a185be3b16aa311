//===- GradientOps.cpp - Syntax and verifiers -----------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Training/Training.h"

#include "autopar/Dialect/Parallel/AttrWords.h"
#include "autopar/Dialect/Transformer/NormTypes.h"
#include "autopar/Interfaces/NumberSyntax.h"
#include "autopar/Interfaces/WordSyntax.h"

using namespace autopar;
using namespace autopar::training;
using namespace autopar::transformer;
using namespace mlir;

static ParseResult parseRecomputation(OpAsmParser &parser,
                                      Attribute &recomputation) {
  return success(bool(recomputation = RecomputationAttr::parseBody(parser)));
}
static void printRecomputation(OpAsmPrinter &printer, Operation *,
                               Attribute recomputation) {
  cast<RecomputationAttr>(recomputation).printBody(printer);
}

static ParseResult parseRecomputations(OpAsmParser &parser, ArrayAttr &tried) {
  SmallVector<Attribute> all;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parseRecomputation(parser, all.emplace_back());
      }))
    return failure();
  tried = parser.getBuilder().getArrayAttr(all);
  return success();
}
static void printRecomputations(OpAsmPrinter &printer, Operation *op,
                                ArrayAttr tried) {
  printer << "[";
  llvm::interleaveComma(tried, printer, [&](Attribute recomputation) {
    printRecomputation(printer, op, recomputation);
  });
  printer << "]";
}

#define GET_OP_CLASSES
#include "autopar/Dialect/Training/TrainingOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Names of results in printed IR
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
// Verifiers of gradient ops
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
