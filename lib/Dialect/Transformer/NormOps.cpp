//===- NormOps.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/Factors.h"
#include "autopar/Interfaces/WorkloadBuilder.h"

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

/// Returns factors of a norm over the last `over` dimensions: a device must
/// have all their elements of a token. If tensor parallelism splits one of them
/// around the norm, it gathers it, except the last, which it never splits.
template <typename Op>
static ShardingFactors normFactors(Op op) {
  ShardingFactors factors;
  int64_t rank = rankOf(op.getX()), over = op.getOver();
  if (over < 1 || over > rank)
    return factors;
  for (Value parameter : op->getOperands().drop_front())
    if (rankOf(parameter) < over || rankOf(parameter) > rank)
      return factors;
  FactorList all = addFactors(factors, FactorKind::parallel, rank - over);
  all.append(addFactors(factors, FactorKind::gathered, over - 1));
  all.push_back(factors.add(FactorKind::whole));
  for (Value operand : op->getOperands())
    factors.operands.emplace_back(ArrayRef(all).take_back(rankOf(operand)));
  factors.results = {all};
  return factors;
}

/// Returns factors of a norm whose sums of squares are given as an operand:
/// nothing is left to be summed, so that all dimensions may be split.
static ShardingFactors scaleFactors(RMSNormOp op) {
  ShardingFactors factors;
  int64_t rank = rankOf(op.getX()), over = op.getOver();
  if (over < 1 || over > rank || rankOf(op.getSums()) != rank - over + 1)
    return factors;
  FactorList all = addFactors(factors, FactorKind::parallel, rank);
  FactorList sums(ArrayRef(all).drop_back(over));
  sums.push_back(factors.add(FactorKind::whole));
  for (Value operand : op->getOperands()) {
    if (rankOf(operand) > rank)
      return ShardingFactors();
    factors.operands.push_back(
        operand == op.getSums()
            ? sums
            : FactorList(ArrayRef(all).take_back(rankOf(operand))));
  }
  factors.results = {all};
  return factors;
}

ShardingFactors SquareSumOp::getShardingFactors() {
  ShardingFactors factors;
  int64_t rank = rankOf(getX()), over = getOver();
  if (over < 1 || over > rank || rankOf(getResult()) != rank - over + 1)
    return factors;
  FactorList kept = addFactors(factors, FactorKind::parallel, rank - over);
  factors.operands = {
      concat(kept, addFactors(factors, FactorKind::reduction, over))};
  factors.results = {concat(kept, {factors.add(FactorKind::whole)})};
  factors.linear = {{}};
  factors.sharesReplicas = true;
  return factors;
}

Operation *RMSNormOp::detachSums(OpBuilder &builder) {
  if (getSums())
    return nullptr;
  TensorView x(getX());
  SmallVector<int64_t> shape(x.getType().getShape().drop_back(getOver()));
  SmallVector<NamedExtent> names;
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    names.push_back(x.dim(dim).extent);
  shape.push_back(static_cast<int64_t>(getGroups().value_or(1)));
  names.push_back(NamedExtent());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(*this);
  auto sums = SquareSumOp::create(
      builder, getLoc(), getTensorType(shape, names, builder.getF32Type()),
      getX(), getOverAttr(), getGroupsAttr());
  getSumsMutable().assign(sums.getResult());
  return sums;
}

static LogicalResult verifyGroups(Operation *op, Value operand, int64_t over,
                                  std::optional<int64_t> groups) {
  if (!groups)
    return success();
  TensorView x(operand);
  int64_t first = static_cast<int64_t>(x.rank()) - over;
  if (first >= 0 && !x.isSymbolic(first) && *groups > 0 &&
      x.getType().getDimSize(first) % *groups == 0)
    return success();
  return op->emitOpError() << "has " << *groups << " groups of "
                           << (first < 0 ? "no" : x.extentText(first))
                           << " elements";
}

/// Verifies that `sums` has one f32 number for each group.
static LogicalResult verifySums(Operation *op, Value sums, int64_t groups) {
  TensorView view(sums);
  NamedExtent found = view.extent(view.rank() - 1);
  if (!view.getType().getElementType().isF32())
    return op->emitOpError("has sums that are not in f32");
  if (found == NamedExtent::number(groups))
    return success();
  return op->emitOpError() << "has sums of " << found.str()
                           << " groups, expected " << groups;
}

template <typename Op>
static LogicalResult verifyNorm(Op op) {
  if (op.getEps().isNegative() || !op.getEps().isFinite())
    return op.emitOpError("has an eps that is not a positive number");
  if (op.getWeight() && op.getBias() &&
      op.getBias().getType() != op.getWeight().getType())
    return op.emitOpError("has a bias of another type than its weight");
  return success();
}

LogicalResult RMSNormOp::verify() {
  if (getUnitOffset() && !getWeight())
    return emitOpError("has a unit_offset and no weight to add it to");
  if (failed(verifyGroups(*this, getX(), getOver(), getGroups())) ||
      (getSums() &&
       failed(verifySums(*this, getSums(), getGroups().value_or(1)))))
    return failure();
  return verifyNorm(*this);
}

LogicalResult SquareSumOp::verify() {
  return failure(
      failed(verifyGroups(*this, getX(), getOver(), getGroups())) ||
      failed(verifySums(*this, getResult(), getGroups().value_or(1))));
}

LogicalResult LayerNormOp::verify() { return verifyNorm(*this); }

LogicalResult BatchNormOp::verify() {
  if (getEps().isNegative() || !getEps().isFinite())
    return emitOpError("has an eps that is not a positive number");
  return success();
}

ShardingFactors RMSNormOp::getShardingFactors() {
  return getSums() ? scaleFactors(*this) : normFactors(*this);
}

ShardingFactors LayerNormOp::getShardingFactors() { return normFactors(*this); }

ShardingFactors SoftmaxOp::getShardingFactors() {
  if (rankOf(getX()) < 1)
    return {};
  ShardingFactors factors = elementwiseFactors(*this);
  factors.kinds.back() = FactorKind::whole;
  return factors;
}

void RMSNormOp::buildWorkload(WorkloadBuilder &builder) {
  builder.addElementwise(*this);
}

void SquareSumOp::buildWorkload(WorkloadBuilder &builder) {
  builder.addElementwise(*this);
}

void LayerNormOp::buildWorkload(WorkloadBuilder &builder) {
  builder.addElementwise(*this);
}

void SoftmaxOp::buildWorkload(WorkloadBuilder &builder) {
  builder.addElementwise(*this);
}

void BatchNormOp::buildWorkload(WorkloadBuilder &builder) {
  builder.addElementwise(*this);
}
