//===- ReadModule.h - Modules of .mlir files --------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_IMPORT_READMODULE_H
#define AUTOPAR_IMPORT_READMODULE_H

#include "autopar/Support/Result.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/SourceMgr.h"

namespace autopar::importer {

/// A module that was read from a file. While this object lives, diagnostics
/// show the file's text.
class ModuleFile {
public:
  /// Reads the module in `path`, or from standard input if it is "-". An error
  /// without a message has been printed as diagnostics.
  static Result<std::unique_ptr<ModuleFile>> read(mlir::MLIRContext &context,
                                                  const std::string &path);

  mlir::ModuleOp module() { return *op; }

private:
  ModuleFile() = default;

  llvm::SourceMgr sources;
  std::unique_ptr<mlir::SourceMgrDiagnosticHandler> handler;
  mlir::OwningOpRef<mlir::ModuleOp> op;
};

} // namespace autopar::importer

#endif // AUTOPAR_IMPORT_READMODULE_H
