//===- PrintCostProgram.cpp -----------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Passes.h"

#include "autopar/Analysis/CostProgramAnalysis.h"

namespace autopar::transforms {
#define GEN_PASS_DEF_PRINTCOSTPROGRAMPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar::transforms

using namespace autopar;
using namespace autopar::analysis;
using namespace autopar::program;

namespace {

struct PrintCostProgramPass
    : autopar::transforms::impl::PrintCostProgramPassBase<
          PrintCostProgramPass> {
  using Base::Base;

  void runOnOperation() override {
    auto &analysis = getAnalysis<CostProgramAnalysis>();
    if (!analysis.isValid())
      return signalPassFailure();
    llvm::errs() << toJson(analysis.getProgram()) << "\n";
    markAllAnalysesPreserved();
  }
};

} // namespace
