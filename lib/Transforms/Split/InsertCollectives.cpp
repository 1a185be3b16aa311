//===- InsertCollectives.cpp ----------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Passes.h"

#include "KeepExchanged.h"

#include "autopar/Dialect/Transformer/Transformer.h"
#include "autopar/Reshard/Planner.h"
#include "autopar/Transforms/Split/Layouts.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/SetVector.h"

namespace autopar::transforms {
#define GEN_PASS_DEF_INSERTCOLLECTIVESPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar::transforms

using namespace autopar;
using namespace autopar::program;
using namespace autopar::reshard;
using namespace autopar::schedule;
using namespace autopar::transforms;
using namespace autopar::parallel;
using namespace mlir;

namespace {

/// A nominal axis size: the choice of collectives must not depend on the sizes
/// of the mesh.
constexpr int64_t nominalAxisSize = 2;

/// Replaces one reshard op by the collectives that the planner chooses.
class ReshardSteps {
public:
  ReshardSteps(ReshardOp op, OpBuilder &builder, KnownReshards &known)
      : op(op), builder(builder), known(known), value(op.getInput()),
        layout(Layout::of(TensorView(value).getType())),
        goal(Layout::of(TensorView(op.getResult()).getType())) {}

  LogicalResult run() {
    for (StringAttr axis : goal.partial)
      if (!llvm::is_contained(layout.partial, axis))
        return op.emitOpError() << "makes a partial sum over '"
                                << axis.getValue() << "' of whole values";
    endRings();
    std::optional<DimAttr> round = takeRing();
    gatherOtherRules();
    ReshardSpace space = spaceOf();
    ShardLayout from = numbered(layout), to = numbered(goal);
    space.axisSizes.assign(names.size(), nominalAxisSize);
    const Result<ReshardPlan> &plan = known.plan(from, to, space);
    if (!plan)
      return op.emitOpError() << "has no plan with axes of nominal size "
                              << nominalAxisSize << ": " << plan.error().str();
    for (const ReshardStep &step : plan->steps)
      add(step);
    finish();
    if (round)
      turn(*round);
    op.replaceAllUsesWith(value);
    op.erase();
    return success();
  }

private:
  /// Ends the rings of the operand: values that were added to parts while they
  /// went around are summed on the devices that own the parts.
  void endRings() {
    for (auto [i, dim] : llvm::enumerate(layout.dims)) {
      if (dim.getRule() != SplitRule::ring)
        continue;
      dim = dim.withRule(defaultRule(dim.getExtent()));
      value = RingReduceOp::create(builder, op.getLoc(), type(), value,
                                   dimAttr(i), arrayOf(dim.getAxes()));
    }
  }

  /// Removes the ring of a dimension from the goal, and returns that dimension;
  /// nothing if there is none.
  std::optional<DimAttr> takeRing() {
    for (DimAttr &dim : goal.dims)
      if (dim.getRule() == SplitRule::ring) {
        ringDim = &dim - goal.dims.begin();
        DimAttr round = dim;
        dim = dim.withRule(defaultRule(dim.getExtent()));
        return round;
      }
    return std::nullopt;
  }

  void turn(DimAttr round) {
    layout.dims[ringDim] = round;
    value = RingOp::create(builder, op.getLoc(), type(), value,
                           dimAttr(ringDim), arrayOf(round.getAxes()));
  }

  /// Gathers dimensions whose split rule changes, because blocks of different
  /// rules have nothing in common.
  void gatherOtherRules() {
    for (auto [i, dim] : llvm::enumerate(layout.dims)) {
      DimAttr wanted = goal.dims[i];
      ArrayRef<StringAttr> axes = dim.getAxes();
      bool sameRule = dim.getRule() == wanted.getRule() &&
                      dim.getMultiple() == wanted.getMultiple() &&
                      dim.getTokens() == wanted.getTokens() &&
                      (dim.getRule() != SplitRule::pad ||
                       dim.getAxes() == wanted.getAxes());
      if (!axes.empty() && !wanted.getAxes().empty() && !sameRule) {
        dim = dim.withAxes({});
        gather(static_cast<int64_t>(i), axes);
      }
      ArrayRef<StringAttr> grouped = dim.getGrouped();
      if (!grouped.empty() && !wanted.getGrouped().empty() &&
          dim.getExperts() != wanted.getExperts()) {
        dim = dim.withGrouped({});
        gather(expertsDim, grouped);
      }
    }
  }

  void gather(int64_t dim, ArrayRef<StringAttr> axes) {
    value = AllGatherOp::create(builder, op.getLoc(), type(), value,
                                builder.getI64IntegerAttr(dim), arrayOf(axes));
  }

