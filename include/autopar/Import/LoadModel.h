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

namespace autopar {

/// What a user says of a model: a path, "-", a bundled name or org/name.
struct ModelRequest {
  std::string argument;
  HubOptions hub;
  std::vector<Assumption> assumptions;
};

/// Finds, reads, imports and verifies a model. An error without a message has
/// been printed as diagnostics.
Result<mlir::OwningOpRef<mlir::ModuleOp>> loadModel(mlir::MLIRContext *context,
                                                    const ModelRequest &request);

} // namespace autopar

#endif // AUTOPAR_IMPORT_LOADMODEL_H
