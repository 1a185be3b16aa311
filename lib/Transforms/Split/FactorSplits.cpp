//===- FactorSplits.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FactorSplits.h"

#include "../Bind/MeshReader.h"

using namespace autopar;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::transforms;
using namespace autopar::parallel;
using namespace mlir;

/// Priority of a split, by what it comes from: a source (weight or KV cache),
/// another value, or the grouping of a set. A lower number has priority.
static constexpr unsigned ofSource = 0, ofValue = 1, ofGrouping = 2;

bool autopar::transforms::isSource(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (isa<HeldOpInterface>(op))
    return true;
  return isLayoutOp(op) && !isa<ReshardOp>(op) && isSource(op->getOperand(0));
}

/// Returns the axes over which users of routed tokens split their weights in a
/// dimension other than experts. Tokens must not be split over these, and
/// gathering them before routing is cheaper, because they are fewer.
static SmallVector<StringAttr> axesOfExperts(Value routed) {
  SmallVector<StringAttr> axes;
  for (Operation *user : routed.getUsers()) {
    auto op = dyn_cast<ShardingOpInterface>(user);
    ShardingFactors factors = op ? op.getShardingFactors() : ShardingFactors();
    for (unsigned i = 0; i < factors.operands.size(); ++i) {
      if (!isSource(op->getOperand(i)))
        continue;
      Layout layout = Layout::of(TensorView(op->getOperand(i)).getType());
      for (auto [dim, factor] :
           llvm::zip_equal(layout.dims, factors.operands[i]))
        if (!factors.isOfExperts(factor))
          llvm::append_range(axes, dim.getAxes());
    }
  }
  return axes;
}

ContextExchange ContextExchange::of(ModuleOp module) {
  ContextExchange exchange;
  auto strategies = module.getOps<StrategyOp>();
  auto meshes = module.getOps<MeshOp>();
  if (strategies.empty() || meshes.empty())
    return exchange;
  std::optional<parallel::ContextKind> kind =
      (*strategies.begin()).getContextKind();
  if (!kind || *kind == parallel::ContextKind::all_gather)
    return exchange;
  exchange.kind = *kind;
  for (const std::string &axis : readMesh(*meshes.begin()).axesOf(Degree::cp))
    exchange.axes.push_back(StringAttr::get(module.getContext(), axis));
  return exchange;
}

FactorSplits::FactorSplits(ShardingOpInterface op,
                           const ContextExchange &exchange)
    : op(op), exchange(exchange), factors(op.getShardingFactors()),
      splits(factors.kinds.size()) {
  if (std::optional<TensorParallelFactor> heads = op.getTensorParallelFactor())
    headRules = heads->operandRules;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    read(i);
  exchangeHeads();
  resolveConflicts();
  moveSpareAxes();
}

//===----------------------------------------------------------------------===//
// The splits that operands ask for
//===----------------------------------------------------------------------===//

void FactorSplits::read(unsigned operand) {
  Value value = op->getOperand(operand);
  unsigned rank = isSource(value) ? ofSource : ofValue;
  layouts.push_back(Layout::of(TensorView(value).getType()));
  int32_t experts = factors.expertsOfOperand(operand);
  for (auto [dim, factor] :
       llvm::zip_equal(layouts.back().dims, factors.operands[operand])) {
    bool hasExperts = experts != ShardingFactors::none && dim.isSet();
    if (dim.getRule() != SplitRule::ring)
      follow(factor, dim, dim.getAxes(), rank,
             hasExperts ? ArrayRef<StringAttr>() : dim.getGrouped());
    if (hasExperts)
      follow(experts, dim, dim.getGrouped(), ofGrouping);
  }
}

