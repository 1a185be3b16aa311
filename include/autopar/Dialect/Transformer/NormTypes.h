//===- NormTypes.h - Types of a norm's operands -----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_DIALECT_TRANSFORMER_NORMTYPES_H
#define AUTOPAR_DIALECT_TRANSFORMER_NORMTYPES_H

#include "autopar/Dialect/Transformer/Transformer.h"

namespace autopar::transformer {

/// Parses and prints the types of a norm: that of `x`, and that of the weight
/// where it is not the last dimension of `x`.
inline mlir::ParseResult parseNormTypes(
    mlir::OpAsmParser &parser,
    const std::optional<mlir::OpAsmParser::UnresolvedOperand> &weight,
    mlir::Type &x, mlir::Type &weightType) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(x))
    return mlir::failure();
  if (!weight)
    return mlir::success();
  if (succeeded(parser.parseOptionalComma()))
    return parser.parseType(weightType);
  weightType = getNormWeightType(x);
  if (weightType)
    return mlir::success();
  return parser.emitError(loc, "expected the type of the weight after it");
}

inline void printNormTypes(mlir::OpAsmPrinter &printer, mlir::Operation *,
                           mlir::Value weight, mlir::Type x,
                           mlir::Type weightType) {
  printer << x;
  if (weight && weightType != getNormWeightType(x))
    printer << ", " << weightType;
}

} // namespace autopar::transformer

#endif // AUTOPAR_DIALECT_TRANSFORMER_NORMTYPES_H
