//===- LossMemory.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LossMemory.h"

#include "autopar/Dialect/Training/Training.h"
#include "autopar/Dialect/Transformer/Transformer.h"
#include "autopar/Interfaces/TensorView.h"
#include "autopar/Program/LossForm.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::analysis;
using namespace autopar::program;
using namespace autopar::training;
using namespace autopar::transformer;
using namespace mlir;

/// Whether the op maps scores to scores between a head and its loss.
static bool passesScores(Operation *op) {
  return isa_and_present<CastOp, ScaleOp, SoftcapOp, SoftcapBackwardOp>(op);
}

/// Returns the number of chunks of the loss that `op` computes; 0 for other
/// ops.
static int64_t chunksOf(Operation *op) {
  if (auto loss = dyn_cast_if_present<CrossEntropyOp>(op))
    return loss.getChunks().value_or(1);
  if (auto loss = dyn_cast_if_present<CrossEntropyBackwardOp>(op))
    return loss.getChunks().value_or(1);
  return 0;
}

/// Returns the number of chunks of the loss that reads `scores`, directly or
/// through ops that map scores to scores.
static int64_t chunksBehind(Value scores) {
  for (Operation *user : scores.getUsers()) {
    int64_t chunks = chunksOf(user);
    if (chunks == 0 && passesScores(user))
      chunks = chunksBehind(user->getResult(0));
    if (chunks != 0)
      return chunks;
  }
  return 0;
}

/// Returns the number of chunks of the loss to whose scores the gradient
/// `value` belongs.
static int64_t chunksBefore(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa_and_present<CrossEntropyBackwardOp>(op))
    return chunksOf(op);
  return passesScores(op) ? chunksBefore(op->getOperand(0)) : 0;
}

int64_t autopar::analysis::lossChunksOf(Value value) {
  return std::max<int64_t>({1, chunksBehind(value), chunksBefore(value)});
}

static std::optional<LossForm> formOf(Operation *op) {
  auto backward = dyn_cast<CrossEntropyBackwardOp>(op);
  if (!backward || !backward.getForm())
    return std::nullopt;
  return parseLossForm(*backward.getForm());
}

bool autopar::analysis::replacesScores(Operation *op) {
  std::optional<LossForm> form = formOf(op);
  return form && reusesScores(*form);
}

int64_t autopar::analysis::copiesInLoss(Operation *op) {
  if (formOf(op) != LossForm::eager)
    return 0;
  TensorView scores(op->getOperand(0));
  bool isSplit = !scores.dim(scores.rank() - 1).axes.empty();
  return isSplit ? 2 : 1;
}
