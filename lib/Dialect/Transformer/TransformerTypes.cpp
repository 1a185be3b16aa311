//===- TransformerTypes.cpp -----------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/Transformer.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

#define GET_TYPEDEF_CLASSES
#include "autopar/Dialect/Transformer/TransformerTypes.cpp.inc"

void TransformerDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "autopar/Dialect/Transformer/TransformerTypes.cpp.inc"
      >();
}

/// Parses `<?x8xbf16, #encoding>`: a tensor type without the word `tensor`.
static RankedTensorType parseTensor(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elements;
  Attribute encoding;
  if (parser.parseLess() || parser.parseDimensionList(shape))
    return {};
  SMLoc elementsAt = parser.getCurrentLocation();
  if (parser.parseType(elements))
    return {};
  if (succeeded(parser.parseOptionalComma()) && parser.parseAttribute(encoding))
    return {};
  if (parser.parseGreater())
    return {};
  return RankedTensorType::getChecked(
      [&] { return parser.emitError(elementsAt); }, shape, elements, encoding);
}

static void printTensor(AsmPrinter &printer, RankedTensorType tensor) {
  printer << '<';
  printer.printDimensionList(tensor.getShape());
  if (tensor.getRank() > 0)
    printer << 'x';
  printer << tensor.getElementType();
  if (Attribute encoding = tensor.getEncoding())
    printer << ", " << encoding;
  printer << '>';
}

Type CacheType::parse(AsmParser &parser) {
  RankedTensorType tensor = parseTensor(parser);
  return tensor ? CacheType::get(tensor) : Type();
}

void CacheType::print(AsmPrinter &printer) const {
  printTensor(printer, getTensor());
}

Type StateType::parse(AsmParser &parser) {
  RankedTensorType tensor = parseTensor(parser);
  return tensor ? StateType::get(tensor) : Type();
}

void StateType::print(AsmPrinter &printer) const {
  printTensor(printer, getTensor());
}
