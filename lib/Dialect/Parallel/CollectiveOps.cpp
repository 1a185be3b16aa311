//===- CollectiveOps.cpp - One equation each ------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Parallel/Parallel.h"

#include "autopar/Interfaces/Interfaces.h"
#include "autopar/Interfaces/WorkloadBuilder.h"
#include "autopar/Support/Limits.h"

using namespace autopar;
using namespace autopar::program;
using namespace autopar::parallel;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Layout equations: each step changes a layout, or emits why it cannot
//===----------------------------------------------------------------------===//

/// Returns the part of `old` from the first to the last axis that has another
/// position in `now`, which has the same axes.
static ArrayRef<StringAttr> changed(ArrayRef<StringAttr> old,
                                    ArrayRef<StringAttr> now) {
  while (!old.empty() && old.back() == now.back()) {
    old = old.drop_back();
    now = now.drop_back();
  }
  while (!old.empty() && old.front() == now.front()) {
    old = old.drop_front();
    now = now.drop_front();
  }
  return old;
}

/// Verifies that the op only moves data, without a change of the tensor.
static LogicalResult verifySameTensor(Operation *op) {
  Type operand = op->getOperand(0).getType();
  Type result = op->getResult(0).getType();
  RankedTensorType from = tensorOf(operand), to = tensorOf(result);
  if (withTensor(operand, to) != result)
    return op->emitOpError("makes a value of a handle, or a handle of a value");
  if (from.getShape() == to.getShape() &&
      from.getElementType() == to.getElementType())
    return success();
  return op->emitOpError("changes the shape or the format of its operand");
}

namespace {

/// Computes the layout of a collective's result from that of its operand, step
/// by step, and compares it with the result's type.
class LayoutEquation {
public:
  LayoutEquation(Operation *op, ArrayAttr axes)
      : op(op), layout(Layout::of(TensorView(op->getOperand(0)).getType())) {
    for (Attribute axis : axes)
      this->axes.push_back(cast<StringAttr>(axis));
  }

  /// Removes the collective's axes from the partial axes of the layout.
  LogicalResult consumePartial() {
    for (StringAttr axis : axes) {
      auto it = llvm::find(layout.partial, axis);
      if (it == layout.partial.end())
        return op->emitOpError() << "sums over axis '" << axis.getValue()
                                 << "', over which its operand is not partial";
      layout.partial.erase(it);
    }
    return success();
  }

  /// Removes the collective's axes from the end of the split of `dim`, or from
  /// anywhere in that of a set of routed tokens.
  LogicalResult removeSuffix(int64_t dim) {
    if (failed(verifyDim(dim)))
      return failure();
    DimAttr &old = dimOf(dim);
    bool grouping = dim == expertsDim;
    SmallVector<StringAttr> kept(grouping ? old.getGrouped() : old.getAxes());
    if (old.isSet()) {
      for (StringAttr axis : axes)
        if (llvm::is_contained(kept, axis))
          llvm::erase(kept, axis);
        else
          return notASuffix(dim, old);
    } else {
      if (!ends(kept))
        return notASuffix(dim, old);
      kept.truncate(kept.size() - axes.size());
      if (failed(verifyPadding(dim, kept, old.getAxes())))
        return failure();
    }
    old = grouping ? old.withGrouped(kept) : old.withAxes(kept);
    return success();
  }

