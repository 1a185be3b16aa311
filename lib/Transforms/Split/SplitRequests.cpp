//===- SplitRequests.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SplitRequests.h"

#include "FactorSplits.h"

#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace autopar;
using namespace autopar::program;
using namespace autopar::transforms;
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

SplitRequests SplitRequests::ofTensorParallelism(Operation *function) {
  SplitRequests requests(function);
  SmallVector<ShardingOpInterface> ops;
  function->walk([&](ShardingOpInterface op) {
    if (op.getTensorParallelFactor())
      ops.push_back(op);
  });
  // Roles are processed in this order: widths that follow from heads, such as
  // the gate of a recurrence or the convolution before it, then ask for nothing
  // of their own.
  using Role = TensorParallelRole;
  for (Role role :
       {Role::attention, Role::channels, Role::dense, Role::experts})
    for (ShardingOpInterface op : ops)
      if (auto factor = *op.getTensorParallelFactor(); factor.role == role) {
        requests.seed(op, factor);
        requests.spread();
      }
  return requests;
}

SplitRequests SplitRequests::ofTypes(ModuleOp module) {
  SplitRequests requests(module);
  requests.collectLinks(module);
  module.walk([&](Operation *op) {
    if (isa<HeldOpInterface>(op))
      for (Value source : op->getResults())
        requests.seed(source);
    for (Region &region : op->getRegions())
      for (Value argument : region.getArguments())
        requests.seed(argument);
  });
  requests.spread();
  return requests;
}

void SplitRequests::spread() {
  while (!worklist.empty()) {
    Key key = worklist.pop_back_val();
    Request what = requests[key];
    if (auto op = key.first.getDefiningOp<ShardingOpInterface>())
      spread(op, key, what);
    for (Operation *user : key.first.getUsers())
      if (auto op = dyn_cast<ShardingOpInterface>(user))
        spread(op, key, what);
      else if (isLayoutOp(user))
        request(user->getResult(0), key.second, what);
    Operation *producer = key.first.getDefiningOp();
    if (producer && isLayoutOp(producer))
      request(producer->getOperand(0), key.second, what);
    for (Value other : links.lookup(key.first))
      request(other, key.second, what);
  }
}

//===----------------------------------------------------------------------===//
// Linking values across calls and loops
//===----------------------------------------------------------------------===//

void SplitRequests::link(Value a, Value b) {
  links[a].push_back(b);
  links[b].push_back(a);
}

void SplitRequests::collectLinks(ModuleOp module) {
  module.walk([&](CallOpInterface call) {
    auto callee = dyn_cast_or_null<FunctionOpInterface>(call.resolveCallable());
    if (!callee || callee.isDeclaration())
      return;
    Block &body = callee.getFunctionBody().front();
    for (auto [operand, argument] :
         llvm::zip_equal(call->getOperands(), body.getArguments()))
      link(operand, argument);
    for (auto [result, returned] : llvm::zip_equal(
             call->getResults(), body.getTerminator()->getOperands()))
      link(result, returned);
  });
  module.walk([&](LoopLikeOpInterface loop) {
    for (auto [argument, init, yielded, result] :
         llvm::zip_equal(loop.getRegionIterArgs(), loop.getInits(),
                         loop.getYieldedValues(), loop->getResults())) {
      link(argument, init);
      link(argument, yielded);
      link(argument, result);
    }
  });
}

//===----------------------------------------------------------------------===//
// Spreading requests for splits
//===----------------------------------------------------------------------===//

/// Adds the existing splits of `value` as requests.
void SplitRequests::seed(Value value) {
  RankedTensorType type = tensorOf(value.getType());
  for (unsigned dim = 0; type && dim < type.getRank(); ++dim) {
    DimRef split = TensorView(type).dim(dim);
    if (!split.axes.empty())
      request(value, dim,
              {split.rule, split.multiple, TensorParallelRole::dense,
               llvm::to_vector<2>(split.axes)});
  }
}

void SplitRequests::seed(ShardingOpInterface op,
                         const TensorParallelFactor &seed) {
  ShardingFactors factors = op.getShardingFactors();
  bool isReached = true;
  forEachDim(op, factors, [&](Value value, unsigned dim, int32_t factor, int) {
    isReached &= factor != seed.factor || find(value, dim);
  });
  if (isReached)
    return;
  std::optional<SplitRule> resultRule;
  forEachDim(
      op, factors, [&](Value value, unsigned dim, int32_t factor, int operand) {
        if (factor != seed.factor)
          return;
        SplitRule rule = operand < 0 ? *resultRule : seed.operandRules[operand];
        if (!resultRule || *resultRule == SplitRule::cap)
          resultRule = rule;
        request(value, dim, {rule, /*multiple=*/1, seed.role});
      });
}

void SplitRequests::request(Value value, unsigned dim, const Request &what) {
  Key key(value, dim);
  if (requests.try_emplace(key, what).second)
    worklist.push_back(key);
}

/// Adds requests for every other dimension of the same factor. A factor that
/// must be whole ends the spread; a reshard will be inserted there. A gathered
/// factor lets it pass, but keeps the op's own parameters whole. Grouped
/// dimensions have split rules of their own, for which tensor parallelism adds
/// requests itself.
void SplitRequests::spread(ShardingOpInterface op, Key key,
                           const Request &what) {
  ShardingFactors factors = op.getShardingFactors();
  SmallVector<int32_t> reached;
  forEachDim(op, factors, [&](Value value, unsigned dim, int32_t factor, int) {
    if (Key(value, dim) == key)
      reached.push_back(factor);
  });
  SmallVector<SplitRule, 4> headRules;
  if (std::optional<TensorParallelFactor> heads = op.getTensorParallelFactor())
    headRules = heads->operandRules;
  forEachDim(
      op, factors, [&](Value value, unsigned dim, int32_t factor, int operand) {
        FactorKind kind = factors.kinds[factor];
        bool heads = kind == FactorKind::grouped && !what.axes.empty();
        bool passes = kind == FactorKind::parallel || heads ||
                      kind == FactorKind::reduction ||
                      (kind == FactorKind::gathered && !isSource(value));
        if (!passes || !llvm::is_contained(reached, factor))
          return;
        Request same = what;
        if (heads)
          same.rule = operand < 0 ? SplitRule::plain : headRules[operand];
        request(value, dim, same);
      });
}

//===----------------------------------------------------------------------===//
// Finding all requests
//===----------------------------------------------------------------------===//

const SplitRequests::Request *SplitRequests::find(Value value,
                                                  unsigned dim) const {
  auto it = requests.find({value, dim});
  return it == requests.end() ? nullptr : &it->second;
}

void SplitRequests::addSeeds(Value value, SmallVectorImpl<Seed> &seeds) const {
  RankedTensorType type = tensorOf(value.getType());
  for (unsigned dim = 0; type && dim < type.getRank(); ++dim)
    if (const Request *request = find(value, dim))
      seeds.push_back({*request, value, dim});
}

SmallVector<SplitRequests::Seed> SplitRequests::sources() const {
  SmallVector<Seed> seeds;
  root->walk([&](HeldOpInterface op) {
    for (Value result : op->getResults())
      addSeeds(result, seeds);
  });
  return seeds;
}

SmallVector<SplitRequests::Seed> SplitRequests::arguments() const {
  SmallVector<Seed> seeds;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Value argument : region.getArguments())
        addSeeds(argument, seeds);
  });
  return seeds;
}
