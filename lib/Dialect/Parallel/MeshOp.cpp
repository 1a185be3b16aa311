//===- MeshOp.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Parallel/AttrWords.h"
#include "autopar/Dialect/Parallel/Parallel.h"

#include "StagesSyntax.h"

#include "autopar/Interfaces/BlockType.h"
#include "autopar/Interfaces/ModuleOps.h"
#include "autopar/Interfaces/NumberSyntax.h"
#include "autopar/Support/Limits.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace autopar;
using namespace autopar::parallel;
using namespace mlir;

/// The number that stands for the size of an axis whose size is open.
static constexpr int64_t openSize = 0;

ArrayRef<Attribute> MeshOp::getAxisNames() { return getAxes().getValue(); }

std::optional<int64_t> MeshOp::getAxisSize(StringRef name) {
  for (auto [axis, size] : llvm::zip(getAxes(), getSizes()))
    if (cast<StringAttr>(axis).getValue() == name)
      return size;
  return std::nullopt;
}

SmallVector<StringRef> MeshOp::getNamesOf(ArrayRef<StringAttr> axes) {
  SmallVector<StringRef> names;
  if (axes.size() == 1 && !getDegrees().contains(axes[0].strref().drop_back()))
    names.push_back(axes[0]);
  for (NamedAttribute degree : getDegrees()) {
    ArrayRef<Attribute> factors = cast<ArrayAttr>(degree.getValue()).getValue();
    if (factors.size() == axes.size() &&
        llvm::all_of(axes, [&](StringAttr axis) {
          return llvm::is_contained(factors, axis);
        }))
      names.push_back(degree.getName());
  }
  return names;
}

/// Keys of a report's `mesh` that are not axes, so that no axis may have these
/// names.
static constexpr llvm::StringLiteral reservedNames[] = {"devices", "axes",
                                                        "experts_per_device"};

/// Whether `name` prints without quotes and has no other meaning in reports.
static bool isAxisName(StringRef name) {
  auto isInside = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  return !name.empty() && llvm::isAlpha(name.front()) &&
         llvm::all_of(name, isInside) &&
         !llvm::is_contained(reservedNames, name);
}

static LogicalResult verifyDegree(MeshOp mesh, NamedAttribute degree) {
  auto axes = dyn_cast<ArrayAttr>(degree.getValue());
  if (!axes || axes.empty())
    return mesh.emitOpError() << "degree '" << degree.getName().getValue()
                              << "' is not a product of axes";
  if (!isAxisName(degree.getName()))
    return mesh.emitOpError() << "has a degree '" << degree.getName().getValue()
                              << "', which is no name for one";
  if (mesh.getAxisSize(degree.getName()))
    return mesh.emitOpError() << "degree '" << degree.getName().getValue()
                              << "' has the name of an axis";
  llvm::StringSet<> seen;
  for (Attribute axis : axes) {
    auto name = dyn_cast<StringAttr>(axis);
    if (!name || !mesh.getAxisSize(name))
      return mesh.emitOpError() << "degree '" << degree.getName().getValue()
                                << "' has an unknown factor " << axis;
    if (!seen.insert(name.getValue()).second)
      return mesh.emitOpError()
             << "degree '" << degree.getName().getValue() << "' has the axis '"
             << name.getValue() << "' twice";
  }
  return success();
}

LogicalResult MeshOp::verify() {
  if (getAxes().size() != getSizes().size())
    return emitOpError() << "has " << getAxes().size() << " axes and "
                         << getSizes().size() << " sizes";
  if (getAxes().size() > limits::maxMeshAxes)
    return emitOpError() << "has " << getAxes().size()
                         << " axes, expected at most " << limits::maxMeshAxes;
  llvm::StringSet<> seen;
  int64_t devices = 1;
  for (auto [axis, size] : llvm::zip(getAxes(), getSizes())) {
    StringRef name = cast<StringAttr>(axis).getValue();
    if (!isAxisName(name))
      return emitOpError() << "has an axis '" << name
                           << "': expected letters and digits, and none of "
                           << llvm::join(ArrayRef(reservedNames), ", ")
                           << ", which reports use";
    if (!seen.insert(name).second)
      return emitOpError() << "has the axis '" << name << "' twice";
    if (size < 0 || size > limits::maxDevices ||
        (size && (devices *= size) > limits::maxDevices))
      return emitOpError() << "axis '" << name << "' has size " << size
                           << ", expected a product of all sizes from 1 to "
                           << limits::maxDevices;
  }
  for (NamedAttribute degree : getDegrees())
    if (failed(verifyDegree(*this, degree)))
      return failure();
  return verifyOnlyOne<DeviceMeshOpInterface>(*this, "mesh");
}

//===----------------------------------------------------------------------===//
// Parsing and printing of mesh axes, degrees and figures
//===----------------------------------------------------------------------===//