  /// Appends the collective's axes to the split of `dim`. The split rule stays
  /// or, if there was none, is that of the result; the same holds for a set of
  /// routed tokens.
  LogicalResult append(int64_t dim) {
    if (failed(verifyDim(dim)))
      return failure();
    for (StringAttr axis : axes)
      if (layout.uses(axis))
        return op->emitOpError() << "splits over axis '" << axis.getValue()
                                 << "', which its operand already uses";
    DimAttr &old = dimOf(dim);
    bool grouping = dim == expertsDim;
    SmallVector<StringAttr> all(grouping ? old.getGrouped() : old.getAxes());
    all.append(axes);
    Layout result = resultLayout();
    DimAttr ruled = old;
    if (!grouping && failed(verifyPadding(dim, old.getAxes(), all)))
      return failure();
    if (all.size() == axes.size()) {
      if (old.isSet() && !result.findSet())
        return op->emitOpError("has a result without the set of its operand");
      ruled = old.isSet() ? *result.findSet() : result.dims[dim];
    }
    if (grouping)
      old = old.withExperts(all, ruled.getExperts());
    else if (old.isSet())
      old = old.withTokens(all, ruled.getTokens());
    else
      old = old.withAxes(all).withRule(ruled.getRule(), ruled.getMultiple());
    return success();
  }

  /// Sets the split rule of `dim`, which must be split over exactly the
  /// collective's axes, to `ring`.
  LogicalResult turnRing(int64_t dim) {
    if (dim == expertsDim || failed(verifyDim(dim)))
      return failure();
    DimAttr &old = layout.dims[dim];
    if (old.getAxes() != ArrayRef(axes))
      return op->emitOpError() << "works over " << axesText(axes)
                               << ", which are not all axes of dimension "
                               << dim << ", " << axesText(old.getAxes());
    if (old.getRule() == SplitRule::ring)
      return op->emitOpError() << "passes dimension " << dim
                               << " round a ring, but it already goes round";
    old = old.withRule(SplitRule::ring);
    return success();
  }

  /// Sets the split rule of `dim`, which must be passed around a ring over
  /// exactly the collective's axes, to that of the result.
  LogicalResult endRing(int64_t dim) {
    if (dim == expertsDim || failed(verifyDim(dim)))
      return failure();
    DimAttr &old = layout.dims[dim], wanted = resultLayout().dims[dim];
    if (old.getRule() != SplitRule::ring || old.getAxes() != ArrayRef(axes))
      return op->emitOpError() << "sums what goes round over " << axesText(axes)
                               << ", but dimension " << dim << " does not";
    if (wanted.getRule() == SplitRule::ring)
      return op->emitOpError() << "has a result that still goes round";
    old = old.withRule(wanted.getRule(), wanted.getMultiple());
    return success();
  }

  /// Sorts the axes of each dimension in the order of the result's type.
  LogicalResult reorder() {
    Layout result = resultLayout();
    SmallVector<StringAttr> moved;
    for (auto [now, then] : llvm::zip_equal(layout.dims, result.dims)) {
      ArrayRef<StringAttr> old = now.getAxes();
      if (!llvm::equal(sortedAxes(old), sortedAxes(then.getAxes())))
        continue;
      now = now.withAxes(then.getAxes());
      if (!now.isSet())
        llvm::append_range(moved, changed(old, then.getAxes()));
    }
    if (!llvm::equal(sortedAxes(moved), sortedAxes(axes)))
      return op->emitOpError() << "permutes over " << axesText(axes) << ", but "
                               << axesText(moved) << " change places";
    return success();
  }

  /// Verifies that the type of the result states the computed layout.
  LogicalResult verify() {
    if (failed(verifySameTensor(op)))
      return failure();
    Layout found = resultLayout();
    if (found.isSameAs(layout))
      return success();
    return op->emitOpError() << "has the result layout " << found.str()
                             << ", expected " << layout.str();
  }

private:
  Layout resultLayout() const {
    return Layout::of(TensorView(op->getResult(0)).getType());
  }

  LogicalResult verifyDim(int64_t dim) {
    if (dim == expertsDim) {
      if (layout.findSet())
        return success();
      return op->emitOpError("groups by experts a tensor without a set");
    }
    if (dim >= 0 && dim < static_cast<int64_t>(layout.dims.size()))
      return success();
    return op->emitOpError() << "names dimension " << dim
                             << " of a tensor of rank " << layout.dims.size();
  }

