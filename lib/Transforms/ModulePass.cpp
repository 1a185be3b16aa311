//===- ModulePass.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/ModulePass.h"

#include "ErrorsNameModule.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace autopar;
using namespace autopar::transforms;
using namespace mlir;

SmallVector<ModuleOp> autopar::transforms::findDeployed(ModuleOp module) {
  if (!module.getOps<FunctionOpInterface>().empty())
    return {};
  return llvm::to_vector(module.getOps<ModuleOp>());
}

void ModulePass::runOnOperation() {
  ModuleOp module = OperationPass::getOperation();
  SmallVector<ModuleOp> deployed = findDeployed(module);
  for (ModuleOp inside : deployed) {
    ErrorsNameModule handler(inside);
    current = inside;
    runOnModule();
  }
  if (!deployed.empty())
    return;
  current = module;
  runOnModule();
}

const TargetAnalysis &ModulePass::getTarget() {
  return current == OperationPass::getOperation()
             ? getAnalysis<TargetAnalysis>()
             : getChildAnalysis<TargetAnalysis>(current);
}
