//===- RunOnModule.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Passes.h"

#include "../ErrorsNameModule.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

namespace autopar::transforms {
#define GEN_PASS_DEF_RUNONMODULEPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar::transforms

using namespace autopar;
using namespace autopar::transforms;
using namespace mlir;

namespace {

struct RunOnModulePass
    : autopar::transforms::impl::RunOnModulePassBase<RunOnModulePass> {
  using Base::Base;

  /// Loads the dialects of the inner pipeline: its passes are known only when
  /// this pass is created, and dialects must be loaded before it runs.
  void getDependentDialects(DialectRegistry &registry) const override {
    std::string ignored;
    llvm::raw_string_ostream os(ignored);
    FailureOr<OpPassManager> passes = parsePassPipeline(pipeline, os);
    if (succeeded(passes))
      passes->getDependentDialects(registry);
  }

  void runOnOperation() override {
    std::string why;
    llvm::raw_string_ostream os(why);
    FailureOr<OpPassManager> passes = parsePassPipeline(pipeline, os);
    if (failed(passes)) {
      getOperation().emitError() << "cannot parse the pipeline for @" << module
                                 << ": " << StringRef(why).trim();
      return signalPassFailure();
    }
    auto inner = SymbolTable(getOperation()).lookup<ModuleOp>(module);
    if (!inner) {
      getOperation().emitError() << "has no module @" << module << " inside";
      return signalPassFailure();
    }
    ErrorsNameModule handler(inner);
    if (failed(runPipeline(*passes, inner)))
      signalPassFailure();
  }
};

} // namespace
