//===- TrainingAttrs.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Training/Training.h"
#include "autopar/Interfaces/BodyAttr.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace autopar;
using namespace autopar::program;
using namespace autopar::training;
using namespace mlir;

#include "autopar/Dialect/Training/TrainingEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "autopar/Dialect/Training/TrainingAttrs.cpp.inc"

void TrainingDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "autopar/Dialect/Training/TrainingAttrs.cpp.inc"
      >();
}

RecomputationAttr RecomputationAttr::get(MLIRContext *context,
                                         const Recomputation &what) {
  return get(context, what.kind, what.parts, what.every, what.layersOfStage);
}

Recomputation RecomputationAttr::getRecomputation() const {
  return {getKind(), getParts().vec(), getEvery(), getLayersOfStage()};
}

/// Parses the words of a recomputation, such as "full first 8", and returns the
/// text that `Recomputation` parses: "full:8".
static ParseResult parseText(AsmParser &parser, std::string &text) {
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  text = word.str();
  auto parseNumber = [&](StringRef sign) -> ParseResult {
    int64_t number;
    if (parser.parseInteger(number))
      return failure();
    text += sign.str() + std::to_string(number);
    return success();
  };
  if (succeeded(parser.parseOptionalKeyword("first")))
    return parseNumber(":");
  if (succeeded(parser.parseOptionalKeyword("one")))
    return failure(parser.parseKeyword("in") || parseNumber("/"));
  while (succeeded(parser.parseOptionalPlus())) {
    StringRef part;
    if (parser.parseKeyword(&part))
      return failure();
    text += "+" + part.str();
  }
  return success();
}

Attribute RecomputationAttr::parseBody(AsmParser &parser) {
  SMLoc start = parser.getCurrentLocation();
  std::string text;
  if (parseText(parser, text))
    return {};
  Result<Recomputation> read = Recomputation::parse(text);
  if (!read) {
    parser.emitError(start, read.error().message);
    return {};
  }
  if (read->kind == Recomputation::Kind::fitting) {
    parser.emitError(start, "recomputes 'auto', expected what was chosen");
    return {};
  }
  return get(parser.getContext(), *read);
}

void RecomputationAttr::printBody(AsmPrinter &printer) const {
  if (getKind() == Recomputation::Kind::parts) {
    llvm::interleave(
        getParts(), printer.getStream(),
        [&](LayerPart part) { printer << StringRef(nameOf(part)); }, " + ");
    return;
  }
  printer << StringRef(Recomputation{getKind()}.str());
  if (getLayersOfStage() > 0)
    printer << " first " << getLayersOfStage();
  else if (getEvery() > 1)
    printer << " one in " << getEvery();
}

Attribute RecomputationAttr::parse(AsmParser &parser, Type) {
  return parseInAngles<RecomputationAttr>(parser);
}

void RecomputationAttr::print(AsmPrinter &printer) const {
  printInAngles(printer, *this);
}
