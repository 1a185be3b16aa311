//===- AbsorbLatentAttention.cpp ----------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Passes.h"

namespace autopar::transforms {
#define GEN_PASS_DEF_ABSORBLATENTATTENTIONPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar::transforms

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace autopar::transformer;
using namespace autopar::transforms;
using namespace mlir;

namespace {

struct AbsorbLatentAttentionPass
    : autopar::transforms::impl::AbsorbLatentAttentionPassBase<
          AbsorbLatentAttentionPass> {
  using Base::Base;

  void runOnModule() override {
    ModuleOp module = getOperation();
    if (!phase.empty() && phase != "each" && !symbolizePhaseKind(phase)) {
      module.emitError() << "unknown phase '" << phase
                         << "', expected prefill, decode or each";
      return signalPassFailure();
    }
    // A module without latent attention is not changed.
    auto stop = [](LatentAttentionOp) { return WalkResult::interrupt(); };
    if (!OperationPass::getOperation().walk(stop).wasInterrupted())
      return markAllAnalysesPreserved();
    bool isServed = !phase.empty() && !module.getOps<RequestsOp>().empty();
    if (phase == "each" || isServed) {
      module.walk([](LatentAttentionOp op) {
        if (op.getNumSeen() != 0)
          op.setAbsorbed(true);
        else if (!op.getAbsorbed())
          op.setByPhase(true);
      });
      return;
    }
    SymbolBindingOpInterface step = findWorkload(module);
    std::optional<Phase> own;
    if (step)
      own = step.getWorkload().phase;
    bool isOfPhase = phase.empty() || (own && nameOf(*own) == phase);
    // Runtimes compute attention to selected tokens only in the space of
    // latents.
    bool isServing = own && own != Phase::train;
    module.walk([&](LatentAttentionOp op) {
      if (isOfPhase || (isServing && op.getNumSeen() != 0))
        op.setAbsorbed(true);
    });
  }
};

} // namespace
