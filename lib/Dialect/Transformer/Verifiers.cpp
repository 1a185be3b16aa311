//===- Verifiers.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Transformer/Verifiers.h"

using namespace autopar;
using namespace autopar::transformer;
using namespace mlir;

LogicalResult transformer::verifyLimit(Operation *op, StringRef what,
                                       std::optional<uint64_t> tokens) {
  if (!tokens || static_cast<int64_t>(*tokens) >= 1)
    return success();
  return op->emitOpError() << "has a " << what << " of "
                           << static_cast<int64_t>(*tokens)
                           << " tokens, expected at least 1";
}

LogicalResult transformer::verifyPositive(Operation *op, StringRef what,
                                          const APFloat &value) {
  if (value.isFinite() && value.convertToDouble() > 0)
    return success();
  return op->emitOpError() << "has a " << what
                           << " that is not a positive number";
}

LogicalResult transformer::verifyNumbers(Operation *op, Value tensor,
                                         unsigned first) {
  TensorView view(tensor);
  for (unsigned dim = first; dim < view.rank(); ++dim)
    if (view.isSymbolic(dim))
      return op->emitOpError()
             << "has " << view.extentText(dim) << " for dimension " << dim
             << ", expected a number";
  return success();
}

KVCacheOp transformer::cacheOf(Value handle) {
  while (handle) {
    Operation *op = handle.getDefiningOp();
    if (!op || isa<KVCacheOp>(op) || op->getNumOperands() != 1)
      return dyn_cast_if_present<KVCacheOp>(op);
    handle = op->getOperand(0);
  }
  return {};
}

LogicalResult transformer::verifyKeepsSeen(Operation *op, Value handle,
                                           std::optional<uint64_t> seen) {
  KVCacheOp cache = cacheOf(handle);
  if (!cache || !cache.getWindow() || (seen && *seen <= *cache.getWindow()))
    return success();
  InFlightDiagnostic diag = op->emitOpError() << "sees ";
  if (seen)
    diag << *seen << " tokens";
  else
    diag << "all tokens";
  return diag << ", but the cache keeps the last " << *cache.getWindow();
}

int64_t transformer::sizeOf(Value tensor, unsigned dim) {
  return TensorView(tensor).getType().getDimSize(dim);
}
