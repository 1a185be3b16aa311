//===- BlockIndexerOp.cpp - Which blocks of tokens heads attend to --------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/Factors.h"
#include "autopar/Dialect/Transformer/Selected.h"
#include "autopar/Dialect/Transformer/Verifiers.h"

using namespace autopar;
using namespace autopar::program;
using namespace autopar::transformer;
using namespace mlir;

LogicalResult BlockIndexerOp::verify() {
  for (Value tensor : std::initializer_list<Value>{getQuery(), getKey(),
                                                   getCache(), getResult()})
    if (failed(verifyNumbers(*this, tensor, 2)))
      return failure();
  if (!isa<IntegerType>(TensorView(getResult()).getType().getElementType()))
    return emitOpError("selects blocks by numbers that are not integers");
  int64_t topK = getTopK(), local = getLocal();
  if (topK < 1 || sizeOf(getResult(), 3) != topK)
    return emitOpError() << "keeps " << topK << " blocks, but the result has "
                         << sizeOf(getResult(), 3);
  if (local < 0 || local > topK)
    return emitOpError() << "keeps " << local << " local blocks, expected 0 to "
                         << topK;
  return verifyLimit(*this, "block", getBlock());
}

/// The groups for which blocks are selected are split like the key-value heads
/// of the attention that uses them.
ShardingFactors BlockIndexerOp::getShardingFactors() {
  ShardingFactors factors;
  if (!haveRanks(
          {{getQuery(), 4}, {getKey(), 3}, {getCache(), 3}, {getResult(), 4}}))
    return factors;
  int32_t batch = factors.add(FactorKind::parallel);
  int32_t query = factors.add(FactorKind::parallel);
  int32_t groups = factors.add(FactorKind::parallel);
  auto whole = [&] { return factors.add(FactorKind::whole); };
  int32_t width = whole();
  factors.operands = {{batch, query, groups, width},
                      {batch, whole(), width},
                      {batch, whole(), width}};
  factors.results = {{batch, query, groups, whole()}};
  return factors;
}

Kernel &transformer::addIndexKernel(WorkloadBuilder &builder, Operation *op,
                                    Value query, Value weight, Value rows,
                                    Value result) {
  Kernel &kernel =
      builder.addProduct(op, KernelKind::index, FlopClass::attention, query);
  kernel.rows = builder.dims(query, 0, 1);
  kernel.columns = builder.dims(query, 2, 3);
  // The elements that a token has of a key: keys of several tokens have as many
  // times more, and are as many times fewer.
  kernel.contraction = builder.dims(rows, 2, 3);
  Pairs pairs;
  pairs.query = builder.dims(query, 1, 2).front();
  pairs.context = builder.dims(rows, 1, 2).front();
  kernel.pairs = pairs;
  builder.read(kernel, query);
  if (weight)
    builder.read(kernel, weight);
  builder.read(kernel, rows);
  builder.write(kernel, result);
  return kernel;
}

void BlockIndexerOp::buildWorkload(WorkloadBuilder &builder) {
  Kernel &kernel = addIndexKernel(builder, *this, getQuery(), /*weight=*/{},
                                  getCache(), getResult());
  builder.write(kernel, getKey());
}
