//===- TensorView.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Interfaces/TensorView.h"

#include "autopar/Interfaces/BlockType.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/StringExtras.h"

using namespace autopar;
using namespace autopar::program;
using namespace mlir;

#include "autopar/Interfaces/DimensionEncoding.cpp.inc"
#include "autopar/Interfaces/TensorHandle.cpp.inc"

RankedTensorType autopar::tensorOf(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor;
  auto handle = dyn_cast<TensorHandleInterface>(type);
  return handle ? handle.getTensor() : RankedTensorType();
}

Type autopar::withTensor(Type type, RankedTensorType tensor) {
  if (auto handle = dyn_cast<TensorHandleInterface>(type))
    return handle.withTensor(tensor);
  return tensor;
}

TensorView::TensorView(Type type)
    : type(tensorOf(type)),
      encoding(dyn_cast_or_null<DimensionEncodingInterface>(
          this->type.getEncoding())) {}

DimRef TensorView::dim(unsigned index) const {
  return encoding ? encoding.getDim(index) : DimRef();
}

ArrayRef<StringAttr> TensorView::partialAxes() const {
  return encoding ? encoding.getPartialAxes() : ArrayRef<StringAttr>();
}

SmallVector<DimRef> TensorView::tokens(unsigned index) const {
  return encoding ? encoding.getTokens(index) : SmallVector<DimRef>();
}

DimRef TensorView::experts(unsigned index) const {
  return encoding ? encoding.getExperts(index) : DimRef();
}

NamedExtent TensorView::extent(unsigned index) const {
  NamedExtent named = dim(index).extent;
  return named.isNamed() ? named : NamedExtent::number(type.getDimSize(index));
}

std::string TensorView::extentText(unsigned index) const {
  NamedExtent own = extent(index);
  return own.isNamed() ? own.str() : "?";
}

std::optional<ElementType> autopar::toElementType(Type type) {
  if (type.isF32())
    return ElementType::f32;
  if (type.isBF16())
    return ElementType::bf16;
  if (type.isF16())
    return ElementType::f16;
  if (isa<Float8E4M3FNType>(type))
    return ElementType::fp8_e4m3;
  if (isa<Float8E5M2Type>(type))
    return ElementType::fp8_e5m2;
  if (type.isSignlessInteger(32))
    return ElementType::i32;
  if (type.isUnsignedInteger(8))
    return ElementType::u8;
  if (type.isSignlessInteger(8))
    return ElementType::i8;
  if (type.isSignlessInteger(16))
    return ElementType::i16;
  if (type.isSignlessInteger(64))
    return ElementType::i64;
  if (isa<Float8E8M0FNUType>(type))
    return ElementType::fp8_e8m0;
  if (isa<Float4E2M1FNType>(type))
    return ElementType::fp4;
  if (auto blocks = dyn_cast<BlockType>(type))
    return blocks.getFormat();
  return std::nullopt;
}

Type autopar::fromElementType(MLIRContext *context, ElementType type) {
  switch (type) {
  case ElementType::f32:
    return Float32Type::get(context);
  case ElementType::bf16:
    return BFloat16Type::get(context);
  case ElementType::f16:
    return Float16Type::get(context);
  case ElementType::fp8_e4m3:
  case ElementType::fp8_block:
    return Float8E4M3FNType::get(context);
  case ElementType::fp8_e5m2:
    return Float8E5M2Type::get(context);
  case ElementType::i32:
    return IntegerType::get(context, 32);
  case ElementType::i8:
    return IntegerType::get(context, 8);
  case ElementType::fp8_e8m0:
    return Float8E8M0FNUType::get(context);
  case ElementType::fp4:
    return Float4E2M1FNType::get(context);
  case ElementType::u8:
    return IntegerType::get(context, 8, IntegerType::Unsigned);
  case ElementType::i16:
    return IntegerType::get(context, 16);
  case ElementType::i64:
    return IntegerType::get(context, 64);
  case ElementType::q8_0:
  case ElementType::q4_0:
  case ElementType::q4_1:
  case ElementType::q5_0:
  case ElementType::q5_1:
  case ElementType::iq4_nl:
  case ElementType::nvfp4:
  case ElementType::fp8_row_576:
  case ElementType::fp8_row_512:
  case ElementType::fp8_row_128:
    return BlockType::get(context, type);
  }
  llvm_unreachable("covered switch");
}

