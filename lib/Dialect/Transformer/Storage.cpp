//===- Storage.cpp - How weights lie in the checkpoint --------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/Transformer.h"
#include "autopar/Interfaces/BodyAttr.h"

#include "autopar/Support/Limits.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringMap.h"

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Parsing and printing of how a weight is stored
//===----------------------------------------------------------------------===//

/// Parses a range of a checkpoint dimension, as in `at 3072 of 9216`.
static ParseResult parseRange(AsmParser &parser, int64_t &offset,
                              int64_t &total) {
  SMLoc loc;
  if (parser.parseInteger(offset) || parser.parseKeyword("of"))
    return failure();
  loc = parser.getCurrentLocation();
  if (parser.parseInteger(total))
    return failure();
  if (total < 1 || total > limits::maxDimension)
    return parser.emitError(loc)
           << "expected an extent from 1 to " << limits::maxDimension;
  return success();
}

/// Parses a factor of a checkpoint dimension: `1`, `0/3` or `1 by 8 at 4 of 6`.
static ParseResult parseFactor(AsmParser &parser, StorageFactor &factor) {
  int64_t number;
  if (parser.parseInteger(number))
    return failure();
  if (succeeded(parser.parseOptionalSlash())) {
    factor.offset = number;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseInteger(factor.total))
      return failure();
    if (factor.total < 1 || factor.total > limits::maxDimension)
      return parser.emitError(loc)
             << "expected an extent from 1 to " << limits::maxDimension;
    return success();
  }
  factor.dim = number;
  if (failed(parser.parseOptionalKeyword("by")))
    return success();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseInteger(factor.outer) || parser.parseKeyword("at") ||
      parseRange(parser, factor.offset, factor.total))
    return failure();
  if (factor.outer < 1 || factor.outer > limits::maxDimension)
    return parser.emitError(loc)
           << "expected a number of parts from 1 to " << limits::maxDimension;
  return success();
}

static ParseResult parseGroup(AsmParser &parser, StorageGroupAttr &group) {
  SmallVector<StorageFactor> factors;
  int64_t offset = 0, total = 0;
  do
    if (parseFactor(parser, factors.emplace_back()))
      return failure();
  while (succeeded(parser.parseOptionalStar()));
  if (succeeded(parser.parseOptionalKeyword("at")) &&
      parseRange(parser, offset, total))
    return failure();
  group = StorageGroupAttr::get(parser.getContext(), factors, offset, total);
  return success();
}

StorageAttr StorageAttr::parseBody(AsmParser &parser) {
  SmallVector<StorageGroupAttr> groups;
  Attribute format;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() {
        return parseGroup(parser, groups.emplace_back());
      }))
    return {};
  if (failed(parser.parseOptionalKeyword("as")))
    return get(parser.getContext(), groups, format);
  // The format is in parentheses, because an attribute without them would
  // consume the colon of the op's type.
  Type elementType;
  if (succeeded(parser.parseOptionalLParen())) {
    if (parser.parseAttribute(format) || parser.parseRParen())
      return {};
  } else {
    if (parser.parseType(elementType))
      return {};
    format = TypeAttr::get(elementType);
  }
  return get(parser.getContext(), groups, format);
}

Attribute StorageAttr::parse(AsmParser &parser, Type) {
  return parseInAngles<StorageAttr>(parser);
}

static void printFactor(AsmPrinter &printer, const StorageFactor &factor) {
  if (factor.dim == StorageFactor::noDim) {
    printer << factor.offset << "/" << factor.total;
    return;
  }
  printer << factor.dim;
  if (factor.total)
    printer << " by " << factor.outer << " at " << factor.offset << " of "
            << factor.total;
}

static void printGroup(AsmPrinter &printer, StorageGroupAttr group) {
  bool wide = llvm::any_of(group.getFactors(), [](const StorageFactor &factor) {
    return factor.dim != StorageFactor::noDim && factor.total;
  });
  llvm::interleave(
      group.getFactors(), printer,
      [&](const StorageFactor &factor) { printFactor(printer, factor); },
      wide ? " * " : "*");
  if (group.getTotal())
    printer << " at " << group.getOffset() << " of " << group.getTotal();
}

