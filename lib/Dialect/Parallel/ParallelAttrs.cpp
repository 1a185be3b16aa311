//===- ParallelAttrs.cpp - Layouts of tensors -----------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Parallel/AttrWords.h"
#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Program/CostProgram.h"
#include "autopar/Support/Limits.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace autopar::parallel;
using namespace mlir;

#include "autopar/Dialect/Parallel/ParallelEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "autopar/Dialect/Parallel/ParallelAttrs.cpp.inc"

void ParallelDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "autopar/Dialect/Parallel/ParallelAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// The attribute DimAttr
//===----------------------------------------------------------------------===//

static ParseResult parseAxis(AsmParser &parser,
                             SmallVectorImpl<StringAttr> &axes) {
  StringRef name;
  if (parser.parseKeyword(&name))
    return failure();
  axes.push_back(StringAttr::get(parser.getContext(), name));
  return success();
}

/// Parses a list of axes in brackets, as in `[dpi, tp]`.
static ParseResult parseAxisList(AsmParser &parser,
                                 SmallVectorImpl<StringAttr> &axes) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&] { return parseAxis(parser, axes); });
}

/// Parses the axes that split a dimension, as in `dpo*dpi`.
static ParseResult parseSplitAxes(AsmParser &parser,
                                  SmallVectorImpl<StringAttr> &axes) {
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

/// Returns the axes that split the dimensions `dims`, in their order.
static SmallVector<StringAttr> axesOf(ArrayRef<DimAttr> dims) {
  SmallVector<StringAttr> axes;
  for (DimAttr dim : dims)
    llvm::append_range(axes, dim.getAxes());
  return axes;
}

/// Parses the split of a dimension that is not a set, as in `batch by dpo*dpi
/// any`.
static FailureOr<DimAttr> parseSplit(AsmParser &parser, NamedExtent extent) {
  SmallVector<StringAttr> axes;
  SplitRule rule = defaultRule(extent);
  int64_t multiple = 1;
  if (succeeded(parser.parseOptionalKeyword("by")) &&
      (parseSplitAxes(parser, axes) || parseRule(parser, rule, multiple)))
    return failure();
  return DimAttr::get(parser.getContext(), extent, axes, rule, multiple);
}

/// Parses the layout of the tokens of a set, as in `[batch by dpo*dpi, query]`;
/// with `{dpo} of` before it, the rows of the set are split over these axes
/// only.
static ParseResult parseHome(AsmParser &parser,
                             SmallVectorImpl<StringAttr> &axes,
                             SmallVectorImpl<DimAttr> &home) {
  bool some = succeeded(parser.parseOptionalLBrace());
  if (some && (parser.parseCommaSeparatedList(
                   [&] { return parseAxis(parser, axes); }) ||
               parser.parseRBrace() || parser.parseKeyword("of")))
    return failure();
  auto parseOne = [&]() -> ParseResult {
    NamedExtent extent;
    if (NamedExtent::parse(parser, extent))
      return failure();
    FailureOr<DimAttr> dim = parseSplit(parser, extent);
    if (failed(dim))
      return failure();
    home.push_back(*dim);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  if (!some)
    axes = axesOf(home);
  return success();
}

static FailureOr<DimAttr> parseSet(AsmParser &parser, NamedExtent extent) {
  SmallVector<StringAttr> axes, grouped;
  SmallVector<DimAttr> tokens, experts;
  if (succeeded(parser.parseOptionalKeyword("by")) &&
      parseHome(parser, axes, tokens))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeyword("grouped")) &&
      parseHome(parser, grouped, experts))
    return failure();
  if (experts.size() > 1)
    return parser.emitError(loc) << "groups by " << experts.size()
                                 << " dimensions, expected that of experts";
  return DimAttr::get(parser.getContext(), extent, axes, defaultRule(extent), 1,
                      tokens, grouped,
                      experts.empty() ? DimAttr() : experts.front());
}

static FailureOr<DimAttr> parseDim(AsmParser &parser) {
  NamedExtent extent;
  if (NamedExtent::parse(parser, extent))
    return failure();
  if (extent.isSet())
    return parseSet(parser, extent);
  return parseSplit(parser, extent);
}

static void printSplit(raw_ostream &os, DimAttr dim) {
  os << dim.getExtent().str();
  if (dim.getAxes().empty())
    return;
  os << " by ";
  llvm::interleave(
      dim.getAxes(), os, [&](StringAttr axis) { os << axis.getValue(); }, "*");
  if (dim.getRule() != defaultRule(dim.getExtent()))
    os << " " << nameOf(dim.getRule());
  if (dim.getRule() == SplitRule::pad)
    os << " " << dim.getMultiple();
}

static void printHome(raw_ostream &os, ArrayRef<StringAttr> axes,
                      ArrayRef<DimAttr> home) {
  if (axes.size() != axesOf(home).size()) {
    os << "{";
    llvm::interleaveComma(axes, os,
                          [&](StringAttr axis) { os << axis.getValue(); });
    os << "} of ";
  }
  os << "[";
  llvm::interleaveComma(home, os, [&](DimAttr dim) { printSplit(os, dim); });
  os << "]";
}

/// Returns the dimension of experts by which a set is grouped; empty if it is
/// not grouped.
static SmallVector<DimAttr, 1> homeOfExperts(DimAttr set) {
  SmallVector<DimAttr, 1> home;
  if (set.getExperts())
    home.push_back(set.getExperts());
  return home;
}

