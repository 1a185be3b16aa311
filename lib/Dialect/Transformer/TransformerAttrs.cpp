//===- TransformerAttrs.cpp -----------------------------------------------===//
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
// The attribute DimsAttr
//===----------------------------------------------------------------------===//

Attribute DimsAttr::parse(AsmParser &parser, Type) {
  SmallVector<NamedExtent> extents;
  auto parseOne = [&]() {
    return NamedExtent::parse(parser, extents.emplace_back());
  };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<DimsAttr>(parser.getContext(), extents);
}

void DimsAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getExtents(), printer,
                        [&](NamedExtent extent) { printer << extent.str(); });
  printer << "]>";
}

LogicalResult DimsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<NamedExtent> extents) {
  if (llvm::none_of(extents, std::mem_fn(&NamedExtent::isNamed)))
    return emitError() << "names no dimension: leave the encoding out";
  return success();
}

LogicalResult
DimsAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                         function_ref<InFlightDiagnostic()> emitError) const {
  return verifyDimensions(*this, shape, emitError);
}

unsigned DimsAttr::getRank() const { return getExtents().size(); }

DimRef DimsAttr::getDim(unsigned index) const {
  DimRef dim;
  dim.extent = getExtents()[index];
  dim.rule = defaultRule(dim.extent);
  return dim;
}

Attribute DimsAttr::withExtent(unsigned index, NamedExtent extent) const {
  SmallVector<NamedExtent> extents(getExtents());
  extents[index] = extent;
  return get(getContext(), extents);
}

ArrayRef<StringAttr> DimsAttr::getPartialAxes() const { return {}; }
