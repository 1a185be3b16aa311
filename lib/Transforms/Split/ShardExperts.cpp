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
#include "autopar/Support/Limits.h"

namespace autopar::transforms {
#define GEN_PASS_DEF_SHARDEXPERTSPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar::transforms

using namespace autopar;
using namespace autopar::program;
using namespace autopar::transforms;
using namespace mlir;

namespace {

struct ShardExpertsPass
    : autopar::transforms::impl::ShardExpertsPassBase<ShardExpertsPass> {
  using Base::Base;

  void runOnModule() override {
    ModuleOp module = getOperation();
    FailureOr<SmallVector<StringAttr>> over =
        findAxes(module, orElse(axes, {"ep"}), "--shard-ep");
    if (failed(over))
      return signalPassFailure();
    Seeds seeds(module, *over);
    bool any = false, fits = true;
    module.walk([&](ShardingOpInterface op) { any |= split(op, seeds, fits); });
    if (!fits)
      return signalPassFailure();
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

  /// Splits the parameters that have one entry per expert. Clears `fits` if
  /// devices cannot have equal numbers of slots.
  bool split(ShardingOpInterface op, Seeds &seeds, bool &fits) {
    ShardingFactors factors = op.getShardingFactors();
    int32_t experts = factors.expertsOfResult(0);
    if (experts == ShardingFactors::none)
      return false;
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      for (auto [dim, factor] : llvm::enumerate(factors.operands[i]))
        if (factor == experts && isSource(operand)) {
          int64_t slots = TensorView(operand).getType().getDimSize(dim);
          slots += redundant;
          fits = fits && succeeded(verifySlots(op, slots));
          if (redundant == 0)
            seeds.splitSource(operand, dim, SplitRule::plain);
          else
            seeds.splitSource(operand, dim, SplitRule::pad, slots);
        }
    return true;
  }

  /// Emits an error if the redundant experts do not fill the slots of all
  /// devices.
  LogicalResult verifySlots(Operation *op, int64_t slots) {
    DeviceMeshOpInterface mesh = findMesh(op);
    int64_t devices = 1;
    for (const std::string &axis : orElse(axes, {"ep"}))
      devices *= std::max<int64_t>(1, mesh.getAxisSize(axis).value_or(1));
    if (redundant >= 0 && redundant <= limits::maxPlacedSlots &&
        (redundant == 0 || slots % devices == 0))
      return success();
    int64_t experts = slots - redundant;
    int64_t least = llvm::alignTo(experts, devices) - experts;
    InFlightDiagnostic diag =
        op->emitError() << experts << " experts and " << redundant.getValue()
                        << " redundant ones do not lie evenly on " << devices
                        << " devices";
    diag.attachNote() << "numbers that work: " << least << ", "
                      << least + devices << ", " << least + 2 * devices;
    return diag;
  }
};

} // namespace
