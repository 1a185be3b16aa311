//===- TokenGradientOps.cpp - Backwards of what moves tokens --------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Training/Training.h"

#include "autopar/Dialect/Transformer/Factors.h"
#include "autopar/Dialect/Transformer/Verifiers.h"
#include "autopar/Interfaces/WorkloadBuilder.h"

using namespace autopar;
using namespace autopar::program;
using namespace autopar::training;
using namespace autopar::transformer;
using namespace mlir;

//===----------------------------------------------------------------------===//
// The op InsertBackwardOp
//===----------------------------------------------------------------------===//

void InsertBackwardOp::getAsmResultNames(OpAsmSetValueNameFn setNameFn) {
  setNameFn(getDx(), "dx");
  setNameFn(getDInserted(), "d_inserted");
}

ShardingFactors InsertBackwardOp::getShardingFactors() {
  ShardingFactors factors;
  if (rankOf(getDz()) != 3 || rankOf(getDInserted()) != 3)
    return factors;
  int32_t batch = factors.add(FactorKind::parallel);
  int32_t hidden = factors.add(FactorKind::parallel);
  int32_t tokens = factors.add(FactorKind::reduction);
  int32_t inserted = factors.add(FactorKind::whole);
  factors.operands = {{batch, tokens, hidden}};
  factors.results = {{batch, tokens, hidden}, {batch, inserted, hidden}};
  factors.linear = {{}};
  return factors;
}

/// Gradients of tokens that the forward kept are not moved; those of tokens
/// that it replaced are set to 0.
void InsertBackwardOp::buildWorkload(WorkloadBuilder &builder) {
  Dims moved = builder.dims(getDInserted());
  Kernel &kernel = builder.addKernel(*this, KernelKind::gather);
  builder.move(kernel, moved, builder.formatOf(getDz()), /*write=*/false);
  builder.move(kernel, moved, builder.formatOf(getDx()), /*write=*/true);
  builder.write(kernel, getDInserted());
}

//===----------------------------------------------------------------------===//
// The op MergeTokensBackwardOp
//===----------------------------------------------------------------------===//

LogicalResult MergeTokensBackwardOp::verify() {
  return verifyMerge(*this, getResult(), getDy(), getMean());
}

ShardingFactors MergeTokensBackwardOp::getShardingFactors() {
  return mergeFactors(getResult(), getDy(), getMean(), /*isBackward=*/true);
}

void MergeTokensBackwardOp::buildWorkload(WorkloadBuilder &builder) {
  builder.addElementwise(*this);
}
