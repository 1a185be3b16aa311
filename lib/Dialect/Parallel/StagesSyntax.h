//===- StagesSyntax.h - Text of layer ranges --------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_DIALECT_PARALLEL_STAGESSYNTAX_H
#define AUTOPAR_LIB_DIALECT_PARALLEL_STAGESSYNTAX_H

#include "mlir/IR/OpImplementation.h"

namespace autopar::parallel {

/// Parse and print ranges of layers, as in `[0 to 19, 20 to 40]`; they are
/// stored as the number after each range's last layer: 20, 41.
mlir::ParseResult parseLayerRanges(mlir::OpAsmParser &parser,
                                   mlir::DenseI64ArrayAttr &ends);
void printLayerRanges(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                      mlir::DenseI64ArrayAttr ends);

} // namespace autopar::parallel

#endif // AUTOPAR_LIB_DIALECT_PARALLEL_STAGESSYNTAX_H