  /// Returns dimension `dim` or, for `expertsDim`, the set of routed tokens
  /// that is grouped by experts.
  DimAttr &dimOf(int64_t dim) {
    return dim == expertsDim ? *layout.findSet() : layout.dims[dim];
  }

  /// Verifies that each block of a padded dimension over the axes `more` lies
  /// inside one over the axes `few`: both must round its extent up to the same
  /// number.
  LogicalResult verifyPadding(int64_t dim, ArrayRef<StringAttr> few,
                              ArrayRef<StringAttr> more) {
    DimAttr old = dimOf(dim);
    if (few.empty() || old.isSet() || old.getRule() != SplitRule::pad)
      return success();
    DeviceMeshOpInterface mesh = findMesh(op);
    auto sizeOf = [&](ArrayRef<StringAttr> all) -> int64_t {
      int64_t size = 1;
      for (StringAttr axis : all)
        size *= mesh ? mesh.getAxisSize(axis.getValue()).value_or(0) : 0;
      return size;
    };
    int64_t extent = TensorView(op->getOperand(0)).getType().getDimSize(dim);
    int64_t least = sizeOf(few), most = sizeOf(more);
    int64_t padded = llvm::alignTo(extent, old.getMultiple());
    if (least != 0 && most != 0 &&
        llvm::alignTo(padded, least) == llvm::alignTo(padded, most))
      return success();
    return op->emitOpError()
           << "changes dimension " << dim << " between splits over "
           << axesText(few) << " and " << axesText(more)
           << ", which pad it otherwise: gather all of it first";
  }

  bool ends(ArrayRef<StringAttr> all) const {
    return all.size() >= axes.size() &&
           all.take_back(axes.size()) == ArrayRef(axes);
  }

  LogicalResult notASuffix(int64_t dim, DimAttr old) {
    InFlightDiagnostic diag = op->emitOpError()
                              << "works over " << axesText(axes)
                              << ", which do not end the axes ";
    if (dim == expertsDim)
      return diag << axesText(old.getGrouped()) << " that group the set";
    return diag << axesText(old.getAxes()) << " of dimension " << dim;
  }

  Operation *op;
  Layout layout;
  SmallVector<StringAttr> axes;
};

} // namespace

static bool haveSameRank(Operation *op) {
  return TensorView(op->getOperand(0)).rank() ==
         TensorView(op->getResult(0)).rank();
}

LogicalResult ReshardOp::verify() {
  if (failed(verifySameTensor(*this)))
    return failure();
  TensorView operand(getInput()), result(getResult());
  for (unsigned i = 0; i < operand.rank(); ++i)
    if (operand.extent(i) != result.extent(i))
      return emitOpError() << "renames dimension " << i;
  return success();
}

LogicalResult AllReduceOp::verify() {
  LayoutEquation equation(*this, getAxes());
  return failure(failed(equation.consumePartial()) ||
                 failed(equation.verify()));
}

LogicalResult AllGatherOp::verify() {
  LayoutEquation equation(*this, getAxes());
  return failure(failed(equation.removeSuffix(getDim())) ||
                 failed(equation.verify()));
}

LogicalResult ReduceScatterOp::verify() {
  if (!haveSameRank(*this))
    return emitOpError("changes the rank of its operand");
  LayoutEquation equation(*this, getAxes());
  return failure(failed(equation.consumePartial()) ||
                 failed(equation.append(getDim())) ||
                 failed(equation.verify()));
}

bool AllToAllOp::sendsToExperts() {
  return TensorView(getInput()).isSet() && getFrom() == 0 &&
         static_cast<int64_t>(getTo()) == expertsDim;
}

bool AllToAllOp::movesRoutedTokens() {
  bool isBack = static_cast<int64_t>(getFrom()) == expertsDim && getTo() == 0;
  return sendsToExperts() || (TensorView(getInput()).isSet() && isBack);
}

