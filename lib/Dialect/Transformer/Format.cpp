//===- Format.cpp - Tensors of quantized weights --------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/Transformer.h"

#include "autopar/Support/Limits.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::transformer;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Parsing and printing of quantisation formats
//===----------------------------------------------------------------------===//

/// Parses one dimension of a stored tensor: `128`, `o`, `i/8` or `i*4/32`.
static ParseResult parseDim(AsmParser &parser, StoredDim &dim) {
  OptionalParseResult number = parser.parseOptionalInteger(dim.num);
  if (number.has_value())
    return *number;
  StringRef name;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&name))
    return failure();
  std::optional<StoredDim::Base> base = parseStoredBase(name);
  if (!base)
    return parser.emitError(loc) << "expected a number, o, i or all";
  dim.base = *base;
  if (succeeded(parser.parseOptionalStar()) && parser.parseInteger(dim.num))
    return failure();
  if (succeeded(parser.parseOptionalSlash()) && parser.parseInteger(dim.den))
    return failure();
  return success();
}

/// Parses one stored tensor of a format, as in `weight_scale_inv : f32 [o/128,
/// i/128]`.
static ParseResult parseTensor(AsmParser &parser, FormatTensorAttr &tensor) {
  std::string suffix;
  Type type;
  if (parser.parseKeywordOrString(&suffix) || parser.parseColonType(type))
    return failure();
  SmallVector<StoredDim> dims;
  bool plain = failed(parser.parseOptionalLSquare());
  if (!plain && failed(parser.parseOptionalRSquare()) &&
      (parser.parseCommaSeparatedList(
           [&]() { return parseDim(parser, dims.emplace_back()); }) ||
       parser.parseRSquare()))
    return failure();
  MLIRContext *context = parser.getContext();
  tensor = FormatTensorAttr::get(context, StringAttr::get(context, suffix),
                                 type, plain, dims);
  return success();
}

Attribute FormatAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  std::string name;
  Type compute;
  SmallVector<FormatTensorAttr> tensors;
  if (parser.parseLess() || parser.parseString(&name))
    return {};
  if (succeeded(parser.parseOptionalKeyword("compute")) &&
      parser.parseType(compute))
    return {};
  if (parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Braces,
          [&]() { return parseTensor(parser, tensors.emplace_back()); }) ||
      parser.parseGreater())
    return {};
  MLIRContext *context = parser.getContext();
  return FormatAttr::getChecked([&]() { return parser.emitError(loc); },
                                context, StringAttr::get(context, name),
                                compute, ArrayRef<FormatTensorAttr>(tensors));
}

static void printDim(AsmPrinter &printer, const StoredDim &dim) {
  if (dim.base == StoredDim::Base::one) {
    printer << dim.num;
    return;
  }
  printer << StringRef(nameOf(dim.base));
  if (dim.num != 1)
    printer << "*" << dim.num;
  if (dim.den != 1)
    printer << "/" << dim.den;
}

void FormatAttr::print(AsmPrinter &printer) const {
  printer << "<" << getName();
  if (getCompute())
    printer << " compute " << getCompute();
  printer << " {";
  llvm::interleaveComma(getTensors(), printer, [&](FormatTensorAttr tensor) {
    printer.printKeywordOrString(tensor.getSuffix());
    printer << " : " << tensor.getElementType();
    if (tensor.getPlain())
      return;
    printer << " [";
    llvm::interleaveComma(tensor.getDims(), printer, [&](const StoredDim &dim) {
      printDim(printer, dim);
    });
    printer << "]";
  });
  printer << "}>";
}

LogicalResult FormatAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringAttr name, Type compute,
                                 ArrayRef<FormatTensorAttr> tensors) {
  if (name.empty() || tensors.empty())
    return emitError() << "a format has a name and at least one tensor";
  if (compute && !toElementType(compute))
    return emitError() << "computes in the unknown format " << compute;
  llvm::StringSet<> suffixes;
  for (FormatTensorAttr tensor : tensors) {
    StringRef suffix = tensor.getSuffix();
    if (suffix.empty() || suffix.contains('*') ||
        !suffixes.insert(suffix).second)
      return emitError() << "suffix '" << suffix
                         << "' is empty, has a '*' or occurs twice";
    if (!toElementType(tensor.getElementType()))
      return emitError() << "'" << suffix << "' has the unknown format "
                         << tensor.getElementType();
    for (const StoredDim &dim : tensor.getDims())
      for (int64_t number : {dim.num, dim.den})
        if (number < 1 || number > limits::maxDimension)
          return emitError()
                 << "'" << suffix << "' has the number " << number
                 << " in its shape, expected 1 to " << limits::maxDimension;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Tensors that a format stores
//===----------------------------------------------------------------------===//

FormatAttr transformer::getFormat(WeightOp weight) {
  return dyn_cast_or_null<FormatAttr>(weight.getStoredFormat());
}

bool transformer::usesAll(FormatTensorAttr tensor) {
  return llvm::any_of(tensor.getDims(), [](const StoredDim &dim) {
    return dim.base == StoredDim::Base::all;
  });
}

/// Returns the extent to which `base` refers, for an unquantised tensor of
/// shape `shape`.
static Checked extentOf(StoredDim::Base base, ArrayRef<int64_t> shape) {
  switch (base) {
  case StoredDim::Base::one:
    return 1;
  case StoredDim::Base::o:
    return shape[shape.size() - 2];
  case StoredDim::Base::i:
    return shape.back();
  case StoredDim::Base::all:
    break;
  }
  Checked product = 1;
  for (int64_t size : shape)
    product *= size;
  return product;
}

SmallVector<Checked> transformer::getFormatShape(FormatTensorAttr tensor,
                                                 ArrayRef<int64_t> plain) {
  if (tensor.getPlain())
    return SmallVector<Checked>(plain.begin(), plain.end());
  SmallVector<Checked> shape;
  if (!usesAll(tensor))
    shape.append(plain.begin(), plain.end() - 2);
  for (const StoredDim &dim : tensor.getDims())
    shape.push_back(dim.of(extentOf(dim.base, plain)));
  return shape;
}

/// Returns the name of a stored tensor from the weight's name and the format's
/// suffix, by the rule in the description of `#transformer.format`.
static std::string nameWith(StringRef name, StringRef suffix) {
  if (name.consume_back("weight"))
    return (name + suffix).str();
  suffix.consume_front("weight");
  bool joined = suffix.empty() || !llvm::isAlnum(suffix.front());
  return (name + (joined ? "" : ".") + suffix).str();
}

SmallVector<StoredTensor> transformer::getStoredTensors(WeightOp weight) {
  StoredTensor plain = getStoredTensor(weight);
  FormatAttr format = getFormat(weight);
  if (!format)
    return {plain};
  SmallVector<StoredTensor> tensors;
  for (FormatTensorAttr tensor : format.getTensors()) {
    StoredTensor &stored = tensors.emplace_back();
    stored.name = nameWith(plain.name, tensor.getSuffix());
    stored.copies = plain.copies;
    stored.type = *toElementType(tensor.getElementType());
    for (Checked size : getFormatShape(tensor, plain.shape))
      stored.shape.push_back(size.int64().value_or(0));
  }
  return tensors;
}
