//===- ImportModel.h - From a config to the logical IR ----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_IMPORT_IMPORTMODEL_H
#define AUTOPAR_IMPORT_IMPORTMODEL_H

#include "autopar/Model/Model.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace autopar::importer {

/// Builds the model as a module of the transformer dialect: one function per
/// layer kind, and `@model`, which repeats these functions. Loads the dialects
/// that it needs. Errors name the fields of the config.
Result<mlir::OwningOpRef<mlir::ModuleOp>>
importModel(mlir::MLIRContext *context, const model::Model &model);

} // namespace autopar::importer

#endif // AUTOPAR_IMPORT_IMPORTMODEL_H
