//===- DraftLayers.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DraftLayers.h"

#include "autopar/Dialect/Transformer/Transformer.h"

#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace autopar;
using namespace autopar::analysis;
using namespace mlir;

bool autopar::analysis::hasDrafts(ModuleOp module) {
  for (; module; module = module->getParentOfType<ModuleOp>())
    for (auto requests : module.getOps<transformer::RequestsOp>())
      if (!requests.getRequests().acceptance.empty())
        return true;
  return false;
}

bool autopar::analysis::predictsTokens(FunctionOpInterface function) {
  if (function.getNumArguments() != 2)
    return false;
  auto stop = [](LoopLikeOpInterface) { return WalkResult::interrupt(); };
  return function.walk(stop).wasInterrupted();
}
