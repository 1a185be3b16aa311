//===- NormOps.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Factors.h"
#include "autopar/Interfaces/WorkloadBuilder.h"

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

/// The mean is over the last `over` dimensions: all of each token's must be
/// there. Only the last is never split by what is around a norm.
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
  if (std::optional<int64_t> groups = getGroups()) {
    TensorView x(getX());
    int64_t first = static_cast<int64_t>(x.rank()) - getOver();
    if (first < 0 || x.isSymbolic(first) || *groups < 1 ||
        x.getType().getDimSize(first) % *groups)
      return emitOpError() << "has " << *groups << " groups of "
                           << (first < 0 ? "no" : x.extentText(first))
                           << " elements";
  }
  return verifyNorm(*this);
}

LogicalResult LayerNormOp::verify() { return verifyNorm(*this); }

ShardingFactors RMSNormOp::getShardingFactors() { return normFactors(*this); }

ShardingFactors LayerNormOp::getShardingFactors() { return normFactors(*this); }

void RMSNormOp::buildWorkload(WorkloadBuilder &builder) {
  builder.addElementwise(*this);
}

void LayerNormOp::buildWorkload(WorkloadBuilder &builder) {
  builder.addElementwise(*this);
}