/// Returns the operand or the result of `op`, whichever is the set that is
/// grouped by experts.
static TensorView groupedSide(AllToAllOp op) {
  return TensorView(op.sendsToExperts() ? op.getResult() : op.getInput());
}

/// Returns the number of experts by which a set is grouped; 0 if the type does
/// not state it.
static int64_t countExperts(TensorView set) {
  NamedExtent experts = set.experts(0).extent;
  return experts.isNumber() ? experts.factor() : 0;
}

static LogicalResult verifyByNode(AllToAllOp op) {
  int64_t topK = *op.getTopK(), groups = op.getGroups().value_or(1),
          keep = op.getKeep().value_or(1);
  for (auto [name, value] : {std::pair("top_k", topK), {"groups", groups}})
    if (value < 1 || value > limits::maxNodeChoices)
      return op.emitOpError() << "has " << name << "(" << value
                              << "), expected 1 to " << limits::maxNodeChoices;
  if (keep < 1 || keep > groups)
    return op.emitOpError()
           << "keeps " << keep << " of " << groups << " groups";
  int64_t experts = countExperts(groupedSide(op));
  if (experts % groups != 0)
    return op.emitOpError()
           << "has " << groups << " groups, which do not divide the " << experts
           << " experts";
  if (topK > keep * (experts / groups))
    return op.emitOpError() << "chooses " << topK << " of "
                            << keep * (experts / groups) << " experts";
  NamedExtent rows = TensorView(op.getInput()).extent(0);
  if (rows.factor() % topK != 0)
    return op.emitOpError()
           << "has top_k(" << topK << "), which does not divide the rows "
           << rows.str();
  return success();
}

/// Verifies the requirements of the options `by_node` and `as`.
static LogicalResult verifyTravel(AllToAllOp op) {
  if (!op.isByNode() && !op.getFormat() && !op.getBlocks() && !op.getGroups() &&
      !op.getKeep())
    return success();
  if (!op.movesRoutedTokens())
    return op.emitOpError("sends by node, or in another format, what is no set "
                          "of routed tokens between dimension 0 and experts");
  if (op.getFormat() && !op.sendsToExperts())
    return op.emitOpError("sends rows back in another format: only those on "
                          "their way to experts have one");
  if (op.getFormat() &&
      (!isa<FloatType>(*op.getFormat()) || !toElementType(*op.getFormat())))
    return op.emitOpError() << "has no cost in format " << *op.getFormat();
  if (op.getBlocks() && (!op.getFormat() || *op.getBlocks() < 1))
    return op.emitOpError("has blocks, which a format needs to be of at least "
                          "one value");
  if (op.getGroups().has_value() != op.getKeep().has_value() ||
      (op.getGroups() && !op.isByNode()))
    return op.emitOpError("has groups or keep without the other, or without "
                          "by_node");
  return op.isByNode() ? verifyByNode(op) : success();
}

LogicalResult AllToAllOp::verify() {
  if (!haveSameRank(*this))
    return emitOpError("changes the rank of its operand");
  if (failed(verifyTravel(*this)))
    return failure();
  if (getFrom() == getTo())
    return emitOpError() << "moves a split from dimension " << getFrom()
                         << " to itself";
  LayoutEquation equation(*this, getAxes());
  return failure(failed(equation.removeSuffix(getFrom())) ||
                 failed(equation.append(getTo())) || failed(equation.verify()));
}

LogicalResult RingOp::verify() {
  if (!haveSameRank(*this))
    return emitOpError("changes the rank of its operand");
  LayoutEquation equation(*this, getAxes());
  return failure(failed(equation.turnRing(getDim())) ||
                 failed(equation.verify()));
}

LogicalResult RingReduceOp::verify() {
  if (!haveSameRank(*this))
    return emitOpError("changes the rank of its operand");
  LayoutEquation equation(*this, getAxes());
  return failure(failed(equation.endRing(getDim())) ||
                 failed(equation.verify()));
}

