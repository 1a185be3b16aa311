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

/// A user's choice of a model: a path, "-", a bundled name or org/name.
struct ModelRequest {
  std::string argument;
  /// The text of its config; `argument` is then only its name.
  std::string config = {};
  hub::HubOptions hub;
  std::vector<model::ConfigAssumption> assumptions;
  /// A name of `weightFormatNames`; empty: as stored. A bundled name may
  /// include it behind a colon: "llama-3.3-70b:fp8".
  std::string weightFormat = {};
  /// Whether weights are converted as engines load them: float32 becomes 16
  /// bits.
  bool asServed = false;
};

/// Shows the progress of a long download if a person may be watching.
void showProgress(const std::string &line);

/// Finds and reads a model.
Result<model::Model> findModel(const ModelRequest &request);

/// Imports and verifies a model. An error without a message has been printed as
/// diagnostics.
Result<mlir::OwningOpRef<mlir::ModuleOp>> buildModel(mlir::MLIRContext *context,
                                                     const model::Model &model);

/// Finds, imports and verifies a model.
Result<mlir::OwningOpRef<mlir::ModuleOp>>
loadModel(mlir::MLIRContext *context, const ModelRequest &request);

} // namespace autopar::importer

#endif // AUTOPAR_IMPORT_LOADMODEL_H
