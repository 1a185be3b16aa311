//===- SplitRequests.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SplitRequests.h"

#include "FactorSplits.h"

using namespace autopar;
using namespace mlir;

/// Calls `visit(value, dim, factor, operand)` for every dimension of the
/// tensors of `op`; `operand` is the index of the operand, or -1 for results.
static void
forEachDim(ShardingOpInterface op, const ShardingFactors &factors,
           llvm::function_ref<void(Value, unsigned, int32_t, int)> visit) {
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    for (auto [dim, factor] : llvm::enumerate(factors.operands[i]))
      visit(operand, dim, factor, i);
  for (auto [i, result] : llvm::enumerate(op->getResults()))
    for (auto [dim, factor] : llvm::enumerate(factors.results[i]))
      visit(result, dim, factor, -1);
}

SplitRequests::SplitRequests(Operation *function) : function(function) {
  function->walk([&](ShardingOpInterface op) {
    if (std::optional<TensorParallelFactor> factor =
            op.getTensorParallelFactor())
      seed(op, *factor);
  });
  while (!worklist.empty()) {
    Key key = worklist.pop_back_val();
    Request what = requests[key];
    if (auto op = key.first.getDefiningOp<ShardingOpInterface>())
      spread(op, key, what);
    for (Operation *user : key.first.getUsers())
      if (auto op = dyn_cast<ShardingOpInterface>(user))
        spread(op, key, what);
  }
}

void SplitRequests::seed(ShardingOpInterface op,
                         const TensorParallelFactor &seed) {
  ShardingFactors factors = op.getShardingFactors();
  std::optional<SplitRule> resultRule;
  forEachDim(
      op, factors, [&](Value value, unsigned dim, int32_t factor, int operand) {
        if (factor != seed.factor)
          return;
        SplitRule rule = operand < 0 ? *resultRule : seed.operandRules[operand];
        if (!resultRule || *resultRule == SplitRule::cap)
          resultRule = rule;
        request(value, dim, {rule, seed.role});
      });
}

void SplitRequests::request(Value value, unsigned dim, Request what) {
  Key key(value, dim);
  if (requests.insert({key, what}).second)
    worklist.push_back(key);
}

/// Requests every other dimension of the same factor. A factor that must be
/// whole stops the spread: a reshard will go there. One that is gathered lets
/// it pass, but keeps the op's own parameters whole. Grouped dimensions have
/// rules of their own, which the op asked for itself.
void SplitRequests::spread(ShardingOpInterface op, Key key, Request what) {
  ShardingFactors factors = op.getShardingFactors();
  SmallVector<int32_t> reached;
  forEachDim(op, factors, [&](Value value, unsigned dim, int32_t factor, int) {
    if (Key(value, dim) == key)
      reached.push_back(factor);
  });
  forEachDim(op, factors, [&](Value value, unsigned dim, int32_t factor, int) {
    FactorKind kind = factors.kinds[factor];
    bool passes = kind == FactorKind::parallel ||
                  kind == FactorKind::reduction ||
                  (kind == FactorKind::gathered && !isSource(value));
    if (passes && llvm::is_contained(reached, factor))
      request(value, dim, what);
  });
}

SmallVector<SplitRequests::Source> SplitRequests::sources() const {
  SmallVector<Source> sources;
  function->walk([&](Operation *op) {
    if (op->getNumOperands() != 0)
      return;
    for (OpResult result : op->getResults())
      if (auto type = dyn_cast<RankedTensorType>(result.getType()))
        for (unsigned dim = 0; dim < type.getRank(); ++dim)
          if (auto it = requests.find({result, dim}); it != requests.end())
            sources.push_back({result, dim, it->second.rule, it->second.role});
  });
  return sources;
}
