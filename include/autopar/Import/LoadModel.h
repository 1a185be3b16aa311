//===- LoadModel.h - From a model's name to the logical IR ------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_IMPORT_LOADMODEL_H
#define AUTOPAR_IMPORT_LOADMODEL_H

#include "autopar/Hub/Hub.h"
#include "autopar/Import/ImportModel.h"

namespace autopar::importer {

/// The user's choice of a model: `argument` is a path, "-", a bundled name or
/// org/name.
struct ModelRequest {
  std::string argument;
  /// The text of the model's config; if it is not "", `argument` is only the
  /// model's name.
  std::string config = {};
  hub::HubOptions hub;
  std::vector<model::ConfigAssumption> assumptions;
  /// A name of `weightFormatNames`; "" for the format of the checkpoint. A
  /// bundled name may include it after a colon: "llama-3.3-70b:fp8".
  std::string weightFormat = {};
  /// Whether to convert weights as runtimes do when they load them: float32
  /// becomes 16 bits.
  bool asServed = false;
};

/// Prints the progress of a long download, if standard error is a terminal.
void showProgress(const std::string &line);

/// Finds a model's files and reads its config.
Result<model::Model> findModel(const ModelRequest &request);

/// Imports a model and verifies the module. An error without a message has been
/// printed as diagnostics.
Result<mlir::OwningOpRef<mlir::ModuleOp>> buildModel(mlir::MLIRContext *context,
                                                     const model::Model &model);

/// Finds, imports and verifies a model: `findModel` and `buildModel` in one
/// call.
Result<mlir::OwningOpRef<mlir::ModuleOp>>
loadModel(mlir::MLIRContext *context, const ModelRequest &request);

} // namespace autopar::importer

#endif // AUTOPAR_IMPORT_LOADMODEL_H
