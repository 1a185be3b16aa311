//===- BindTarget.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Passes.h"

#include "Strategy.h"

#include "autopar/Transforms/Price/Estimate.h"

namespace autopar::transforms {
#define GEN_PASS_DEF_BINDTARGETPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar::transforms

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::transforms;
using namespace autopar::parallel;
using namespace mlir;

namespace {

struct BindTargetPass
    : autopar::transforms::impl::BindTargetPassBase<BindTargetPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    Result<std::vector<Override>> given =
        parseOverrides({overrides.begin(), overrides.end()});
    if (!given) {
      (void)emitError(module, given.error());
      return signalPassFailure();
    }
    TargetOp target = getTarget(module);
    setFlags(target);
    setFigures(target, *given);
    // The user's numbers may be invalid, so that the op is verified.
    if (failed(target.verify()))
      signalPassFailure();
  }

  static TargetOp getTarget(ModuleOp module) {
    for (TargetOp op : module.getOps<TargetOp>())
      return op;
    OpBuilder builder = builderOfFacts(module);
    return TargetOp::create(
        builder, module.getLoc(), StringAttr(), IntegerAttr(), StringAttr(),
        FloatAttr(), IntegerAttr(), IntegerAttr(), UnitAttr(),
        builder.getArrayAttr({}), builder.getDenseF64ArrayAttr({}));
  }

  void setFlags(TargetOp target) {
    Builder builder(&getContext());
    if (!hardware.empty())
      target.setHardware(hardware.getValue());
    if (nodes != 0)
      target.setNodes(nodes.getValue());
    if (!runtime.empty())
      target.setRuntime(runtime.getValue());
    if (memoryUtilization != 0)
      target.setMemoryUtilizationAttr(
          builder.getF64FloatAttr(memoryUtilization));
    if (prefillChunk != -1)
      target.setPrefillChunk(prefillChunk.getValue());
    if (maxNumSeqs != 0)
      target.setMaxNumSeqs(maxNumSeqs.getValue());
    if (enforceEager)
      target.setEnforceEager(true);
  }

  /// Adds overrides of figures to the target; a new value replaces an earlier
  /// one with the same path.
  static void setFigures(TargetOp target, ArrayRef<Override> given) {
    std::map<std::string, double> figures;
    SmallVector<StringRef> paths;
    for (auto [path, value] :
         llvm::zip(target.getFigures().getAsValueRange<StringAttr>(),
                   target.getValues()))
      if (figures.insert_or_assign(path.str(), value).second)
        paths.push_back(path);
    for (const Override &one : given)
      if (figures.insert_or_assign(one.path, one.value).second)
        paths.push_back(one.path);
    if (paths.empty())
      return;
    Builder builder(target.getContext());
    target.setFiguresAttr(builder.getStrArrayAttr(paths));
    target.setValues(llvm::map_to_vector(
        paths, [&](StringRef path) { return figures[path.str()]; }));
  }
};

} // namespace
