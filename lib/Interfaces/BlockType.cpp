//===- BlockType.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Interfaces/BlockType.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectImplementation.h"

using namespace autopar;
using namespace mlir;

MLIR_DEFINE_EXPLICIT_TYPE_ID(autopar::BlockType)
MLIR_DEFINE_EXPLICIT_TYPE_ID(autopar::BlocksDialect)

struct autopar::detail::BlockTypeStorage : TypeStorage {
  using KeyTy = ElementType;

  explicit BlockTypeStorage(ElementType format) : format(format) {}
  bool operator==(const KeyTy &key) const { return key == format; }
  static BlockTypeStorage *construct(TypeStorageAllocator &allocator,
                                     const KeyTy &key) {
    return new (allocator.allocate<BlockTypeStorage>()) BlockTypeStorage(key);
  }

  ElementType format;
};

BlockType BlockType::get(MLIRContext *context, ElementType format) {
  assert(blockOf(format) && "expected a block format");
  return Base::get(context, format);
}

ElementType BlockType::getFormat() const { return getImpl()->format; }

BlocksDialect::BlocksDialect(MLIRContext *context)
    : Dialect(getDialectNamespace(), context, TypeID::get<BlocksDialect>()) {
  addTypes<BlockType>();
}

Type BlocksDialect::parseType(DialectAsmParser &parser) const {
  SMLoc at = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return {};
  if (std::optional<ElementType> format = parseBlockFormat(word))
    return BlockType::get(getContext(), *format);
  parser.emitError(at) << "unknown block format '" << word << "'";
  return {};
}

void BlocksDialect::printType(Type type, DialectAsmPrinter &printer) const {
  printer << StringRef(nameOf(cast<BlockType>(type).getFormat()));
}

bool autopar::isRounded(Type type) { return isa<FloatType, BlockType>(type); }
