//===- ExtentSyntax.h - Text of extents and axes ----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_INTERFACES_EXTENTSYNTAX_H
#define AUTOPAR_INTERFACES_EXTENTSYNTAX_H

#include "mlir/IR/OpImplementation.h"

namespace autopar {

/// `batch`, `batch*query*8`, `{batch*query*8}`, or `_` for a number (an empty
/// name).
mlir::ParseResult parseExtentName(mlir::AsmParser &parser,
                                  mlir::StringAttr &name);
/// The text that `parseExtentName` reads back.
llvm::StringRef printedExtent(mlir::StringAttr name);

} // namespace autopar

#endif // AUTOPAR_INTERFACES_EXTENTSYNTAX_H
