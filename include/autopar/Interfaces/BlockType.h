//===- BlockType.h - Element types of block formats -------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_INTERFACES_BLOCKTYPE_H
#define AUTOPAR_INTERFACES_BLOCKTYPE_H

#include "autopar/Support/ElementType.h"

#include "mlir/IR/Dialect.h"
#include "mlir/IR/Types.h"

namespace autopar {

namespace detail {
struct BlockTypeStorage;
} // namespace detail

/// The element type of values that are quantised in blocks with a scale each,
/// for which MLIR has no type: `!blocks.q8_0`.
class BlockType : public mlir::Type::TypeBase<BlockType, mlir::Type,
                                              detail::BlockTypeStorage> {
public:
  using Base::Base;
  static constexpr llvm::StringLiteral name = "blocks.format";

  /// Returns the type of a format; `format` must be a block format (`blockOf`).
  static BlockType get(mlir::MLIRContext *context, ElementType format);
  ElementType getFormat() const;
};

/// The dialect of block types. It has no ops.
class BlocksDialect : public mlir::Dialect {
public:
  explicit BlocksDialect(mlir::MLIRContext *context);
  static constexpr llvm::StringLiteral getDialectNamespace() {
    return llvm::StringLiteral("blocks");
  }

  mlir::Type parseType(mlir::DialectAsmParser &parser) const override;
  void printType(mlir::Type type,
                 mlir::DialectAsmPrinter &printer) const override;
};

/// Whether numbers of `type` are rounded: floats, and quantised blocks of
/// floats.
bool isRounded(mlir::Type type);

} // namespace autopar

MLIR_DECLARE_EXPLICIT_TYPE_ID(autopar::BlockType)
MLIR_DECLARE_EXPLICIT_TYPE_ID(autopar::BlocksDialect)

#endif // AUTOPAR_INTERFACES_BLOCKTYPE_H
