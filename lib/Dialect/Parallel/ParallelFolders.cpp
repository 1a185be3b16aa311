//===- ParallelFolders.cpp - Keeping collectives minimal ------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Parallel/Parallel.h"

#include "mlir/IR/PatternMatch.h"

using namespace autopar;
using namespace autopar::parallel;
using namespace mlir;

/// Folds `op` if its operand comes from an `Inverse` op with the same axes,
/// which it undoes.
template <typename Inverse, typename Op>
static OpFoldResult foldInverse(Op op) {
  auto inverse = op.getInput().template getDefiningOp<Inverse>();
  if (inverse && inverse.getAxes() == op.getAxes() &&
      inverse.getInput().getType() == op.getType())
    return inverse.getInput();
  return {};
}

/// Folds a collective over no axes to its operand.
template <typename Op>
static OpFoldResult foldEmpty(Op op) {
  return op.getAxes().empty() && op.getInput().getType() == op.getType()
             ? OpFoldResult(op.getInput())
             : OpFoldResult();
}

OpFoldResult ReshardOp::fold(FoldAdaptor) {
  if (getInput().getType() == getType())
    return getInput();
  return {};
}

OpFoldResult AllReduceOp::fold(FoldAdaptor) { return foldEmpty(*this); }
OpFoldResult ReduceScatterOp::fold(FoldAdaptor) { return foldEmpty(*this); }

OpFoldResult RingOp::fold(FoldAdaptor) { return foldEmpty(*this); }
OpFoldResult RingReduceOp::fold(FoldAdaptor) { return foldEmpty(*this); }
OpFoldResult PermuteOp::fold(FoldAdaptor) {
  auto back = getInput().getDefiningOp<PermuteOp>();
  if (getInput().getType() == getType())
    return getInput();
  return back && back.getInput().getType() == getType()
             ? OpFoldResult(back.getInput())
             : OpFoldResult();
}

OpFoldResult AllGatherOp::fold(FoldAdaptor) {
  if (OpFoldResult folded = foldEmpty(*this))
    return folded;
  auto slice = getInput().getDefiningOp<AllSliceOp>();
  return slice && slice.getDim() == getDim() ? foldInverse<AllSliceOp>(*this)
                                             : OpFoldResult();
}

OpFoldResult AllSliceOp::fold(FoldAdaptor) {
  if (OpFoldResult folded = foldEmpty(*this))
    return folded;
  auto gather = getInput().getDefiningOp<AllGatherOp>();
  return gather && gather.getDim() == getDim() ? foldInverse<AllGatherOp>(*this)
                                               : OpFoldResult();
}

OpFoldResult AllToAllOp::fold(FoldAdaptor) {
  if (OpFoldResult folded = foldEmpty(*this))
    return folded;
  auto back = getInput().getDefiningOp<AllToAllOp>();
  return back && back.getFrom() == getTo() && back.getTo() == getFrom()
             ? foldInverse<AllToAllOp>(*this)
             : OpFoldResult();
}

namespace {

/// Replaces all_reduce followed by all_slice over the same axes by
/// reduce_scatter.
struct ScatterReduced : OpRewritePattern<AllSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AllSliceOp slice,
                                PatternRewriter &rewriter) const override {
    auto reduce = slice.getInput().getDefiningOp<AllReduceOp>();
    if (!reduce || reduce.getAxes() != slice.getAxes() || !reduce->hasOneUse())
      return failure();
    rewriter.replaceOpWithNewOp<ReduceScatterOp>(
        slice, slice.getType(), reduce.getInput(), slice.getDimAttr(),
        slice.getAxes());
    return success();
  }
};

} // namespace

void AllSliceOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                             MLIRContext *context) {
  patterns.add<ScatterReduced>(context);
}
