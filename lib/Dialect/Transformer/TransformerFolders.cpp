//===- TransformerFolders.cpp - What computes nothing ---------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/Transformer.h"

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

/// Returns the operand `x` of an op if it has the type of the result; else
/// nothing.
template <typename Op>
static OpFoldResult sameOf(Op op) {
  return op.getX().getType() == op.getType() ? OpFoldResult(op.getX())
                                             : OpFoldResult();
}

/// Whether every number of the type `narrow` is also one of `wide`.
static bool holds(Type wide, Type narrow) {
  auto outer = dyn_cast<FloatType>(wide), inner = dyn_cast<FloatType>(narrow);
  return outer && inner &&
         APFloat::isRepresentableBy(inner.getFloatSemantics(),
                                    outer.getFloatSemantics());
}

/// Folds a cast to the same type, and a cast back from a format that holds all
/// numbers of the first one.
OpFoldResult CastOp::fold(FoldAdaptor) {
  if (OpFoldResult same = sameOf(*this))
    return same;
  auto first = getX().getDefiningOp<CastOp>();
  if (first && first.getX().getType() == getType() &&
      holds(getElementTypeOrSelf(first.getType()),
            getElementTypeOrSelf(getType())))
    return first.getX();
  return {};
}

OpFoldResult ScaleOp::fold(FoldAdaptor) {
  return getFactor().isExactlyValue(1) ? OpFoldResult(getX()) : OpFoldResult();
}

OpFoldResult ActivationOp::fold(FoldAdaptor) {
  return getFunction() == FunctionKind::identity ? OpFoldResult(getX())
                                                 : OpFoldResult();
}

/// Merging groups of one neighbour yields the token itself.
OpFoldResult MergeTokensOp::fold(FoldAdaptor) { return sameOf(*this); }
