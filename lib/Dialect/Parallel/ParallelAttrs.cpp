//===- ParallelAttrs.cpp - Layouts of tensors -----------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Interfaces/ExtentSyntax.h"
#include "autopar/Support/Limits.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace autopar;
using namespace autopar::parallel;
using namespace mlir;

#define GET_ATTRDEF_CLASSES
#include "autopar/Dialect/Parallel/ParallelAttrs.cpp.inc"

void ParallelDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "autopar/Dialect/Parallel/ParallelAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// DimAttr
//===----------------------------------------------------------------------===//

static SplitRule defaultRule(StringAttr extent) {
  return extent.empty() ? SplitRule::plain : SplitRule::any;
}

static ParseResult parseAxis(AsmParser &parser,
                             SmallVectorImpl<StringAttr> &axes) {
  StringRef name;
  if (parser.parseKeyword(&name))
    return failure();
  axes.push_back(StringAttr::get(parser.getContext(), name));
  return success();
}

/// `[dpi, tp]`
static ParseResult parseAxisList(AsmParser &parser,
                                 SmallVectorImpl<StringAttr> &axes) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&] { return parseAxis(parser, axes); });
}

/// `dpo*dpi`, or `{dpo, dpi}` for a set.
static ParseResult parseSplitAxes(AsmParser &parser,
                                  SmallVectorImpl<StringAttr> &axes) {
  if (succeeded(parser.parseOptionalLBrace()))
    return failure(parser.parseCommaSeparatedList([&] {
      return parseAxis(parser, axes);
    }) || parser.parseRBrace());
  do
    if (parseAxis(parser, axes))
      return failure();
  while (succeeded(parser.parseOptionalStar()));
  return success();
}

static ParseResult parseRule(AsmParser &parser, SplitRule &rule,
                             int64_t &multiple) {
  if (succeeded(parser.parseOptionalKeyword("cap"))) {
    rule = SplitRule::cap;
  } else if (succeeded(parser.parseOptionalKeyword("any"))) {
    rule = SplitRule::any;
  } else if (succeeded(parser.parseOptionalKeyword("ring"))) {
    rule = SplitRule::ring;
  } else if (succeeded(parser.parseOptionalKeyword("plain"))) {
    rule = SplitRule::plain;
  } else if (succeeded(parser.parseOptionalKeyword("pad"))) {
    rule = SplitRule::pad;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseInteger(multiple))
      return failure();
    if (multiple < 1 || multiple > limits::maxDimension)
      return parser.emitError(loc) << "pads to a multiple of " << multiple
                                   << ", expected a positive number";
  }
  return success();
}

/// `grouped [dpi, tp]`, which only a set can be.
static ParseResult parseGrouped(AsmParser &parser, StringAttr extent,
                                SmallVectorImpl<StringAttr> &grouped) {
  SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseOptionalKeyword("grouped")))
    return success();
  if (!extent.getValue().starts_with("{"))
    return parser.emitError(loc, "groups '")
           << extent.getValue() << "' by experts, which is not a set in braces";
  return parseAxisList(parser, grouped);
}

static FailureOr<DimAttr> parseDim(AsmParser &parser) {
  StringAttr extent;
  SmallVector<StringAttr> axes, grouped;
  int64_t multiple = 1;
  if (parseExtentName(parser, extent))
    return failure();
  SplitRule rule = defaultRule(extent);
  if (succeeded(parser.parseOptionalKeyword("by")) &&
      (parseSplitAxes(parser, axes) || parseRule(parser, rule, multiple)))
    return failure();
  if (parseGrouped(parser, extent, grouped))
    return failure();
  return DimAttr::get(parser.getContext(), extent, axes, rule, multiple,
                      grouped);
}

static void printSplit(raw_ostream &os, DimAttr dim) {
  bool set = dim.isSet();
  os << " by " << (set ? "{" : "");
  llvm::interleave(
      dim.getAxes(), os, [&](StringAttr axis) { os << axis.getValue(); },
      set ? ", " : "*");
  os << (set ? "}" : "");
  if (dim.getRule() == SplitRule::pad)
    os << " pad " << dim.getMultiple();
  else if (dim.getRule() == SplitRule::cap)
    os << " cap";
  else if (dim.getRule() == SplitRule::any && !dim.isSymbolic())
    os << " any";
  else if (dim.getRule() == SplitRule::plain && dim.isSymbolic())
    os << " plain";
  else if (dim.getRule() == SplitRule::ring)
    os << " ring";
}

static void printDim(raw_ostream &os, DimAttr dim) {
  os << printedExtent(dim.getExtent());
  if (!dim.getAxes().empty())
    printSplit(os, dim);
  if (!dim.getGrouped().empty())
    os << " grouped " << axesText(dim.getGrouped());
}

Attribute DimAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<DimAttr> dim = parseDim(parser);
  if (failed(dim) || parser.parseGreater())
    return {};
  return *dim;
}

void DimAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printDim(printer.getStream(), *this);
  printer << ">";
}

DimAttr DimAttr::withAxes(ArrayRef<StringAttr> axes) const {
  if (axes == getAxes() && !axes.empty())
    return *this;
  return axes.empty() ? DimAttr::get(getContext(), getExtent(), axes,
                                     defaultRule(getExtent()), 1, getGrouped())
                      : DimAttr::get(getContext(), getExtent(), axes, getRule(),
                                     getMultiple(), getGrouped());
}

DimAttr DimAttr::withGrouped(ArrayRef<StringAttr> grouped) const {
  if (grouped == getGrouped())
    return *this;
  return DimAttr::get(getContext(), getExtent(), getAxes(), getRule(),
                      getMultiple(), grouped);
}

