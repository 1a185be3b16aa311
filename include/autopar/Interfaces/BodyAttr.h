//===- BodyAttr.h - Attributes that ops print without <> --------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_INTERFACES_BODYATTR_H
#define AUTOPAR_INTERFACES_BODYATTR_H

#include "mlir/IR/OpImplementation.h"

namespace autopar {

/// Parse and print an attribute with its own syntax between `<` and `>`, as it
/// appears without context. Parsing returns null after an error.
template <typename Attr>
mlir::Attribute parseInAngles(mlir::AsmParser &parser) {
  if (parser.parseLess())
    return {};
  mlir::Attribute body = Attr::parseBody(parser);
  return body && mlir::succeeded(parser.parseGreater()) ? body
                                                        : mlir::Attribute();
}

template <typename Attr>
void printInAngles(mlir::AsmPrinter &printer, Attr attr) {
  printer << "<";
  attr.printBody(printer);
  printer << ">";
}

} // namespace autopar

#endif // AUTOPAR_INTERFACES_BODYATTR_H