void StorageAttr::printBody(AsmPrinter &printer) const {
  printer << "[";
  llvm::interleaveComma(getGroups(), printer, [&](StorageGroupAttr group) {
    printGroup(printer, group);
  });
  printer << "]";
  if (auto type = dyn_cast_or_null<TypeAttr>(getFormat()))
    printer << " as " << type.getValue();
  else if (getFormat())
    printer << " as(" << getFormat() << ")";
}

void StorageAttr::print(AsmPrinter &printer) const {
  printInAngles(printer, *this);
}

//===----------------------------------------------------------------------===//
// Making storage attributes
//===----------------------------------------------------------------------===//

static StorageGroupAttr wholeGroup(MLIRContext *context,
                                   ArrayRef<int64_t> dims) {
  SmallVector<StorageFactor> factors(dims.size());
  for (auto [factor, dim] : llvm::zip_equal(factors, dims))
    factor.dim = dim;
  return StorageGroupAttr::get(context, factors, 0, 0);
}

StorageAttr StorageAttr::get(MLIRContext *context,
                             ArrayRef<ArrayRef<int64_t>> groups) {
  auto whole = [&](ArrayRef<int64_t> dims) {
    return wholeGroup(context, dims);
  };
  return get(context, llvm::map_to_vector(groups, whole), Attribute());
}

StorageAttr StorageAttr::withFormat(Attribute format) const {
  return get(getContext(), getGroups(), format);
}

SmallVector<StorageGroupAttr> transformer::getStorageGroups(WeightOp weight) {
  if (std::optional<StorageAttr> storage = weight.getStorage())
    return llvm::to_vector(storage->getGroups());
  SmallVector<StorageGroupAttr> groups;
  for (int64_t i = 0, e = TensorView(weight.getResult()).rank(); i < e; ++i)
    groups.push_back(wholeGroup(weight.getContext(), {i}));
  return groups;
}

//===----------------------------------------------------------------------===//
// Parts of a stored tensor
//===----------------------------------------------------------------------===//

static int64_t extentOf(const StorageFactor &factor, ArrayRef<int64_t> shape) {
  return factor.dim == StorageFactor::noDim ? 1 : shape[factor.dim];
}

StoredPart StoredPart::nest(const StoredPart &inner) const {
  return {start + floorDiv(length * inner.start, inner.total),
          floorDiv(length * inner.length, inner.total), total};
}

StoredPart transformer::getStoredPart(StorageGroupAttr group,
                                      ArrayRef<int64_t> valueShape) {
  StoredPart part;
  for (const StorageFactor &factor : group.getFactors())
    part.length *= factor.total ? Checked(factor.outer) * factor.total
                                : extentOf(factor, valueShape);
  part.total = part.length;
  if (group.getTotal()) {
    part.start = group.getOffset();
    part.total = group.getTotal();
  }
  for (const StorageFactor &factor : group.getFactors())
    if (factor.total)
      part =
          part.nest({factor.offset, extentOf(factor, valueShape) / factor.outer,
                     factor.total});
  return part;
}

std::optional<int64_t> transformer::getSpreadDim(WeightOp weight) {
  int64_t rank = TensorView(weight.getResult()).rank();
  llvm::SmallBitVector seen(rank);
  for (StorageGroupAttr group : getStorageGroups(weight))
    for (const StorageFactor &factor : group.getFactors())
      if (factor.dim != StorageFactor::noDim)
        seen.set(factor.dim);
  int64_t dim = seen.find_first_unset();
  return dim < 0 ? std::nullopt : std::optional<int64_t>(dim);
}

//===----------------------------------------------------------------------===//
// Stored tensors and their formats
//===----------------------------------------------------------------------===//

Attribute WeightOp::getStoredFormat() {
  std::optional<StorageAttr> storage = getStorage();
  return storage ? storage->getFormat() : Attribute();
}

StoredTensor transformer::getStoredTensor(WeightOp weight) {
  RankedTensorType type = TensorView(weight.getResult()).getType();
  StoredTensor stored;
  stored.name = weight.getName().str();
  auto format = dyn_cast_or_null<TypeAttr>(weight.getStoredFormat());
  stored.type =
      *toElementType(format ? format.getValue() : type.getElementType());
  for (StorageGroupAttr group : getStorageGroups(weight))
    stored.shape.push_back(
        getStoredPart(group, type.getShape()).total.int64().value_or(0));
  if (std::optional<int64_t> spread = getSpreadDim(weight))
    stored.copies = type.getDimSize(*spread);
  return stored;
}
