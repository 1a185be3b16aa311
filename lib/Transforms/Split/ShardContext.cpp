//===- ShardContext.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Passes.h"

#include "../Bind/Strategy.h"
#include "FactorSplits.h"
#include "Propagation.h"
#include "Seeds.h"
#include "autopar/Dialect/Training/Training.h"

namespace autopar::transforms {
#define GEN_PASS_DEF_SHARDCONTEXTPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar::transforms

using namespace autopar;
using namespace autopar::program;
using namespace autopar::transforms;
using namespace autopar::parallel;
using namespace mlir;

namespace {

struct ShardContextPass
    : autopar::transforms::impl::ShardContextPassBase<ShardContextPass> {
  using Base::Base;

  void runOnModule() override {
    ModuleOp module = getOperation();
    FailureOr<SmallVector<StringAttr>> over =
        findAxes(module, orElse(axes, {"cp"}), "--shard-cp");
    if (failed(over))
      return signalPassFailure();
    std::optional<parallel::ContextKind> exchange = kindFor(module);
    if (!exchange) {
      module.emitError() << "kind = " << kind.getValue()
                         << ", expected ring, all_to_all or all_gather";
      return signalPassFailure();
    }
    if ((*exchange == parallel::ContextKind::all_gather &&
         failed(verifyNoCache(module))) ||
        (*exchange == parallel::ContextKind::ring &&
         failed(verifyGoRound(module))))
      return signalPassFailure();
    getStrategy(module).setContextKind(exchange);
    Seeds seeds(module, *over);
    seeds.splitBoundaries("query");
    // Each device encodes a part of the positions, for all devices.
    seeds.splitBoundaries("encoder_tokens");
    if (*exchange == parallel::ContextKind::ring)
      turnCaches(module, seeds, *over);
    else if (*exchange == parallel::ContextKind::all_to_all)
      splitHeads(module, seeds);
    if (seeds.changed())
      propagateSplits(module);
  }

  /// Returns the chosen kind of context parallelism; by default KV caches are
  /// passed around a ring, and training gathers keys and values.
  std::optional<parallel::ContextKind> kindFor(ModuleOp module) {
    if (!kind.empty())
      return symbolizeContextKind(kind.getValue());
    return module.getOps<training::IterationOp>().empty()
               ? parallel::ContextKind::ring
               : parallel::ContextKind::all_gather;
  }

  /// Emits an error for a KV cache, which would be as large on every device as
  /// without context parallelism if it were gathered.
  static LogicalResult verifyNoCache(ModuleOp module) {
    WalkResult result = module.walk([](transformer::KVCacheOp op) {
      InFlightDiagnostic diag = op.emitOpError(
          "would be whole on every device: all_gather context "
          "parallelism gathers keys and values, and a cache keeps "
          "them");
      diag.attachNote() << "give --cp-kind=ring or --cp-kind=all-to-all, or "
                           "train (--phase=train), which has no cache";
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  /// Emits an error for ops whose keys cannot be passed around a ring:
  /// compressed rows of several tokens, and blocks of tokens that are selected
  /// as a whole, lie across its parts.
  static LogicalResult verifyGoRound(ModuleOp module) {
    WalkResult result = module.walk([](Operation *op) {
      auto attention = dyn_cast<transformer::AttentionOp>(op);
      if (!isa<transformer::CompressOp, transformer::CompressedAttentionOp,
               transformer::BlockIndexerOp>(op) &&
          !(attention && attention.getSelected()))
        return WalkResult::advance();
      InFlightDiagnostic diag = op->emitOpError(
          "sees rows or blocks of several tokens, which a cache "
          "in parts that go round a ring does not have whole");
      diag.attachNote() << "give --cp-kind=all-to-all, or leave --shard-cp out";
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  /// Inserts rings that pass the parts of each KV cache around before it is
  /// read.
  static void turnCaches(ModuleOp module, Seeds &seeds,
                         ArrayRef<StringAttr> axes) {
    seeds.splitSources("context");
    OpBuilder builder(module.getContext());
    ArrayAttr names =
        builder.getArrayAttr(SmallVector<Attribute>(axes.begin(), axes.end()));
    module.walk([&](Operation *op) {
      if (op->getNumOperands() != 0)
        return;
      for (OpResult cache : op->getResults())
        if (std::optional<unsigned> dim = findContext(cache))
          turn(builder, cache, *dim, names);
    });
  }

  static std::optional<unsigned> findContext(OpResult cache) {
    RankedTensorType type = tensorOf(cache.getType());
    for (unsigned dim = 0; type && dim < type.getRank(); ++dim)
      if (TensorView(type).dim(dim).extent.is("context"))
        return dim;
    return std::nullopt;
  }

  static void turn(OpBuilder &builder, OpResult cache, unsigned dim,
                   ArrayAttr axes) {
    if (llvm::any_of(cache.getUsers(), llvm::IsaPred<RingOp>))
      return;
    builder.setInsertionPointAfter(cache.getOwner());
    Layout layout = Layout::of(TensorView(cache).getType());
    layout.dims[dim] = layout.dims[dim].withRule(SplitRule::ring);
    auto ring = RingOp::create(builder, cache.getLoc(),
                               withLayout(cache.getType(), layout), cache,
                               builder.getI64IntegerAttr(dim), axes);
    cache.replaceAllUsesExcept(ring.getResult(), ring);
  }

  /// Splits the heads of the KV caches and parameters of attention; queries and
  /// keys follow by propagation.
  static void splitHeads(ModuleOp module, Seeds &seeds) {
    module.walk([&](ShardingOpInterface op) {
      std::optional<TensorParallelFactor> heads = op.getTensorParallelFactor();
      if (!heads || heads->role != TensorParallelRole::attention)
        return;
      ShardingFactors factors = op.getShardingFactors();
      for (auto [i, operand] : llvm::enumerate(op->getOperands()))
        for (auto [dim, factor] : llvm::enumerate(factors.operands[i]))
          if (factor == heads->factor && isSource(operand))
            seeds.splitSourceInside(operand, dim, heads->operandRules[i]);
    });
  }
};

} // namespace
