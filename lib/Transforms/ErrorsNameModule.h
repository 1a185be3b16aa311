//===- ErrorsNameModule.h - Which module an error is about ------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_TRANSFORMS_ERRORSNAMEMODULE_H
#define AUTOPAR_LIB_TRANSFORMS_ERRORSNAMEMODULE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"

namespace autopar::transforms {

/// While an object of this class exists, errors get a note that names `module`.
class ErrorsNameModule : public mlir::ScopedDiagnosticHandler {
public:
  explicit ErrorsNameModule(mlir::ModuleOp module)
      : ScopedDiagnosticHandler(
            module.getContext(), [module](mlir::Diagnostic &diag) mutable {
              if (diag.getSeverity() == mlir::DiagnosticSeverity::Error)
                diag.attachNote(module.getLoc())
                    << "in module @" << module.getName().value_or("");
              return mlir::failure();
            }) {}
};

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_ERRORSNAMEMODULE_H