  /// Returns the split of dimension `dim` in intermediate layouts: with the
  /// rule of the goal if it is split there, else that of the operand.
  DimAttr ruled(size_t dim) const {
    return goal.dims[dim].getAxes().empty() ? layout.dims[dim] : goal.dims[dim];
  }

  /// Returns the experts by which a set is grouped in intermediate layouts:
  /// those of the goal or, if it has none, of the operand.
  DimAttr expertsOnTheWay() {
    if (!goal.findSet())
      return {};
    DimAttr wanted = goal.findSet()->getExperts();
    return wanted ? wanted : layout.findSet()->getExperts();
  }

  ReshardSpace spaceOf() {
    ReshardSpace space;
    space.nominal = true;
    for (size_t i = 0; i < goal.dims.size(); ++i) {
      DimAttr dim = ruled(i);
      // In intermediate layouts, a set may use the axes of the operand or those
      // of the goal.
      space.dims.push_back({dim.isSet(), dim.isSet() ? WaySplits::subsets
                                                     : wayOf(dim.getRule())});
    }
    if (goal.findSet())
      space.dims.push_back({/*isSet=*/true, WaySplits::subsets});
    return space;
  }

  /// Returns which splits a dimension may have in intermediate layouts. A
  /// divisor of a number of devices also divides the extents that the number
  /// divides, but a `cap` or a padding may not allow it.
  static WaySplits wayOf(SplitRule rule) {
    if (rule == SplitRule::any)
      return WaySplits::any;
    return rule == SplitRule::plain ? WaySplits::subsets : WaySplits::ends;
  }

  std::vector<AxisId> numbered(ArrayRef<StringAttr> axes) {
    std::vector<AxisId> numbers;
    for (StringAttr axis : axes) {
      names.insert(axis);
      numbers.push_back(llvm::find(names, axis) - names.begin());
    }
    return numbers;
  }

  /// Returns `layout` with axes as numbers. The grouping of a set by experts
  /// becomes one more dimension.
  ShardLayout numbered(Layout &layout) {
    ShardLayout numbers;
    for (DimAttr dim : layout.dims)
      numbers.dims.push_back(numbered(dim.getAxes()));
    if (DimAttr *set = layout.findSet())
      numbers.dims.push_back(numbered(set->getGrouped()));
    numbers.partial = numbered(layout.partial);
    return numbers;
  }

  SmallVector<StringAttr> named(const std::vector<AxisId> &numbers) const {
    SmallVector<StringAttr> axes;
    for (AxisId number : numbers)
      axes.push_back(names[number]);
    return axes;
  }

  void add(const ReshardStep &step) {
    DimAttr experts = expertsOnTheWay();
    for (size_t i = 0; i < layout.dims.size(); ++i)
      layout.dims[i] = ruled(i).withAxes(named(step.result.dims[i]));
    if (DimAttr *set = layout.findSet())
      *set = set->withExperts(named(step.result.dims.back()), experts);
    layout.partial = named(step.result.partial);
    if (layout.isSameAs(goal))
      layout = goal;
    // KV caches are moved as well, although they are not tensors; the verifier
    // reports that.
    value = create(step)->getResult(0);
  }

  Operation *create(const ReshardStep &step) {
    Location loc = op.getLoc();
    ArrayAttr axes = arrayOf(named(step.axes));
    IntegerAttr from = dimAttr(step.from), to = dimAttr(step.to);
    switch (step.kind) {
    case ReshardKind::all_slice:
      return AllSliceOp::create(builder, loc, type(), value, to, axes);
    case ReshardKind::all_reduce:
      return AllReduceOp::create(builder, loc, type(), value, axes);
    case ReshardKind::reduce_scatter:
      return ReduceScatterOp::create(builder, loc, type(), value, to, axes);
    case ReshardKind::all_gather:
      return AllGatherOp::create(builder, loc, type(), value, from, axes);
    case ReshardKind::all_to_all:
      return AllToAllOp::create(builder, loc, type(), value, from, to,
                                /*top_k=*/{}, /*groups=*/{}, /*keep=*/{},
                                /*format=*/{}, /*blocks=*/{}, axes);
    case ReshardKind::permute:
      return PermuteOp::create(builder, loc, type(), value, axes);
    }
    llvm_unreachable("all kinds are listed");
  }

  IntegerAttr dimAttr(size_t dim) {
    bool experts = dim >= layout.dims.size();
    return builder.getI64IntegerAttr(experts ? expertsDim
                                             : static_cast<int64_t>(dim));
  }

