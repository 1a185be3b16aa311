//===- TransformerAttrs.cpp -----------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/Transformer.h"
#include "autopar/Interfaces/ExtentSyntax.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

#include "autopar/Dialect/Transformer/TransformerEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "autopar/Dialect/Transformer/TransformerAttrs.cpp.inc"

void TransformerDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "autopar/Dialect/Transformer/TransformerAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// DimsAttr
//===----------------------------------------------------------------------===//

Attribute DimsAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> names;
  auto parseOne = [&]() {
    return parseExtentName(parser, names.emplace_back());
  };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<DimsAttr>(parser.getContext(), names);
}

void DimsAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getNames(), printer, [&](StringAttr name) {
    printer << printedExtent(name);
  });
  printer << "]>";
}

LogicalResult DimsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<StringAttr> names) {
  if (llvm::all_of(names, [](StringAttr name) { return name.empty(); }))
    return emitError() << "names no dimension: leave the encoding out";
  return success();
}

LogicalResult
DimsAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                         function_ref<InFlightDiagnostic()> emitError) const {
  return verifyDimensions(*this, shape, emitError);
}

unsigned DimsAttr::getRank() const { return getNames().size(); }

DimRef DimsAttr::getDim(unsigned index) const {
  DimRef dim;
  dim.extent = getNames()[index].getValue();
  dim.rule = dim.extent.empty() ? SplitRule::plain : SplitRule::any;
  return dim;
}

ArrayRef<StringAttr> DimsAttr::getPartialAxes() const { return {}; }