/// Takes the split of `dim` for `factor` if it has priority. Of two values, one
/// without axes asks for nothing; nor does one whose axes are a prefix of the
/// other's, because replicas do not change the layout of the rest.
void FactorSplits::follow(int32_t factor, DimAttr dim,
                          ArrayRef<StringAttr> axes, unsigned rank,
                          ArrayRef<StringAttr> grouped) {
  FactorKind kind = factors.kinds[factor];
  if (mustBeWhole(kind) || kind == FactorKind::merged)
    return;
  if (!axes.empty() && !dim.isSet() &&
      !factors.maySplitBy(factor, dim.getRule()))
    return;
  Split &split = splits[factor];
  // If a weight that is not split were split for a sum, every result would be a
  // partial sum.
  bool staysWhole = rank == ofSource && kind == FactorKind::reduction;
  bool asks =
      staysWhole || !axes.empty() || (rank != ofGrouping && !dim.isWhole());
  bool isMore = split.rank == rank && axes.size() > split.axes.size() &&
                llvm::equal(axes.take_front(split.axes.size()), split.axes);
  if (split.dim && (!asks || (split.asks && split.rank <= rank && !isMore)))
    return;
  split = {dim, Axes(axes), Axes(grouped), rank, asks};
}

/// If heads are exchanged for tokens, splits the heads of an attention over
/// those axes of context parallelism that split its tokens.
void FactorSplits::exchangeHeads() {
  std::optional<TensorParallelFactor> heads = op.getTensorParallelFactor();
  if (exchange.kind != parallel::ContextKind::all_to_all || !heads ||
      heads->role != TensorParallelRole::attention ||
      factors.kinds[heads->factor] != FactorKind::grouped ||
      !llvm::is_contained(factors.kinds, FactorKind::seen))
    return;
  Split &own = splits[heads->factor];
  for (Split &split : splits) {
    if (&split == &own || !split.dim || !split.dim.isSymbolic())
      continue;
    auto *first = llvm::find_if(split.axes, [&](StringAttr axis) {
      return llvm::is_contained(exchange.axes, axis);
    });
    for (StringAttr axis : llvm::make_range(first, split.axes.end()))
      if (!llvm::is_contained(own.axes, axis))
        own.axes.push_back(axis);
    split.axes.erase(first, split.axes.end());
  }
}

/// Returns `dim` of attention's keys as one that is passed around a ring; null
/// if it is not split over the ring's axes.
DimAttr FactorSplits::turn(DimAttr dim, int32_t factor) const {
  if (exchange.kind != parallel::ContextKind::ring ||
      factors.kinds[factor] != FactorKind::seen || !dim.isSymbolic())
    return {};
  ArrayRef<StringAttr> axes = dim.getAxes().take_while(
      [&](StringAttr axis) { return llvm::is_contained(exchange.axes, axis); });
  return axes.empty() ? DimAttr()
                      : dim.withAxes(axes).withRule(SplitRule::ring);
}

/// Returns `dim` of a result whose parts are added while they are passed around
/// a ring, because an operand with `factor` is.
DimAttr FactorSplits::turnLikeOperand(DimAttr dim, int32_t factor) const {
  for (auto [layout, dims] : llvm::zip_equal(layouts, factors.operands))
    for (auto [own, other] : llvm::zip_equal(layout.dims, dims))
      if (DimAttr round = other == factor ? turn(own, factor) : DimAttr())
        return dim.withAxes(round.getAxes()).withRule(SplitRule::ring);
  return {};
}

/// Gives each axis that several factors use to the one with priority.
void FactorSplits::resolveConflicts() {
  SmallVector<StringAttr> claimed;
  auto give = [&](unsigned rank) {
    for (Split &split : splits) {
      if (!split.dim || split.rank != rank)
        continue;
      auto isTaken = [&](StringAttr axis) {
        return llvm::is_contained(claimed, axis);
      };
      // Only the last axes of a list can be gathered, so the rest of the list
      // goes, too; a set has no order.
      if (split.dim.isSet())
        llvm::erase_if(split.axes, isTaken);
      else
        split.axes.erase(llvm::find_if(split.axes, isTaken), split.axes.end());
      llvm::append_range(claimed, split.axes);
      llvm::erase_if(split.grouped, isTaken);
      llvm::append_range(claimed, split.grouped);
    }
  };
  give(ofSource);
  // Axes of partial sums that need not be reduced here stay with these sums;
  // other values give them up.
  llvm::append_range(claimed, waitingAxes());
  for (auto [result, dims] : llvm::zip_equal(op->getResults(), factors.results))
    if (!dims.empty() && factors.kinds[dims.front()] == FactorKind::merged)
      llvm::append_range(claimed, axesOfExperts(result));
  give(ofValue);
  give(ofGrouping);
}

