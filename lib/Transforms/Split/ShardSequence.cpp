//===- ShardSequence.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Passes.h"

#include "../Bind/Strategy.h"
#include "Propagation.h"
#include "Seeds.h"

namespace autopar::transforms {
#define GEN_PASS_DEF_SHARDSEQUENCEPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar::transforms

using namespace autopar;
using namespace autopar::transforms;
using namespace mlir;

namespace {

struct ShardSequencePass
    : autopar::transforms::impl::ShardSequencePassBase<ShardSequencePass> {
  using Base::Base;

  void runOnModule() override {
    ModuleOp module = getOperation();
    FailureOr<SmallVector<StringAttr>> over =
        findAxes(module, orElse(axes, {"tp"}), "--shard-tp");
    if (failed(over))
      return signalPassFailure();
    Seeds seeds(module, *over);
    seeds.splitBoundaries("query", /*inside=*/true);
    if (seeds.changed())
      propagateSplits(module);
    getStrategy(module).setSequenceParallel(true);
  }
};

} // namespace
