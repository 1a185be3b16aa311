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

namespace autopar::transforms {
#define GEN_PASS_DEF_SHARDDECODECONTEXTPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar::transforms

using namespace autopar;
using namespace autopar::transforms;
using namespace mlir;

namespace {

/// Whether an indexer chooses tokens by what `cache` has. The best of a part
/// are not the best of all, so that engines keep that cache whole on each
/// device (sgl-project/sglang#18167 and #31821).
bool isIndexed(Value cache) {
  return llvm::any_of(cache.getUsers(), llvm::IsaPred<transformer::IndexerOp>);
}

struct ShardDecodeContextPass
    : autopar::transforms::impl::ShardDecodeContextPassBase<
          ShardDecodeContextPass> {
  using Base::Base;

  void runOnModule() override {
    ModuleOp module = getOperation();
    FailureOr<SmallVector<StringAttr>> over =
        findAxes(module, orElse(axes, {"dcp"}), "--shard-dcp");
    if (failed(over))
      return signalPassFailure();
    Seeds seeds(module, *over);
    seeds.splitSources("context", isIndexed);
    if (seeds.changed())
      propagateSplits(module);
  }
};

} // namespace
