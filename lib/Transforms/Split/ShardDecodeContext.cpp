//===- ShardDecodeContext.cpp ---------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Passes.h"

#include "Propagation.h"
#include "Seeds.h"
#include "autopar/Dialect/Transformer/Transformer.h"

namespace autopar {
#define GEN_PASS_DEF_SHARDDECODECONTEXTPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar

using namespace autopar;
using namespace mlir;

namespace {

/// Of a part of the tokens, nobody knows which are the best of all.
LogicalResult verifyNobodySelects(ModuleOp module) {
  WalkResult result = module.walk([](transformer::IndexerOp op) {
    op.emitError("selects tokens of the whole context: --shard-dcp cannot "
                 "split what it selects from");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

struct ShardDecodeContextPass
    : autopar::impl::ShardDecodeContextPassBase<ShardDecodeContextPass> {
  using Base::Base;

  void runOnModule() override {
    ModuleOp module = getOperation();
    FailureOr<SmallVector<StringAttr>> over =
        findAxes(module, orElse(axes, {"dcp"}), "--shard-dcp");
    if (failed(over))
      return signalPassFailure();
    if (failed(verifyNobodySelects(module)))
      return signalPassFailure();
    Seeds seeds(module, *over);
    seeds.splitSources("context");
    if (seeds.changed())
      propagateSplits(module);
  }
};

} // namespace