/// If the op is linear in its partial operands together, returns their axes, so
/// that the sums may be reduced later; else returns none.
SmallVector<StringAttr> FactorSplits::waitingAxes() const {
  SmallVector<unsigned> partial = partialOperands();
  SmallVector<StringAttr> axes;
  if (llvm::is_contained(factors.linear, partial))
    for (unsigned i : partial)
      llvm::append_range(axes, layouts[i].partial);
  return axes;
}

SmallVector<unsigned> FactorSplits::partialOperands() const {
  SmallVector<unsigned> partial;
  for (auto [i, layout] : llvm::enumerate(layouts))
    if (!layout.partial.empty())
      partial.push_back(i);
  return partial;
}

//===----------------------------------------------------------------------===//
// Axes that no factor uses
//===----------------------------------------------------------------------===//

bool FactorSplits::isClaimed(StringAttr axis) const {
  return llvm::any_of(splits, [&](const Split &split) {
    return llvm::is_contained(split.axes, axis) ||
           llvm::is_contained(split.grouped, axis);
  });
}

void FactorSplits::moveSpareAxes() {
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (!isSource(operand))
      moveSpareAxes(i);
}

/// Returns the last split of a token dimension of the operand that may be
/// split; null if there is none.
FactorSplits::Split *FactorSplits::findTokens(unsigned operand) {
  Split *tokens = nullptr;
  for (auto [dim, factor] :
       llvm::zip_equal(layouts[operand].dims, factors.operands[operand]))
    if (dim.isSymbolic() && !dim.isSet() &&
        factors.kinds[factor] == FactorKind::parallel)
      tokens = &splits[factor];
  return tokens;
}

void FactorSplits::moveSpareAxes(unsigned operand) {
  Split *tokens = findTokens(operand);
  if (!tokens)
    return;
  for (auto [dim, factor] :
       llvm::zip_equal(layouts[operand].dims, factors.operands[operand])) {
    if (mustBeWhole(factors.kinds[factor]) || dim.isSymbolic())
      continue;
    for (StringAttr axis : dim.getAxes())
      if (!isClaimed(axis))
        tokens->axes.push_back(axis);
  }
}

/// Calls `visit` for each axis of a partial operand that could split the
/// operand's tokens instead.
void FactorSplits::forEachScatter(
    const TokenAxes &tokenAxes,
    function_ref<void(int32_t, StringAttr)> visit) const {
  for (auto [i, layout] : llvm::enumerate(layouts)) {
    for (StringAttr axis : layout.partial) {
      auto it = tokenAxes.find(axis);
      if (it == tokenAxes.end() || isClaimed(axis))
        continue;
      for (auto [dim, factor] :
           llvm::zip_equal(layout.dims, factors.operands[i]))
        if (llvm::is_contained(it->second, dim.getExtent()) &&
            (factors.kinds[factor] == FactorKind::parallel ||
             factors.kinds[factor] == FactorKind::reduction))
          visit(factor, axis);
    }
  }
}

void FactorSplits::splitTokens(const TokenAxes &tokenAxes) {
  forEachScatter(tokenAxes, [&](int32_t factor, StringAttr axis) {
    splits[factor].axes.push_back(axis);
  });
}

/// Whether the op multiplies each token by itself with values that all tokens
/// share, as a matmul with a weight does. Routed tokens do not count: they go
/// to their experts.
bool FactorSplits::isProductOfTokens() const {
  return !llvm::is_contained(factors.kinds, FactorKind::merged) &&
         llvm::is_contained(factors.kinds, FactorKind::reduction) &&
         llvm::any_of(factors.linear, [](ArrayRef<unsigned> group) {
           return group.size() == 1;
         });
}

