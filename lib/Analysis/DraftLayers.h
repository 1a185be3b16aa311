//===- DraftLayers.h - Layers that draft tokens -----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_ANALYSIS_DRAFTLAYERS_H
#define AUTOPAR_LIB_ANALYSIS_DRAFTLAYERS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace autopar::analysis {

/// Whether the requests of `module`, or of the deployment to which it belongs,
/// are decoded with drafts.
bool hasDrafts(mlir::ModuleOp module);

/// Whether a stored function predicts further tokens: its layers take the
/// model's result for each token, and the next token.
bool predictsTokens(mlir::FunctionOpInterface function);

} // namespace autopar::analysis

#endif // AUTOPAR_LIB_ANALYSIS_DRAFTLAYERS_H