DimAttr DimAttr::withRule(SplitRule rule, int64_t multiple) const {
  return DimAttr::get(getContext(), getExtent(), getAxes(), rule, multiple,
                      getGrouped());
}

//===----------------------------------------------------------------------===//
// ShardingAttr
//===----------------------------------------------------------------------===//

Attribute ShardingAttr::parse(AsmParser &parser, Type) {
  SmallVector<DimAttr> dims;
  SmallVector<StringAttr> partial;
  auto parseOne = [&]() -> ParseResult {
    FailureOr<DimAttr> dim = parseDim(parser);
    if (failed(dim))
      return failure();
    dims.push_back(*dim);
    return success();
  };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return {};
  if (succeeded(parser.parseOptionalKeyword("partial")) &&
      parseAxisList(parser, partial))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<ShardingAttr>(parser.getContext(), dims, partial);
}

void ShardingAttr::print(AsmPrinter &printer) const {
  Layout layout;
  layout.dims.assign(getDims().begin(), getDims().end());
  layout.partial.assign(getPartial().begin(), getPartial().end());
  printer << "<" << layout.str() << ">";
}

LogicalResult ShardingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<DimAttr> dims,
                                   ArrayRef<StringAttr> partial) {
  llvm::SmallPtrSet<StringAttr, 8> seen;
  auto use = [&](StringAttr axis) -> LogicalResult {
    if (seen.insert(axis).second)
      return success();
    return emitError() << "axis '" << axis.getValue() << "' appears twice";
  };
  for (DimAttr dim : dims)
    for (StringAttr axis :
         llvm::concat<const StringAttr>(dim.getAxes(), dim.getGrouped()))
      if (failed(use(axis)))
        return failure();
  for (StringAttr axis : partial)
    if (failed(use(axis)))
      return failure();
  if (seen.empty())
    return emitError() << "splits nothing and sums nothing: write "
                          "#transformer.dims, or no encoding";
  return success();
}

LogicalResult ShardingAttr::verifyEncoding(
    ArrayRef<int64_t> shape, Type,
    function_ref<InFlightDiagnostic()> emitError) const {
  return verifyDimensions(*this, shape, emitError);
}

unsigned ShardingAttr::getRank() const { return getDims().size(); }

DimRef ShardingAttr::getDim(unsigned index) const {
  DimAttr dim = getDims()[index];
  return {dim.getExtent().getValue(), dim.getAxes(), dim.getRule(),
          dim.getMultiple(), dim.getGrouped()};
}

ArrayRef<StringAttr> ShardingAttr::getPartialAxes() const {
  return getPartial();
}

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

Layout Layout::of(RankedTensorType type) {
  MLIRContext *context = type.getContext();
  TensorView view(type);
  Layout layout;
  layout.partial.assign(view.partialAxes().begin(), view.partialAxes().end());
  if (auto sharding = dyn_cast_or_null<ShardingAttr>(type.getEncoding())) {
    for (DimAttr dim : sharding.getDims()) {
      SplitRule rule =
          dim.getAxes().empty() ? defaultRule(dim.getExtent()) : dim.getRule();
      layout.dims.push_back(
          rule == dim.getRule() ? dim : dim.withRule(rule, dim.getMultiple()));
    }
    return layout;
  }
  DimAttr number = DimAttr::get(context, StringAttr::get(context), {},
                                SplitRule::plain, 1, {});
  for (unsigned i = 0; i < view.rank(); ++i) {
    DimRef dim = view.dim(i);
    if (dim.extent.empty() && dim.isWhole()) {
      layout.dims.push_back(number);
      continue;
    }
    auto extent = StringAttr::get(context, dim.extent);
    layout.dims.push_back(
        DimAttr::get(context, extent, dim.axes,
                     dim.axes.empty() ? defaultRule(extent) : dim.rule,
                     dim.multiple, dim.grouped));
  }
  return layout;
}

bool Layout::isWhole() const {
  return partial.empty() &&
         llvm::all_of(dims, [](DimAttr dim) { return dim.isWhole(); });
}

DimAttr *Layout::findSet() {
  auto *set = llvm::find_if(dims, [](DimAttr dim) { return dim.isSet(); });
  return set == dims.end() ? nullptr : set;
}

bool Layout::uses(StringAttr axis) const {
  return llvm::is_contained(partial, axis) ||
         llvm::any_of(dims, [&](DimAttr dim) { return dim.uses(axis); });
}

SmallVector<StringAttr> parallel::sortedAxes(ArrayRef<StringAttr> axes) {
  SmallVector<StringAttr> sorted(axes);
  llvm::sort(sorted, [](StringAttr a, StringAttr b) {
    return a.getValue() < b.getValue();
  });
  return sorted;
}

bool Layout::isSameAs(const Layout &other) const {
  auto sortSets = [](const Layout &layout) {
    Layout sorted = layout;
    for (DimAttr &dim : sorted.dims)
      if (dim.isSet())
        dim = dim.withAxes(sortedAxes(dim.getAxes()))
                  .withGrouped(sortedAxes(dim.getGrouped()));
    sorted.partial = sortedAxes(layout.partial);
    return sorted;
  };
  return sortSets(*this) == sortSets(other);
}

std::string Layout::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "[";
  llvm::interleave(dims, os, [&](DimAttr dim) { printDim(os, dim); }, ", ");
  os << "]";
  if (!partial.empty())
    os << " partial " << axesText(partial);
  return text;
}
