//===- InsertCollectives.cpp ----------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Passes.h"

#include "autopar/Transforms/Layouts.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace autopar {
#define GEN_PASS_DEF_INSERTCOLLECTIVESPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar

using namespace autopar;
using namespace autopar::parallel;
using namespace mlir;

namespace {

/// Walks from the layout of a reshard's operand to that of its result, one
/// collective a step: reduce, then gather, then slice.
class ReshardSteps {
public:
  ReshardSteps(ReshardOp op, OpBuilder &builder)
      : op(op), builder(builder), value(op.getInput()),
        layout(Layout::of(TensorView(value).getType())),
        goal(Layout::of(TensorView(op.getResult()).getType())) {}

  LogicalResult run() {
    for (StringAttr axis : goal.partial)
      if (!llvm::is_contained(layout.partial, axis))
        return op.emitOpError() << "makes a partial sum over '"
                                << axis.getValue() << "' of whole values";
    reduce();
    for (size_t dim = 0; dim < goal.dims.size(); ++dim)
      gather(dim);
    for (size_t dim = 0; dim < goal.dims.size(); ++dim)
      slice(dim);
    if (value.getType() != op.getResult().getType())
      return op.emitOpError()
             << "changes the rule of a split or the order of sums, which no "
                "collective does: from "
             << Layout::of(TensorView(op.getInput()).getType()).str() << " to "
             << goal.str();
    op.replaceAllUsesWith(value);
    op.erase();
    return success();
  }

private:
  void reduce() {
    SmallVector<StringAttr> axes;
    for (StringAttr axis : layout.partial)
      if (!llvm::is_contained(goal.partial, axis))
        axes.push_back(axis);
    if (axes.empty())
      return;
    layout.partial = goal.partial;
    value =
        AllReduceOp::create(builder, op.getLoc(), type(), value, arrayOf(axes));
  }

  /// How many leading axes of dimension `dim` are already as they will be.
  size_t commonAxes(size_t dim) {
    ArrayRef<StringAttr> now = layout.dims[dim].getAxes(),
                         then = goal.dims[dim].getAxes();
    size_t common = 0;
    while (common < now.size() && common < then.size() &&
           now[common] == then[common])
      ++common;
    return common;
  }

  void gather(size_t dim) {
    ArrayRef<StringAttr> axes = layout.dims[dim].getAxes();
    size_t kept = commonAxes(dim);
    if (kept == axes.size())
      return;
    layout.dims[dim] = layout.dims[dim].withAxes(axes.take_front(kept));
    value = AllGatherOp::create(builder, op.getLoc(), type(), value,
                                builder.getI64IntegerAttr(dim),
                                arrayOf(axes.drop_front(kept)));
  }

  void slice(size_t dim) {
    ArrayRef<StringAttr> axes = goal.dims[dim].getAxes();
    size_t there = layout.dims[dim].getAxes().size();
    if (there == axes.size())
      return;
    layout.dims[dim] = goal.dims[dim];
    value = AllSliceOp::create(builder, op.getLoc(), type(), value,
                               builder.getI64IntegerAttr(dim),
                               arrayOf(axes.drop_front(there)));
  }

  RankedTensorType type() {
    return withLayout(TensorView(op.getResult()).getType(), layout);
  }

  ArrayAttr arrayOf(ArrayRef<StringAttr> axes) {
    return builder.getArrayAttr(
        SmallVector<Attribute>(axes.begin(), axes.end()));
  }

  ReshardOp op;
  OpBuilder &builder;
  Value value;
  Layout layout, goal;
};

struct InsertCollectivesPass
    : autopar::impl::InsertCollectivesPassBase<InsertCollectivesPass> {
  using Base::Base;

  void runOnModule() override {
    SmallVector<ReshardOp> reshards;
    getOperation().walk([&](ReshardOp op) { reshards.push_back(op); });
    OpBuilder builder(&getContext());
    for (ReshardOp op : reshards) {
      builder.setInsertionPoint(op);
      if (failed(ReshardSteps(op, builder).run()))
        return signalPassFailure();
    }
    simplify();
  }

  /// Reductions that are sliced at once become scatters.
  void simplify() {
    RewritePatternSet patterns(&getContext());
    AllSliceOp::getCanonicalizationPatterns(patterns, &getContext());
    SmallVector<Operation *> slices;
    getOperation().walk([&](AllSliceOp op) { slices.push_back(op); });
    (void)applyOpPatternsGreedily(slices, std::move(patterns));
  }
};

} // namespace