void FactorSplits::sliceTokens(const TokenAxes &tokenAxes) {
  if (!isProductOfTokens())
    return;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    if (isSource(operand))
      continue;
    for (auto [dim, factor] :
         llvm::zip_equal(layouts[i].dims, factors.operands[i])) {
      if (!dim.isSymbolic() || dim.isSet() || !dim.isWhole() ||
          factors.kinds[factor] != FactorKind::parallel)
        continue;
      for (const auto &[axis, extents] : tokenAxes)
        if (llvm::is_contained(extents, dim.getExtent()) && !isClaimed(axis) &&
            splits[factor].axes.empty() &&
            !llvm::is_contained(layouts[i].partial, axis))
          splits[factor].axes.push_back(axis);
    }
  }
}

bool FactorSplits::multipliesLessScattered(const TokenAxes &tokenAxes) const {
  bool any = false;
  if (llvm::is_contained(factors.kinds, FactorKind::reduction))
    forEachScatter(tokenAxes, [&](int32_t, StringAttr) { any = true; });
  return any;
}

//===----------------------------------------------------------------------===//
// Layouts of results
//===----------------------------------------------------------------------===//

FactorSplits::Axes FactorSplits::axesOf(int32_t factor) const {
  if (factor == ShardingFactors::none)
    return {};
  if (factors.kinds[factor] != FactorKind::merged)
    return splits[factor].axes;
  Axes axes;
  for (int32_t part : factors.parts.find(factor)->second)
    llvm::append_range(axes, axesOf(part));
  return axes;
}

/// Returns the splits of the tokens of which a set of routed tokens consists.
SmallVector<DimAttr> FactorSplits::tokensOf(int32_t factor) const {
  const Split &split = splits[factor];
  if (factors.kinds[factor] != FactorKind::merged)
    return split.dim ? llvm::to_vector(split.dim.getTokens())
                     : SmallVector<DimAttr>();
  SmallVector<DimAttr> tokens;
  for (int32_t part : factors.parts.find(factor)->second) {
    if (factors.kinds[part] == FactorKind::whole)
      continue;
    DimAttr like = splits[part].dim;
    DimAttr dim = extentOf(part).withAxes(axesOf(part));
    bool isNumber = like && !like.isSymbolic() && !dim.isWhole();
    tokens.push_back(isNumber ? dim.withRule(like.getRule(), like.getMultiple())
                              : dim);
  }
  return tokens;
}

/// Returns the split of the experts: that of a weight's dimension, or that of a
/// set's grouping.
DimAttr FactorSplits::expertsOf(int32_t factor) const {
  const Split &split = splits[factor];
  DimAttr experts = extentOf(factor);
  if (!split.dim || !experts)
    return split.dim ? split.dim.getExperts() : DimAttr();
  DimAttr like = split.dim.isSet() ? split.dim.getExperts() : split.dim;
  return like ? experts.withAxes(split.axes)
                    .withRule(like.getRule(), like.getMultiple())
              : DimAttr();
}

/// Returns the dimension of an operand that has `factor`, with its named
/// extent; null if there is none.
DimAttr FactorSplits::extentOf(int32_t factor) const {
  for (auto [operand, dims] :
       llvm::zip_equal(op->getOperands(), factors.operands))
    for (auto [i, other] : llvm::enumerate(dims))
      if (other == factor)
        return DimAttr::get(op->getContext(), TensorView(operand).extent(i), {},
                            SplitRule::plain, 1)
            .withAxes({});
  return {};
}

/// Returns a set of routed tokens that is split and grouped as its factors are.
DimAttr FactorSplits::setLike(DimAttr old, int32_t factor,
                              int32_t experts) const {
  DimAttr set = old.withTokens(axesOf(factor), tokensOf(factor));
  if (experts != ShardingFactors::none)
    return set.withExperts(axesOf(experts), expertsOf(experts));
  const Split &split = splits[factor];
  return set.withExperts(split.grouped,
                         split.dim ? split.dim.getExperts() : DimAttr());
}

