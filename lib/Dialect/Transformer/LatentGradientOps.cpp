//===- LatentGradientOps.cpp - Latent attention in training ---------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/Training.h"

#include "Factors.h"
#include "Verifiers.h"
#include "autopar/Interfaces/WorkloadBuilder.h"

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

void ConcatSharedBackwardOp::getAsmResultNames(OpAsmSetValueNameFn setNameFn) {
  setNameFn(getDx(), "dx");
  setNameFn(getDShared(), "d_shared");
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

/// `all` has the elements of both in each head.
static LogicalResult verifyWidths(Operation *op, Value all, Value own,
                                  Value shared) {
  auto last = [](Value tensor) { return unsigned(rankOf(tensor) - 1); };
  for (Value tensor : {all, own, shared})
    if (failed(verifyNumbers(op, tensor, last(tensor))))
      return failure();
  int64_t found = sizeOf(all, last(all));
  int64_t expected = sizeOf(own, last(own)) + sizeOf(shared, last(shared));
  if (found == expected)
    return success();
  return op->emitOpError() << "has heads of " << found << " elements, expected "
                           << expected
                           << ": those of a head, and those that all share";
}

LogicalResult ConcatSharedOp::verify() {
  return verifyWidths(*this, getResult(), getX(), getShared());
}

LogicalResult ConcatSharedBackwardOp::verify() {
  return verifyWidths(*this, getDy(), getDx(), getDShared());
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

namespace {

/// The factors of heads with what they share. Heads come first: where both are
/// split over an axis, what they share is gathered, which is less.
struct SharedFactors {
  SharedFactors(Value own, FactorKind ofHeads)
      : heads(factors.add(ofHeads)),
        tokens(addFactors(factors, FactorKind::parallel, rankOf(own) - 2)) {}

  FactorList ofHeads() {
    return concat(tokens, {heads, factors.add(FactorKind::whole)});
  }
  FactorList ofShared() {
    return concat(tokens, {factors.add(FactorKind::whole)});
  }

  ShardingFactors factors;
  int32_t heads;
  FactorList tokens;
};

} // namespace

static bool haveHeads(Value all, Value own, Value shared) {
  int64_t rank = rankOf(own);
  return rank >= 2 && rankOf(all) == rank && rankOf(shared) == rank - 1;
}

ShardingFactors ConcatSharedOp::getShardingFactors() {
  if (!haveHeads(getResult(), getX(), getShared()))
    return {};
  SharedFactors all(getX(), FactorKind::parallel);
  FactorList own = all.ofHeads(), shared = all.ofShared();
  all.factors.operands = {own, shared};
  all.factors.results = {all.ofHeads()};
  return all.factors;
}

ShardingFactors ConcatSharedBackwardOp::getShardingFactors() {
  if (!haveHeads(getDy(), getDx(), getDShared()))
    return {};
  SharedFactors all(getDx(), FactorKind::reduction);
  FactorList own = all.ofHeads(), shared = all.ofShared();
  all.factors.operands = {all.ofHeads()};
  all.factors.results = {own, shared};
  all.factors.linear = {{}};
  all.factors.sharesReplicas = true;
  return all.factors;
}

//===----------------------------------------------------------------------===//
// Workloads
//===----------------------------------------------------------------------===//

void ConcatSharedOp::buildWorkload(WorkloadBuilder &builder) {
  builder.addElementwise(*this);
}

void ConcatSharedBackwardOp::buildWorkload(WorkloadBuilder &builder) {
  builder.addElementwise(*this);
}