//===----------------------------------------------------------------------===//
// Short names of types in printed IR
//===----------------------------------------------------------------------===//

/// Returns the end of an alias for a number format. It ends with a letter,
/// because the printer appends numbers to make aliases unique.
static StringRef aliasOfFormat(Type type) {
  std::optional<ElementType> format = toElementType(type);
  if (!format)
    return "x";
  switch (*format) {
  case ElementType::f32:
    return "float";
  case ElementType::bf16:
    return "bf";
  case ElementType::f16:
    return "half";
  case ElementType::fp8_e4m3:
  case ElementType::fp8_block:
    return "fp8e";
  case ElementType::fp8_e5m2:
    return "fp8m";
  case ElementType::i32:
    return "int";
  case ElementType::i8:
    return "byte";
  case ElementType::fp8_e8m0:
    return "fp8s";
  case ElementType::fp4:
    return "fp4e";
  case ElementType::u8:
    return "ubyte";
  case ElementType::i16:
    return "short";
  case ElementType::i64:
    return "long";
  default:
    // All other formats are block formats.
    return "blocks";
  }
}

/// The word for the split rule of `dim` in an alias of a type, as "pad8".
/// Callers leave it out where the rule is the default of the extent.
static std::string wordOf(const DimRef &dim) {
  switch (dim.rule) {
  case SplitRule::plain:
    return "plain";
  case SplitRule::pad:
    return "pad" + std::to_string(dim.multiple);
  case SplitRule::cap:
    return "cap";
  case SplitRule::any:
    return "any";
  case SplitRule::ring:
    return "ring";
  }
  llvm_unreachable("covered switch");
}

std::string autopar::aliasOf(RankedTensorType type) {
  TensorView view(type);
  std::string name;
  bool afterSymbol = false;
  for (unsigned i = 0; i < view.rank(); ++i) {
    DimRef dim = view.dim(i);
    std::string part;
    if (!view.isSymbolic(i)) {
      part = view.extentText(i);
    } else {
      for (StringRef symbol : dim.extent.symbols())
        for (StringRef word : llvm::split(symbol, '_'))
          part += word.take_front(1);
      if (dim.extent.factor() != 1)
        part += std::to_string(dim.extent.factor());
    }
    for (StringAttr axis : dim.axes)
      part += axis.getValue();
    if (!dim.axes.empty() && dim.rule != defaultRule(dim.extent))
      part += "_" + wordOf(dim);
    if (!dim.grouped.empty())
      part += "_to";
    for (StringAttr axis : dim.grouped)
      part += "_" + axis.getValue().str();
    bool letters = !part.empty() && llvm::isAlpha(part.back());
    if (!name.empty() && !(afterSymbol && view.isSymbolic(i)))
      name += "_";
    name += part;
    afterSymbol = view.isSymbolic(i) && letters && dim.axes.empty();
  }
  if (name.empty() || llvm::isDigit(name.front()))
    name = "w" + name;
  if (view.partialAxes().empty())
    return name + "_" + aliasOfFormat(type.getElementType()).str();
  name += "_sum";
  for (StringAttr axis : view.partialAxes())
    name += "_" + axis.getValue().str();
  return name;
}

//===----------------------------------------------------------------------===//
// Verification of types
//===----------------------------------------------------------------------===//

LogicalResult
autopar::verifyDimensions(DimensionEncodingInterface encoding,
                          ArrayRef<int64_t> shape,
                          llvm::function_ref<InFlightDiagnostic()> emitError) {
  if (encoding.getRank() != shape.size())
    return emitError() << "encoding describes " << encoding.getRank()
                       << " dimensions, the tensor has " << shape.size();
  for (auto [i, size] : llvm::enumerate(shape)) {
    NamedExtent extent = encoding.getDim(i).extent;
    if (!extent.isNamed() && ShapedType::isDynamic(size))
      return emitError() << "dimension " << i
                         << " is '?' but its encoding names no symbol";
    if (extent.isNamed() && !ShapedType::isDynamic(size))
      return emitError() << "dimension " << i << " is named '" << extent.str()
                         << "' and must print as '?', found " << size;
    if (extent.isNumber())
      return emitError() << "dimension " << i << " is named by the number "
                         << extent.str() << ", which is the shape's: write '_'";
  }
  return success();
}
