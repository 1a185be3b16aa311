//===- ShardExperts.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Passes.h"

#include "FactorSplits.h"
#include "Propagation.h"
#include "Seeds.h"

namespace autopar {
#define GEN_PASS_DEF_SHARDEXPERTSPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar

using namespace autopar;
using namespace mlir;

namespace {

struct ShardExpertsPass
    : autopar::impl::ShardExpertsPassBase<ShardExpertsPass> {
  using Base::Base;

  void runOnModule() override {
    ModuleOp module = getOperation();
    FailureOr<SmallVector<StringAttr>> over =
        findAxes(module, orElse(axes, {"ep"}), "--shard-ep");
    if (failed(over))
      return signalPassFailure();
    Seeds seeds(module, *over);
    bool any = false;
    module.walk([&](ShardingOpInterface op) { any |= split(op, seeds); });
    if (!any) {
      InFlightDiagnostic diag = module.emitError();
      diag << "the model has no routed experts to split over "
           << productText(findMesh(module), *over);
      diag.attachNote() << "leave out --shard-ep";
      return signalPassFailure();
    }
    if (seeds.changed())
      propagateSplits(module);
  }

  /// Splits the parameters that have one entry per expert.
  static bool split(ShardingOpInterface op, Seeds &seeds) {
    ShardingFactors factors = op.getShardingFactors();
    int32_t experts = factors.expertsOfResult(0);
    if (experts == ShardingFactors::none)
      return false;
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      for (auto [dim, factor] : llvm::enumerate(factors.operands[i]))
        if (factor == experts && isSource(operand))
          seeds.splitSource(operand, dim, SplitRule::plain);
    return true;
  }
};

} // namespace
