//===- ShardDecodeContext.cpp ---------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Passes.h"

#include "Propagation.h"
#include "Seeds.h"

namespace autopar {
#define GEN_PASS_DEF_SHARDDECODECONTEXTPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar

using namespace autopar;
using namespace mlir;

namespace {

struct ShardDecodeContextPass
    : autopar::impl::ShardDecodeContextPassBase<ShardDecodeContextPass> {
  using Base::Base;

  void runOnModule() override {
    ModuleOp module = getOperation();
    FailureOr<SmallVector<StringAttr>> over =
        findAxes(module, orElse(axes, {"dcp"}), "--shard-dcp");
    if (failed(over))
      return signalPassFailure();
    Seeds seeds(module, *over);
    seeds.splitSources("context");
    if (seeds.changed())
      propagateSplits(module);
  }
};

} // namespace
