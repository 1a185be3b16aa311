//===- Factors.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/Factors.h"

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

int64_t transformer::rankOf(Value value) {
  return tensorOf(value.getType()).getRank();
}

bool transformer::haveRanks(ArrayRef<std::pair<Value, int64_t>> tensors) {
  return llvm::all_of(tensors, [](auto tensor) {
    return !tensor.first || rankOf(tensor.first) == tensor.second;
  });
}

FactorList transformer::addFactors(ShardingFactors &factors, FactorKind kind,
                                   int64_t count) {
  FactorList list;
  for (int64_t i = 0; i < count; ++i)
    list.push_back(factors.add(kind));
  return list;
}

FactorList transformer::concat(const FactorList &a, const FactorList &b) {
  FactorList list(a);
  list.append(b);
  return list;
}

ShardingFactors transformer::elementwiseFactors(Operation *op) {
  ShardingFactors factors;
  FactorList all =
      addFactors(factors, FactorKind::parallel, rankOf(op->getResult(0)));
  factors.operands.assign(op->getNumOperands(), all);
  factors.results.assign(1, all);
  return factors;
}

int32_t transformer::addKeyTokens(ShardingFactors &factors, int32_t query,
                                  Value queries, Value cache) {
  ArrayRef<StringAttr> tokens = TensorView(queries).dim(1).axes;
  bool isAlike =
      !tokens.empty() && haveSameAxes(tokens, TensorView(cache).dim(1).axes);
  return isAlike ? query : factors.add(FactorKind::whole);
}