  /// Layouts that are equal may still list their axes in another order.
  void finish() {
    layout = goal;
    if (value.getType() != type())
      value = PermuteOp::create(builder, op.getLoc(), type(), value,
                                arrayOf(ArrayRef<StringAttr>()));
  }

  Type type() { return withLayout(op.getResult().getType(), layout); }

  ArrayAttr arrayOf(ArrayRef<StringAttr> axes) {
    return builder.getArrayAttr(
        SmallVector<Attribute>(axes.begin(), axes.end()));
  }

  ReshardOp op;
  OpBuilder &builder;
  KnownReshards &known;
  Value value;
  Layout layout, goal;
  /// The dimension that is passed around a ring at the end, if there is one.
  size_t ringDim = 0;
  /// The names of the axes, by their numbers.
  llvm::SetVector<StringAttr> names;
};

struct InsertCollectivesPass
    : autopar::transforms::impl::InsertCollectivesPassBase<
          InsertCollectivesPass> {
  using Base::Base;

  /// Copies of the pass, which run on other threads, have their own cache of
  /// plans.
  InsertCollectivesPass(const InsertCollectivesPass &other) : Base(other) {}

  std::shared_ptr<KnownReshards> known = std::make_shared<KnownReshards>();

  void runOnModule() override {
    placeResidents();
    SmallVector<ReshardOp> reshards;
    getOperation().walk([&](ReshardOp op) { reshards.push_back(op); });
    OpBuilder builder(&getContext());
    for (ReshardOp op : reshards) {
      builder.setInsertionPoint(op);
      if (failed(ReshardSteps(op, builder, *known).run()))
        return signalPassFailure();
    }
    simplify();
    keepExchanged(getOperation());
    if (failed(verifyCachesStay()))
      signalPassFailure();
  }

  /// Gives a state the layout that its update needs, and a KV cache the layout
  /// that all its users want: if it were moved first, the update would change a
  /// copy.
  void placeResidents() {
    SmallVector<ReshardOp> moves;
    getOperation().walk([&](ReshardOp op) {
      if (op.getInput().hasOneUse() && mayPlace(op))
        moves.push_back(op);
    });
    for (ReshardOp op : moves) {
      Value resident = op.getInput();
      resident.setType(op.getResult().getType());
      op.replaceAllUsesWith(resident);
      op.erase();
    }
  }

  /// Whether the layout of an operand of `op` may be changed. Splits of KV
  /// caches are the user's choice and are not removed.
  static bool mayPlace(ReshardOp op) {
    Value resident = op.getInput();
    if (resident.getDefiningOp<transformer::StateOp>())
      return true;
    if (!resident.getDefiningOp<transformer::KVCacheOp>())
      return false;
    TensorView from(resident), to(op.getResult());
    for (unsigned dim = 0; dim < from.rank(); ++dim) {
      DimRef own = from.dim(dim), wanted = to.dim(dim);
      bool stays = own.axes == wanted.axes && own.rule == wanted.rule;
      if (!stays && !own.axes.empty())
        return false;
    }
    return true;
  }

  /// Emits an error for a KV cache that is moved before its update, which would
  /// be lost. Rings leave the cache where it is.
  LogicalResult verifyCachesStay() {
    auto moves = [](Operation *op) {
      return isa<ParallelDialect>(op->getDialect()) && !isa<RingOp>(op) &&
             llvm::any_of(op->getOperands(), [](Value operand) {
               return operand.getDefiningOp<transformer::KVCacheOp>() ||
                      operand.getDefiningOp<transformer::StateOp>();
             });
    };
    LogicalResult stay = success();
    getOperation().walk([&](Operation *op) {
      if (moves(op) && succeeded(stay))
        stay = op->emitError("a cache or a state is moved before it is "
                             "updated: split it as what updates it, or not at "
                             "all");
    });
    return stay;
  }

  /// Merges a gather or a reduction with the slice of a following reshard.
  void simplify() {
    SmallVector<Operation *> slices;
    getOperation().walk([&](AllSliceOp op) { slices.push_back(op); });
    if (slices.empty())
      return;
    RewritePatternSet patterns(&getContext());
    AllSliceOp::getCanonicalizationPatterns(patterns, &getContext());
    (void)applyOpPatternsGreedily(slices, std::move(patterns));
  }
};

} // namespace

std::unique_ptr<Pass> autopar::transforms::createInsertCollectivesPass(
    std::shared_ptr<KnownReshards> known) {
  auto pass = std::make_unique<InsertCollectivesPass>();
  pass->known = std::move(known);
  return pass;
}
