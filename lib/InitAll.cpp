//===- InitAll.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/InitAll.h"

#include "autopar/Dialect/Training/Training.h"
#include "autopar/Interfaces/BlockType.h"
#include "autopar/Pipelines/Pipelines.h"
#include "autopar/Transforms/Passes.h"
#include "autopar/Transforms/Train/Backwards.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/InliningUtils.h"
#include "mlir/Transforms/Passes.h"

using namespace autopar;
using namespace autopar::pipelines;
using namespace autopar::transforms;
using namespace mlir;

namespace {

/// Functions of one block, as models have; MLIR's own extension, which takes
/// any, loads the dialects of branches for that.
struct FuncInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *call, Operation *callable,
                       bool) const override {
    auto function = cast<func::FuncOp>(callable);
    auto direct = dyn_cast<func::CallOp>(call);
    return function.getBody().hasOneBlock() && !function.getNoInline() &&
           !(direct && direct.getNoInline());
  }
  bool isLegalToInline(Operation *, Region *, bool,
                       IRMapping &) const override {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const override {
    return true;
  }
  void handleTerminator(Operation *op, ValueRange replaced) const override {
    for (auto [value, operand] : llvm::zip_equal(replaced, op->getOperands()))
      value.replaceAllUsesWith(operand);
  }
};

} // namespace

void autopar::registerAllDialects(DialectRegistry &registry) {
  registry
      .insert<transformer::TransformerDialect, training::TrainingDialect,
              parallel::ParallelDialect, BlocksDialect, func::FuncDialect>();
  training::registerEarlierOps(registry);
  registry.addExtension(+[](MLIRContext *, func::FuncDialect *dialect) {
    dialect->addInterfaces<FuncInlinerInterface>();
  });
  registerBackwards(registry);
}

void autopar::registerAllPasses() {
  registerTransformsPasses();
  registerAutoparPasses();
  registerPipelines();
}
