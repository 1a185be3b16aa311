//===- NamedExtent.h - Extents as encodings name them -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_INTERFACES_NAMEDEXTENT_H
#define AUTOPAR_INTERFACES_NAMEDEXTENT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>
#include <string>

namespace mlir {
class AsmParser;
} // namespace mlir

namespace autopar {

/// The extent of a tensor dimension: a product such as `query` or
/// `batch*query*8`; the same in braces for a set of routed tokens,
/// `{batch*query*8}`; the number 8; or `_` for an extent without a name.
class NamedExtent {
public:
  NamedExtent() = default;
  static NamedExtent number(int64_t value);
  static NamedExtent symbol(mlir::MLIRContext *context, llvm::StringRef name);
  /// Parses the text that `str` returns; numbers and symbols may have another
  /// order. Returns nothing if the text is malformed or the number is above
  /// `limits::maxDimension`.
  static std::optional<NamedExtent> parse(mlir::MLIRContext *context,
                                          llvm::StringRef text);
  static mlir::ParseResult parse(mlir::AsmParser &parser, NamedExtent &extent);
  /// Returns the product of extents; nothing if the number overflows.
  static std::optional<NamedExtent> product(llvm::ArrayRef<NamedExtent> all);

  NamedExtent asSet() const;

  bool isNamed() const { return multiple != mlir::ShapedType::kDynamic; }
  /// Whether the extent is a product of symbols, with or without a number.
  bool isSymbolic() const { return bool(names); }
  bool isNumber() const { return isNamed() && !isSymbolic(); }
  bool isSet() const { return set; }
  /// Whether the extent is exactly `symbol`.
  bool is(llvm::StringRef symbol) const;
  /// Whether `symbol` is a factor of the extent.
  bool counts(llvm::StringRef symbol) const;

  /// Returns the number of the product: 8 for `batch*query*8`, 1 for `batch`.
  int64_t factor() const { return multiple; }
  /// Returns the symbols of the product, in the order in which they are
  /// written.
  llvm::SmallVector<llvm::StringRef, 4> symbols() const;
  /// Returns the number that remains if this extent is divided by `other`;
  /// nothing if symbols remain or the numbers do not divide.
  std::optional<int64_t> dividedBy(const NamedExtent &other) const;
  std::string str() const;

  bool operator==(const NamedExtent &other) const {
    return names == other.names && multiple == other.multiple &&
           set == other.set;
  }
  bool operator!=(const NamedExtent &other) const { return !(*this == other); }
  friend llvm::hash_code hash_value(const NamedExtent &extent) {
    return llvm::hash_combine(extent.names, extent.multiple, extent.set);
  }

private:
  bool appendFactor(mlir::MLIRContext *context, llvm::StringRef word,
                    llvm::SmallVectorImpl<mlir::Attribute> &all);

  /// The symbols of the product; null if there are none.
  mlir::ArrayAttr names;
  int64_t multiple = mlir::ShapedType::kDynamic;
  bool set = false;
};

} // namespace autopar

#endif // AUTOPAR_INTERFACES_NAMEDEXTENT_H
