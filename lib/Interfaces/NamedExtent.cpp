//===- NamedExtent.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Interfaces/NamedExtent.h"

#include "autopar/Support/Limits.h"

#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/StringExtras.h"

using namespace autopar;
using namespace mlir;

NamedExtent NamedExtent::number(int64_t value) {
  NamedExtent extent;
  extent.multiple = value;
  return extent;
}

NamedExtent NamedExtent::symbol(MLIRContext *context, StringRef name) {
  NamedExtent extent = number(1);
  extent.names = ArrayAttr::get(context, {StringAttr::get(context, name)});
  return extent;
}

//===----------------------------------------------------------------------===//
// Extents as text
//===----------------------------------------------------------------------===//

/// Multiplies the extent by the number `word`, or appends the symbol `word` to
/// `all`.
bool NamedExtent::appendFactor(MLIRContext *context, StringRef word,
                               SmallVectorImpl<Attribute> &all) {
  if (word.empty())
    return false;
  if (!llvm::isDigit(word.front())) {
    all.push_back(StringAttr::get(context, word));
    return true;
  }
  int64_t value;
  return !word.getAsInteger(10, value) && value >= 1 &&
         !llvm::MulOverflow(multiple, value, multiple) &&
         multiple <= limits::maxDimension;
}

std::optional<NamedExtent> NamedExtent::parse(MLIRContext *context,
                                              StringRef text) {
  NamedExtent extent = number(1);
  extent.set = text.consume_front("{");
  if (extent.set && !text.consume_back("}"))
    return std::nullopt;
  SmallVector<Attribute> all;
  for (StringRef word : llvm::split(text, '*'))
    if (!extent.appendFactor(context, word, all))
      return std::nullopt;
  if (!all.empty())
    extent.names = ArrayAttr::get(context, all);
  return extent;
}

ParseResult NamedExtent::parse(AsmParser &parser, NamedExtent &extent) {
  extent = NamedExtent();
  if (succeeded(parser.parseOptionalKeyword("_")))
    return success();
  extent.multiple = 1;
  extent.set = succeeded(parser.parseOptionalLBrace());
  SmallVector<Attribute> all;
  do {
    SMLoc loc = parser.getCurrentLocation();
    int64_t value = 0;
    StringRef symbol;
    OptionalParseResult isNumber = parser.parseOptionalInteger(value);
    if (isNumber.has_value() ? failed(*isNumber)
                             : failed(parser.parseKeyword(&symbol)))
      return failure();
    std::string word =
        isNumber.has_value() ? std::to_string(value) : symbol.str();
    if (isNumber.has_value() && value < 1)
      return parser.emitError(loc, "expected a positive number");
    if (!extent.appendFactor(parser.getContext(), word, all))
      return parser.emitError(loc)
             << "expected an extent up to " << limits::maxDimension;
  } while (succeeded(parser.parseOptionalStar()));
  if (!all.empty())
    extent.names = ArrayAttr::get(parser.getContext(), all);
  return extent.set ? parser.parseRBrace() : success();
}

std::string NamedExtent::str() const {
  if (!isNamed())
    return "_";
  std::string text = llvm::join(symbols(), "*");
  if (!isSymbolic() || multiple != 1)
    text += (text.empty() ? "" : "*") + std::to_string(multiple);
  return set ? "{" + text + "}" : text;
}

//===----------------------------------------------------------------------===//
// Products of extents
//===----------------------------------------------------------------------===//

std::optional<NamedExtent> NamedExtent::product(ArrayRef<NamedExtent> all) {
  NamedExtent result = number(1);
  SmallVector<Attribute> names;
  for (const NamedExtent &extent : all) {
    if (!extent.isNamed() ||
        llvm::MulOverflow(result.multiple, extent.multiple, result.multiple))
      return std::nullopt;
    if (extent.names)
      llvm::append_range(names, extent.names);
  }
  if (!names.empty())
    result.names = ArrayAttr::get(names.front().getContext(), names);
  return result;
}

NamedExtent NamedExtent::asSet() const {
  NamedExtent extent = *this;
  extent.set = true;
  return extent;
}

SmallVector<StringRef, 4> NamedExtent::symbols() const {
  SmallVector<StringRef, 4> all;
  if (names)
    llvm::append_range(all, names.getAsValueRange<StringAttr>());
  return all;
}

bool NamedExtent::is(StringRef symbol) const {
  return multiple == 1 && counts(symbol);
}

bool NamedExtent::counts(StringRef symbol) const {
  return !set && symbols() == ArrayRef(symbol);
}

std::optional<int64_t> NamedExtent::dividedBy(const NamedExtent &other) const {
  if (!isNamed() || !other.isNamed() || other.multiple == 0 ||
      multiple % other.multiple != 0)
    return std::nullopt;
  SmallVector<StringRef, 4> own = symbols(), others = other.symbols();
  llvm::sort(own);
  llvm::sort(others);
  return own == others ? std::optional(multiple / other.multiple)
                       : std::nullopt;
}