/// Parses the axes of a mesh, as in `(pp = 4, tp = ?)`.
static ParseResult parseMeshAxes(OpAsmParser &parser, ArrayAttr &axes,
                                 DenseI64ArrayAttr &sizes) {
  Builder &builder = parser.getBuilder();
  SmallVector<Attribute> names;
  SmallVector<int64_t> values;
  auto parseAxis = [&]() -> ParseResult {
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    names.push_back(builder.getStringAttr(name));
    values.push_back(openSize);
    if (succeeded(parser.parseOptionalQuestion()))
      return success();
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseInteger(values.back()))
      return failure();
    if (values.back() < 1)
      return parser.emitError(loc)
             << "axis '" << name << "' has size " << values.back()
             << ", expected at least 1, or '?'";
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseAxis))
    return failure();
  axes = builder.getArrayAttr(names);
  sizes = builder.getDenseI64ArrayAttr(values);
  return success();
}

static void printMeshAxes(OpAsmPrinter &printer, Operation *, ArrayAttr axes,
                          DenseI64ArrayAttr sizes) {
  printer << "(";
  llvm::interleaveComma(
      llvm::zip(axes, sizes.asArrayRef()), printer, [&](auto pair) {
        printer << cast<StringAttr>(std::get<0>(pair)).getValue() << " = ";
        if (std::get<1>(pair) == openSize)
          printer << "?";
        else
          printer << std::get<1>(pair);
      });
  printer << ")";
}

/// Parses named products of axes, as in `{dp = dpo*dpi, ep = dpi*tp}`.
static ParseResult parseDegrees(OpAsmParser &parser, DictionaryAttr &degrees) {
  Builder &builder = parser.getBuilder();
  NamedAttrList list;
  auto parseDegree = [&]() -> ParseResult {
    StringRef name;
    SmallVector<Attribute> axes;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    do {
      StringRef axis;
      if (parser.parseKeyword(&axis))
        return failure();
      axes.push_back(builder.getStringAttr(axis));
    } while (succeeded(parser.parseOptionalStar()));
    if (list.set(name, builder.getArrayAttr(axes)))
      return parser.emitError(loc) << "degree '" << name << "' appears twice";
    return success();
  };
  if (succeeded(parser.parseOptionalLBrace()) &&
      (parser.parseCommaSeparatedList(parseDegree) || parser.parseRBrace()))
    return failure();
  degrees = list.getDictionary(parser.getContext());
  return success();
}

static void printDegrees(OpAsmPrinter &printer, Operation *,
                         DictionaryAttr degrees) {
  if (degrees.empty())
    return;
  printer << " {";
  llvm::interleaveComma(degrees, printer, [&](NamedAttribute degree) {
    printer << degree.getName().getValue() << " = ";
    llvm::interleave(
        cast<ArrayAttr>(degree.getValue()), printer,
        [&](Attribute axis) { printer << cast<StringAttr>(axis).getValue(); },
        "*");
  });
  printer << "}";
}

/// Parses overrides of figures, as in `("chips.h200.memory_bytes" = 1.2e+11)`.
static ParseResult parseFigures(OpAsmParser &parser, ArrayAttr &figures,
                                DenseF64ArrayAttr &values) {
  SmallVector<Attribute> paths;
  SmallVector<double> numbers;
  auto parseFigure = [&]() -> ParseResult {
    StringAttr path;
    double value;
    if (parser.parseAttribute(path) || parser.parseEqual() ||
        parser.parseFloat(value))
      return failure();
    paths.push_back(path);
    numbers.push_back(value);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseFigure))
    return failure();
  figures = parser.getBuilder().getArrayAttr(paths);
  values = parser.getBuilder().getDenseF64ArrayAttr(numbers);
  return success();
}

static void printFigures(OpAsmPrinter &printer, Operation *, ArrayAttr figures,
                         DenseF64ArrayAttr values) {
  printer << "(";
  llvm::interleaveComma(llvm::zip(figures, values.asArrayRef()), printer,
                        [&](const auto &figure) {
                          printer << std::get<0>(figure) << " = "
                                  << numberText(std::get<1>(figure));
                        });
  printer << ")";
}

/// Parses the number of a dimension, or the word `experts` for the grouping of
/// a set of routed tokens.
static ParseResult parseTensorDim(OpAsmParser &parser, IntegerAttr &dim) {
  int64_t number = expertsDim;
  if (failed(parser.parseOptionalKeyword("experts")) &&
      parser.parseInteger(number))
    return failure();
  dim = parser.getBuilder().getI64IntegerAttr(number);
  return success();
}

static void printTensorDim(OpAsmPrinter &printer, Operation *,
                           IntegerAttr dim) {
  if (dim.getInt() == expertsDim)
    printer << "experts";
  else
    printer << dim.getInt();
}

#define GET_OP_CLASSES
#include "autopar/Dialect/Parallel/ParallelOps.cpp.inc"
