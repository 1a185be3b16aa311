//===- ShrinkModel.h - A model small enough to execute ----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_IMPORT_SHRINKMODEL_H
#define AUTOPAR_IMPORT_SHRINKMODEL_H

#include "autopar/Model/Shrink.h"

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace autopar::importer {

/// Returns the JSON config of a small model that has all functions of `model`,
/// that is, all its kinds of layers. Errors say which kind would be lost, or
/// why the small model cannot be imported; an error without a message has been
/// printed as diagnostics.
Result<std::string> shrinkModel(mlir::MLIRContext *context,
                                const model::Model &model,
                                const model::SmallSizes &sizes);

} // namespace autopar::importer

#endif // AUTOPAR_IMPORT_SHRINKMODEL_H
