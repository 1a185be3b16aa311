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

/// Whether an op needs all tokens of `cache`, which must therefore not be
/// split. The best tokens of a part, as an indexer chooses them, are not the
/// best of all, so that runtimes keep that cache whole on each device
/// (sgl-project/sglang#18167 and #31821); nor is a part of a window one of its
/// rows.
bool isSeenWhole(Value cache) {
  return llvm::any_of(cache.getUsers(), [](Operation *user) {
    auto attention = dyn_cast<transformer::AttentionOp>(user);
    return (attention && attention.getSelected()) ||
           isa<transformer::IndexerOp, transformer::BlockIndexerOp,
               transformer::CompressOp, transformer::CompressedAttentionOp>(
               user);
  });
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
    seeds.splitSources("context", isSeenWhole);
    if (seeds.changed())
      propagateSplits(module);
    else if (!over->empty() && failed(verifyNoneToSplit(module)))
      signalPassFailure();
  }

  /// Emits an error for a cache of compressed rows, which must not be split, so
  /// that no device would hold less of it.
  static LogicalResult verifyNoneToSplit(ModuleOp module) {
    WalkResult result = module.walk([](transformer::KVCacheOp cache) {
      if (llvm::none_of(cache->getUsers(),
                        llvm::IsaPred<transformer::CompressedAttentionOp>))
        return WalkResult::advance();
      InFlightDiagnostic diag = cache.emitOpError(
          "is seen whole on each device, as all caches of this model are: "
          "decode context parallelism has none to split");
      diag.attachNote() << "leave --shard-dcp out; --shard-dp splits sequences";
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }
};

} // namespace
