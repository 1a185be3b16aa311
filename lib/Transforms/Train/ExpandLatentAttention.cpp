//===- ExpandLatentAttention.cpp - Keys and values of each head -----------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TrainingForms.h"

#include "autopar/Dialect/Transformer/Training.h"

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

static int64_t widthOf(Value tensor) {
  return tensorOf(tensor.getType()).getShape().back();
}

static void expand(LatentAttentionOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto project = [&](Value weight) -> Value {
    return LinearOp::create(builder, loc,
                            typeWithLast(op.getQuery(), widthOf(weight)),
                            op.getLatent(), weight, /*bias=*/Value());
  };
  Value own = project(op.getKeyWeight()), value = project(op.getValueWeight());
  Value key = ConcatSharedOp::create(
      builder, loc, typeWithLast(op.getQuery(), widthOf(op.getQuery())), own,
      op.getKeyRope());
  Value none;
  auto attention = AttentionOp::create(
      builder, loc, op.getResult().getType(), op.getQuery(), key, value,
      /*cache=*/none, /*sinks=*/none, /*bias=*/none, /*down=*/none,
      /*across=*/none, /*distances=*/none, op.getCausalAttr(),
      /*window=*/IntegerAttr(), /*chunk=*/IntegerAttr(), /*scale=*/FloatAttr(),
      /*softcap=*/FloatAttr(), /*alibi=*/UnitAttr(),
      /*max_distance=*/IntegerAttr());
  op.getResult().replaceAllUsesWith(attention.getResult());
  op.erase();
}

LogicalResult autopar::expandLatentAttention(ModuleOp module) {
  SmallVector<LatentAttentionOp> all;
  WalkResult result = module.walk([&](Operation *op) {
    auto latent = dyn_cast<LatentAttentionOp>(op);
    if (isa<IndexerOp>(op) || (latent && latent.getNumSeen() != 0)) {
      op->emitOpError("selects the tokens that are seen: it has no form for "
                      "training yet");
      return WalkResult::interrupt();
    }
    if (latent)
      all.push_back(latent);
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  llvm::for_each(all, expand);
  return success();
}