static void printDim(raw_ostream &os, DimAttr dim) {
  if (!dim.isSet())
    return printSplit(os, dim);
  os << dim.getExtent().str();
  if (!dim.getAxes().empty())
    printHome(os << " by ", dim.getAxes(), dim.getTokens());
  if (!dim.getGrouped().empty())
    printHome(os << " grouped ", dim.getGrouped(), homeOfExperts(dim));
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
  if (isSet())
    return withTokens(axes, getTokens());
  if (axes == getAxes() && !axes.empty())
    return *this;
  return axes.empty() ? DimAttr::get(getContext(), getExtent(), axes,
                                     defaultRule(getExtent()), 1)
                      : DimAttr::get(getContext(), getExtent(), axes, getRule(),
                                     getMultiple());
}

/// Returns `axes`, sorted as they occur in `home`.
static SmallVector<StringAttr> inOrderOf(ArrayRef<DimAttr> home,
                                         ArrayRef<StringAttr> axes) {
  SmallVector<StringAttr> known = axesOf(home), ordered;
  for (ArrayRef<StringAttr> all : {ArrayRef(known), axes})
    for (StringAttr axis : all)
      if (llvm::is_contained(axes, axis) && !llvm::is_contained(ordered, axis))
        ordered.push_back(axis);
  return ordered;
}

DimAttr DimAttr::withTokens(ArrayRef<StringAttr> axes,
                            ArrayRef<DimAttr> tokens) const {
  if (axes.empty())
    tokens = {};
  return DimAttr::get(getContext(), getExtent(), inOrderOf(tokens, axes),
                      getRule(), getMultiple(), tokens, getGrouped(),
                      getExperts());
}

DimAttr DimAttr::withExperts(ArrayRef<StringAttr> grouped,
                             DimAttr experts) const {
  if (grouped.empty())
    experts = {};
  SmallVector<DimAttr, 1> home;
  if (experts)
    home.push_back(experts);
  return DimAttr::get(getContext(), getExtent(), getAxes(), getRule(),
                      getMultiple(), getTokens(), inOrderOf(home, grouped),
                      experts);
}

DimAttr DimAttr::withRule(SplitRule rule, int64_t multiple) const {
  return DimAttr::get(getContext(), getExtent(), getAxes(), rule, multiple,
                      getTokens(), getGrouped(), getExperts());
}

//===----------------------------------------------------------------------===//
// The attribute ShardingAttr
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

/// Verifies that a set states the layout of its tokens (or experts), which must
/// be split over at least `axes`.
static LogicalResult verifyHome(function_ref<InFlightDiagnostic()> emitError,
                                StringRef what, ArrayRef<StringAttr> axes,
                                ArrayRef<DimAttr> home) {
  SmallVector<StringAttr> known = axesOf(home);
  llvm::SmallPtrSet<StringAttr, 8> seen;
  for (StringAttr axis : known)
    if (!seen.insert(axis).second)
      return emitError() << "axis '" << axis.getValue() << "' splits the "
                         << what << " of a set twice";
  for (StringAttr axis : axes)
    if (!seen.contains(axis))
      return emitError() << "a set is split over '" << axis.getValue()
                         << "', and nothing says which " << what
                         << " that is: write [.. by " << axis.getValue() << "]";
  for (DimAttr dim : home)
    if (dim.getRule() == SplitRule::cap || dim.getRule() == SplitRule::ring)
      return emitError() << "a set lies as " << what << " that are split by '"
                         << (dim.getRule() == SplitRule::cap ? "cap" : "ring")
                         << "', which have no one place";
  return success();
}

static LogicalResult verifySet(function_ref<InFlightDiagnostic()> emitError,
                               DimAttr set) {
  SmallVector<DimAttr, 1> experts = homeOfExperts(set);
  for (DimAttr dim : experts)
    if (!dim.getExtent().isNumber())
      return emitError() << "groups by '" << dim.getExtent().str()
                         << "' experts, expected their number";
  return failure(
      failed(verifyHome(emitError, "tokens", set.getAxes(), set.getTokens())) ||
      failed(verifyHome(emitError, "experts", set.getGrouped(), experts)));
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
    if (dim.isSet() && failed(verifySet(emitError, dim)))
      return failure();
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

static DimRef refOf(DimAttr dim) {
  return {dim.getExtent(), dim.getAxes(), dim.getRule(), dim.getMultiple(),
          dim.getGrouped()};
}

DimRef ShardingAttr::getDim(unsigned index) const {
  return refOf(getDims()[index]);
}

SmallVector<DimRef> ShardingAttr::getTokens(unsigned index) const {
  return llvm::map_to_vector(getDims()[index].getTokens(), refOf);
}

DimRef ShardingAttr::getExperts(unsigned index) const {
  DimAttr experts = getDims()[index].getExperts();
  return experts ? refOf(experts) : DimRef();
}

Attribute ShardingAttr::withExtent(unsigned index, NamedExtent extent) const {
  SmallVector<DimAttr> dims(getDims());
  DimAttr old = dims[index];
  dims[index] = DimAttr::get(getContext(), extent, old.getAxes(), old.getRule(),
                             old.getMultiple(), old.getTokens(),
                             old.getGrouped(), old.getExperts());
  return get(getContext(), dims, getPartial());
}

ArrayRef<StringAttr> ShardingAttr::getPartialAxes() const {
  return getPartial();
}

//===----------------------------------------------------------------------===//
// The class Layout
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
  DimAttr number =
      DimAttr::get(context, NamedExtent(), {}, SplitRule::plain, 1);
  for (unsigned i = 0; i < view.rank(); ++i) {
    DimRef dim = view.dim(i);
    if (!dim.extent.isNamed() && dim.isWhole()) {
      layout.dims.push_back(number);
      continue;
    }
    layout.dims.push_back(DimAttr::get(
        context, dim.extent, dim.axes,
        dim.axes.empty() ? defaultRule(dim.extent) : dim.rule, dim.multiple));
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
  return dims == other.dims && sortedAxes(partial) == sortedAxes(other.partial);
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
