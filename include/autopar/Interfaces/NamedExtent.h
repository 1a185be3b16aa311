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

/// The extent of a dimension: `query`, `batch*query*8`, of a set in braces,
/// `{batch*query*8}`; the number 8; or `_`, which names nothing.
class NamedExtent {
public:
  NamedExtent() = default;
  static NamedExtent number(int64_t value);
  static NamedExtent symbol(mlir::MLIRContext *context, llvm::StringRef name);
  /// Reads what `str` gives, or numbers and symbols in another order; nothing
  /// where the text is malformed or the number above `limits::maxDimension`.
  static std::optional<NamedExtent> parse(mlir::MLIRContext *context,
                                          llvm::StringRef text);
  static mlir::ParseResult parse(mlir::AsmParser &parser, NamedExtent &extent);
  /// Nothing if the number overflows.
  static std::optional<NamedExtent> product(llvm::ArrayRef<NamedExtent> all);

  NamedExtent asSet() const;

  bool isNamed() const { return multiple != mlir::ShapedType::kDynamic; }
  /// A product of symbols, and perhaps a number.
  bool isSymbolic() const { return bool(names); }
  bool isNumber() const { return isNamed() && !isSymbolic(); }
  bool isSet() const { return set; }
  /// Whether this is `symbol`, once.
  bool is(llvm::StringRef symbol) const;
  /// Whether it counts `symbol`, or several for each.
  bool counts(llvm::StringRef symbol) const;

  /// 8 of `batch*query*8`, 1 of `batch`.
  int64_t factor() const { return multiple; }
  /// In the order in which they are written.
  llvm::SmallVector<llvm::StringRef, 4> symbols() const;
  /// The number that is left when the symbols of `other` cancel all of this;
  /// nothing where they do not, or the numbers do not divide.
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

  /// The symbols of the product.
  mlir::ArrayAttr names;
  int64_t multiple = mlir::ShapedType::kDynamic;
  bool set = false;
};

} // namespace autopar

#endif // AUTOPAR_INTERFACES_NAMEDEXTENT_H