LogicalResult AllSliceOp::verify() {
  if (!haveSameRank(*this))
    return emitOpError("changes the rank of its operand");
  LayoutEquation equation(*this, getAxes());
  return failure(failed(equation.append(getDim())) ||
                 failed(equation.verify()));
}

LogicalResult PermuteOp::verify() {
  if (!haveSameRank(*this))
    return emitOpError("changes the rank of its operand");
  LayoutEquation equation(*this, getAxes());
  return failure(failed(equation.reorder()) || failed(equation.verify()));
}

//===----------------------------------------------------------------------===//
// Workloads of collectives
//===----------------------------------------------------------------------===//

#define AUTOPAR_COLLECTIVE(OP, KIND)                                           \
  void OP::buildWorkload(WorkloadBuilder &builder) {                           \
    if (builder.moves(getInput(), getResult(), getAxes().getValue()))          \
      builder.addCollective(*this, CollectiveKind::KIND, getInput(),           \
                            getAxes().getValue());                             \
  }
AUTOPAR_COLLECTIVE(AllReduceOp, all_reduce)
AUTOPAR_COLLECTIVE(ReduceScatterOp, reduce_scatter)
AUTOPAR_COLLECTIVE(PermuteOp, permute)
#undef AUTOPAR_COLLECTIVE

void RingOp::buildWorkload(WorkloadBuilder &builder) {
  if (builder.moves(getInput(), getResult(), getAxes().getValue()))
    builder.addRing(*this, getInput(), getResult(), getAxes().getValue());
}

void RingReduceOp::buildWorkload(WorkloadBuilder &builder) {
  if (builder.moves(getInput(), getResult(), getAxes().getValue()))
    builder.addCollective(*this, CollectiveKind::ring, getResult(),
                          getAxes().getValue());
}

void AllGatherOp::buildWorkload(WorkloadBuilder &builder) {
  if (builder.moves(getInput(), getResult(), getAxes().getValue()))
    builder.addGather(*this, getInput(), getResult(), getAxes().getValue());
}

/// Counts the bytes of what each rank receives: its part of the result, which
/// is larger than its operand if several ranks get copies of the same heads.
/// Routed tokens count on their own device: if one device has all tokens, all
/// of them do.
void AllToAllOp::buildWorkload(WorkloadBuilder &builder) {
  if (!builder.moves(getInput(), getResult(), getAxes().getValue()))
    return;
  bool leave = static_cast<int64_t>(getTo()) == expertsDim;
  builder.addCollective(*this, CollectiveKind::all_to_all,
                        leave ? getInput() : getResult(), getAxes().getValue());
  if (getFormat())
    builder.sendAs(*toElementType(*getFormat()), getBlocks().value_or(0));
  // Adds the kernels that sort tokens from all ranks by expert, and back
  // (Megatron-LM, MoEAlltoAllTokenDispatcher). Kernels that send a token once
  // per node sort by themselves.
  if (!isByNode()) {
    if (movesRoutedTokens() && builder.trains())
      builder.addPasses(*this, leave ? getResult() : getInput(), {1, 1});
    return;
  }
  TensorView set = groupedSide(*this);
  builder.sendByNode({static_cast<int64_t>(*getTopK()),
                      countExperts(set),
                      static_cast<int64_t>(getGroups().value_or(1)),
                      static_cast<int64_t>(getKeep().value_or(1)),
                      {},
                      /*inNode=*/builder.trains()},
                     set.experts(0).axes);
}

/// A slice costs nothing: it is a view of memory that the device has.
void AllSliceOp::buildWorkload(WorkloadBuilder &builder) {
  builder.moves(getInput(), getResult(), getAxes().getValue());
}

void ReshardOp::buildWorkload(WorkloadBuilder &builder) {
  builder.refuse(*this, "has no cost before autopar-insert-collectives has "
                        "chosen its collectives");
}
