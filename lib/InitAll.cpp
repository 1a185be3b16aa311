//===- InitAll.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/InitAll.h"

#include "autopar/Pipelines/Pipelines.h"
#include "autopar/Transforms/Passes.h"
#include "autopar/Transforms/Train/Backwards.h"

#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/Passes.h"

void autopar::registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<transformer::TransformerDialect, parallel::ParallelDialect,
                  mlir::func::FuncDialect>();
  mlir::func::registerInlinerExtension(registry);
  registerBackwards(registry);
}

void autopar::registerAllPasses() {
  mlir::registerTransformsPasses();
  registerAutoparPasses();
  registerPipelines();
}
