//===- ModulePass.h - Passes over modules of a deployment -------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TRANSFORMS_MODULEPASS_H
#define AUTOPAR_TRANSFORMS_MODULEPASS_H

#include "autopar/Transforms/Bind/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace autopar::transforms {

/// Returns the modules of a deployment: those inside `module`, if it has some
/// and no functions of its own; else none.
llvm::SmallVector<mlir::ModuleOp> findDeployed(mlir::ModuleOp module);

/// Base class of passes that work on a module or, for a deployment, on each of
/// its modules, one after the other. Errors then state the module.
class ModulePass : public mlir::OperationPass<mlir::ModuleOp> {
public:
  explicit ModulePass(mlir::TypeID id) : OperationPass(id) {}

protected:
  /// The module that is being worked on; hides the one that holds it, which is
  /// no business of the pass.
  // NOLINTNEXTLINE(bugprone-derived-method-shadowing-base-method)
  mlir::ModuleOp getOperation() { return current; }
  /// Returns the target of the current module.
  const TargetAnalysis &getTarget();
  virtual void runOnModule() = 0;

private:
  void runOnOperation() final;

  mlir::ModuleOp current;
};

} // namespace autopar::transforms

#endif // AUTOPAR_TRANSFORMS_MODULEPASS_H
