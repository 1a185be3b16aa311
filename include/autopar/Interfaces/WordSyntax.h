//===- WordSyntax.h - Words of enumerations, as ops have them ---*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_INTERFACES_WORDSYNTAX_H
#define AUTOPAR_INTERFACES_WORDSYNTAX_H

#include "mlir/IR/DialectImplementation.h"

namespace autopar {

/// Parse and print an attribute that holds an enumeration as its bare word.
template <typename Attr>
mlir::ParseResult parseWord(mlir::OpAsmParser &parser, Attr &attr) {
  auto value = mlir::FieldParser<decltype(attr.getValue())>::parse(parser);
  if (failed(value))
    return mlir::failure();
  attr = Attr::get(parser.getContext(), *value);
  return mlir::success();
}

template <typename Attr>
void printWord(mlir::OpAsmPrinter &printer, mlir::Operation *, Attr attr) {
  printer << attr.getValue();
}

} // namespace autopar

#endif // AUTOPAR_INTERFACES_WORDSYNTAX_H
