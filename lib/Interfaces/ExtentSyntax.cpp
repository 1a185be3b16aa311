//===- ExtentSyntax.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Interfaces/ExtentSyntax.h"

using namespace autopar;
using namespace mlir;

/// A symbol or a positive number, appended to `text`.
static ParseResult parseFactor(AsmParser &parser, std::string &text) {
  int64_t number;
  OptionalParseResult isNumber = parser.parseOptionalInteger(number);
  if (isNumber.has_value()) {
    if (failed(*isNumber))
      return failure();
    if (number < 1)
      return parser.emitError(parser.getCurrentLocation(),
                              "expected a positive number");
    text += std::to_string(number);
    return success();
  }
  StringRef symbol;
  if (parser.parseKeyword(&symbol))
    return failure();
  text += symbol;
  return success();
}

ParseResult autopar::parseExtentName(AsmParser &parser, StringAttr &name) {
  if (succeeded(parser.parseOptionalKeyword("_"))) {
    name = StringAttr::get(parser.getContext());
    return success();
  }
  bool set = succeeded(parser.parseOptionalLBrace());
  std::string text = set ? "{" : "";
  if (parseFactor(parser, text))
    return failure();
  while (succeeded(parser.parseOptionalStar())) {
    text += "*";
    if (parseFactor(parser, text))
      return failure();
  }
  if (set) {
    text += "}";
    if (parser.parseRBrace())
      return failure();
  }
  name = StringAttr::get(parser.getContext(), text);
  return success();
}

StringRef autopar::printedExtent(StringAttr name) {
  return name.empty() ? StringRef("_") : name.getValue();
}