/// Returns `old`, split as its factor is; `operand` is the number of the
/// operand or, after all operands, of the result.
DimAttr FactorSplits::dimLike(DimAttr old, int32_t factor, int32_t experts,
                              unsigned operand) const {
  if (old.getRule() == SplitRule::ring)
    return old;
  if (old.isSet())
    return setLike(old, factor, experts);
  Axes axes = axesOf(factor);
  if (axes.empty() && old.getAxes().empty())
    return old;
  const Split &split = splits[factor];
  bool isOfSet = split.dim && split.dim.isSet();
  DimAttr like = isOfSet ? split.dim.getExperts() : split.dim;
  // The split rule of the extent holds for dimensions without axes, and for
  // other numbers of axes.
  SplitRule rule = defaultRule(old.getExtent());
  int64_t multiple = 1;
  if (like && !axes.empty() && !old.isSymbolic()) {
    rule = like.getRule();
    multiple = like.getMultiple();
    // Query heads, and the key-value heads that they share, have split rules of
    // their own.
    if (factors.kinds[factor] == FactorKind::grouped && !isOfSet) {
      rule = operand < headRules.size() ? headRules[operand] : SplitRule::plain;
      multiple = 1;
    }
  }
  return DimAttr::get(op->getContext(), old.getExtent(), axes, rule, multiple);
}

Layout FactorSplits::operandLayout(unsigned index) const {
  Layout layout = layouts[index];
  int32_t experts = factors.expertsOfOperand(index);
  for (auto [dim, factor] :
       llvm::zip_equal(layout.dims, factors.operands[index])) {
    DimAttr round = turn(dim, factor);
    dim = round ? round : dimLike(dim, factor, experts, index);
  }
  // The order of partial axes has no meaning, but equal types must list them
  // equally.
  ArrayRef<StringAttr> first = TensorView(op->getOperand(0)).partialAxes();
  if (haveSameAxes(layout.partial, first))
    layout.partial.assign(first.begin(), first.end());
  return layout;
}

bool FactorSplits::uses(ArrayRef<StringAttr> axes) const {
  return llvm::any_of(axes, [&](StringAttr axis) { return isClaimed(axis); });
}

SmallVector<StringAttr, 2> FactorSplits::reducedAxes(unsigned result) const {
  SmallVector<StringAttr, 2> axes;
  for (auto [factor, split] : llvm::enumerate(splits))
    if (factors.isSummedBy(result, factor))
      llvm::append_range(axes, split.axes);
  return axes;
}

bool FactorSplits::reduces() const {
  return llvm::any_of(llvm::seq(op->getNumResults()), [&](unsigned result) {
    return !reducedAxes(result).empty();
  });
}

void FactorSplits::gatherReductions() {
  for (auto [split, kind] : llvm::zip_equal(splits, factors.kinds))
    if (kind == FactorKind::reduction)
      split.axes.clear();
}

Layout FactorSplits::resultLayout(unsigned index) const {
  Layout layout = Layout::of(TensorView(op->getResult(index)).getType());
  int32_t experts = factors.expertsOfResult(index);
  layout.partial = reducedAxes(index);
  for (auto [dim, factor] :
       llvm::zip_equal(layout.dims, factors.results[index])) {
    DimAttr round = turnLikeOperand(dim, factor);
    dim = round ? round
                : dimLike(dim, factor, experts, op->getNumOperands() + index);
    // Partial sums are added while they are passed around the ring.
    if (round)
      llvm::erase_if(layout.partial, [&](StringAttr axis) {
        return llvm::is_contained(round.getAxes(), axis);
      });
  }
  for (Value operand : op->getOperands())
    for (StringAttr axis : TensorView(operand).partialAxes())
      if (!llvm::is_contained(layout.partial, axis))
        layout.partial.push_back(axis);
  return layout;
}

Type FactorSplits::resultType(unsigned index) const {
  return withLayout(op->getResult(index).getType(), resultLayout(index));
}
