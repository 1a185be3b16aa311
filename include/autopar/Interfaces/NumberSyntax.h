//===- NumberSyntax.h - Numbers in assembly ---------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_INTERFACES_NUMBERSYNTAX_H
#define AUTOPAR_INTERFACES_NUMBERSYNTAX_H

#include "mlir/IR/OpImplementation.h"

namespace autopar {

/// The syntax `custom<Number>` of ops: a floating-point attribute without its
/// type, in its shortest form; an integer is accepted, too.
mlir::ParseResult parseNumber(mlir::OpAsmParser &parser, mlir::FloatAttr &attr);
void printNumber(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                 mlir::FloatAttr attr);
/// The syntax `custom<Numbers>` of ops: a list of numbers such as `[0.85,
/// 0.7]`.
mlir::ParseResult parseNumbers(mlir::OpAsmParser &parser,
                               mlir::DenseF64ArrayAttr &numbers);
void printNumbers(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                  mlir::DenseF64ArrayAttr numbers);
/// Returns a number as text that the parser accepts: with digits and a point.
std::string numberText(double value);

/// The syntax `custom<CountOrNone>` of ops: a number, or the word `none` for 0.
mlir::ParseResult parseCountOrNone(mlir::OpAsmParser &parser,
                                   mlir::IntegerAttr &attr);
void printCountOrNone(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                      mlir::IntegerAttr attr);

/// The syntax `custom<Words>` of ops: a list such as `[batch, query]`, kept as
/// strings.
mlir::ParseResult parseWords(mlir::OpAsmParser &parser, mlir::ArrayAttr &words);
void printWords(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                mlir::ArrayAttr words);

} // namespace autopar

#endif // AUTOPAR_INTERFACES_NUMBERSYNTAX_H
