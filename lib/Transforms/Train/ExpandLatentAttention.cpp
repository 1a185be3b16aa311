//===- ExpandLatentAttention.cpp - Keys and values of each head -----------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TrainingForms.h"

#include "autopar/Dialect/Training/Training.h"

using namespace autopar;
using namespace autopar::transforms;
using namespace autopar::training;
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
      /*cache=*/none, op.getSinks(), /*bias=*/none, /*down=*/none,
      /*across=*/none, /*distances=*/none, op.getCausalAttr(),
      /*window=*/IntegerAttr(), /*chunk=*/IntegerAttr(), /*scale=*/FloatAttr(),
      /*softcap=*/FloatAttr(), /*alibi=*/UnitAttr(),
      /*max_distance=*/IntegerAttr(), /*selected=*/none,
      /*block=*/IntegerAttr());
  op.getResult().replaceAllUsesWith(attention.getResult());
  op.erase();
}

/// Changes the attention to one in the space of latents: attention to selected
/// tokens is never computed otherwise (DeepSeek-V3.2, arXiv:2512.02556, section
/// 2.1).
static void absorb(LatentAttentionOp op) {
  op.getCacheMutable().clear();
  op.setAbsorbed(true);
  op.setByPhase(false);
}

void autopar::transforms::expandLatentAttention(ModuleOp module) {
  SmallVector<LatentAttentionOp> all;
  module.walk([&](LatentAttentionOp op) { all.push_back(op); });
  for (LatentAttentionOp op : all) {
    if (op.getNumSeen() == 0)
      expand(op);
    else
      absorb(op);
  }
}
