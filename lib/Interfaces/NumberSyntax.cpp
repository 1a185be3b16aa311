//===- NumberSyntax.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Interfaces/NumberSyntax.h"

#include "autopar/Support/Text.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

ParseResult autopar::parseNumber(OpAsmParser &parser, FloatAttr &attr) {
  SMLoc start = parser.getCurrentLocation();
  Attribute number;
  if (parser.parseAttribute(number))
    return failure();
  attr = dyn_cast<FloatAttr>(number);
  if (auto whole = dyn_cast<IntegerAttr>(number))
    if (whole.getType().isSignlessInteger(64))
      attr = parser.getBuilder().getF64FloatAttr(
          static_cast<double>(whole.getInt()));
  if (attr && attr.getType().isF64())
    return success();
  return parser.emitError(start, "expected a number");
}

std::string autopar::numberText(double value) {
  std::string text = formatNumber(value);
  // The parser requires digits and a point before an exponent.
  size_t exponent = text.find('e');
  if (text.find('.') == std::string::npos)
    text.insert(exponent == std::string::npos ? text.size() : exponent, ".0");
  return text;
}

void autopar::printNumber(OpAsmPrinter &printer, Operation *, FloatAttr attr) {
  printer << numberText(attr.getValueAsDouble());
}

ParseResult autopar::parseNumbers(OpAsmParser &parser,
                                  DenseF64ArrayAttr &numbers) {
  SmallVector<double> values;
  auto parseOne = [&]() -> ParseResult {
    FloatAttr number;
    if (parseNumber(parser, number))
      return failure();
    values.push_back(number.getValueAsDouble());
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseOne))
    return failure();
  numbers = parser.getBuilder().getDenseF64ArrayAttr(values);
  return success();
}

void autopar::printNumbers(OpAsmPrinter &printer, Operation *,
                           DenseF64ArrayAttr numbers) {
  printer << "[";
  llvm::interleaveComma(numbers.asArrayRef(), printer.getStream(),
                        [&](double value) { printer << numberText(value); });
  printer << "]";
}

ParseResult autopar::parseCountOrNone(OpAsmParser &parser, IntegerAttr &attr) {
  int64_t count = 0;
  if (failed(parser.parseOptionalKeyword("none")) && parser.parseInteger(count))
    return failure();
  attr = parser.getBuilder().getI64IntegerAttr(count);
  return success();
}

void autopar::printCountOrNone(OpAsmPrinter &printer, Operation *,
                               IntegerAttr attr) {
  if (attr.getInt() == 0)
    printer << "none";
  else
    printer << attr.getInt();
}

ParseResult autopar::parseWords(OpAsmParser &parser, ArrayAttr &words) {
  SmallVector<Attribute> names;
  auto parseWord = [&]() -> ParseResult {
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    names.push_back(parser.getBuilder().getStringAttr(name));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseWord))
    return failure();
  words = parser.getBuilder().getArrayAttr(names);
  return success();
}

void autopar::printWords(OpAsmPrinter &printer, Operation *, ArrayAttr words) {
  printer << "[";
  llvm::interleaveComma(words.getAsValueRange<StringAttr>(), printer);
  printer << "]";
}
