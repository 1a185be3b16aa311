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

/// What a user says of a model: a path, "-", a bundled name or org/name.
struct ModelRequest {
  std::string argument;
  /// The text of its config; then `argument` is but what it is called.
  std::string config = {};
  hub::HubOptions hub;
  std::vector<model::ConfigAssumption> assumptions;
  /// `weightFormatNames`; as stored where empty. A bundled name may have it
  /// behind a colon: "llama-3.3-70b:fp8".
  std::string weightFormat = {};
  /// As engines load it, not as the checkpoint has it: float32 in 16 bits.
  bool asServed = false;
};

/// Shows what a long download does, where a person may be watching.
void showProgress(const std::string &line);

/// Finds and reads a model.
Result<model::Model> findModel(const ModelRequest &request);

/// Imports and verifies a model. An error without a message has been printed as
/// diagnostics.
Result<mlir::OwningOpRef<mlir::ModuleOp>> buildModel(mlir::MLIRContext *context,
                                                     const model::Model &model);

/// Both.
Result<mlir::OwningOpRef<mlir::ModuleOp>>
loadModel(mlir::MLIRContext *context, const ModelRequest &request);

} // namespace autopar::importer

#endif // AUTOPAR_IMPORT_LOADMODEL_H
