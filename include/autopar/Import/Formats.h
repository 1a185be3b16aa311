//===- Formats.h - Formats as attributes ------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_IMPORT_FORMATS_H
#define AUTOPAR_IMPORT_FORMATS_H

#include "autopar/Dialect/Transformer/Transformer.h"
#include "autopar/Model/Format.h"

namespace autopar::importer {

transformer::FormatAttr toAttr(mlir::MLIRContext *context,
                               const model::Format &format);

} // namespace autopar::importer

#endif // AUTOPAR_IMPORT_FORMATS_H
