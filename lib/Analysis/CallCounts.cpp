//===- CallCounts.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CallCounts.h"

#include "autopar/Support/Limits.h"

#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace autopar;
using namespace autopar::analysis;
using namespace mlir;

std::optional<int64_t> autopar::analysis::tripCountAround(Operation *op) {
  int64_t product = 1;
  for (auto loop = op->getParentOfType<LoopLikeOpInterface>(); loop;
       loop = loop->getParentOfType<LoopLikeOpInterface>()) {
    std::optional<APInt> count = loop.getStaticTripCount();
    if (!count || llvm::MulOverflow(product, count->getSExtValue(), product))
      return std::nullopt;
  }
  return product;
}

LogicalResult CallCounts::count(FunctionOpInterface entry) {
  if (failed(visit(entry)))
    return failure();
  counts[entry] = 1;
  for (FunctionOpInterface function : llvm::reverse(postOrder))
    if (failed(propagate(function)))
      return failure();
  return success();
}

LogicalResult CallCounts::visit(FunctionOpInterface function) {
  if (!visited.insert(function).second)
    return success();
  active.insert(function);
  WalkResult result = function.walk([&](CallOpInterface call) {
    auto callee = dyn_cast_or_null<FunctionOpInterface>(
        call.resolveCallableInTable(&symbols));
    if (!callee || callee.isDeclaration()) {
      call.emitOpError("calls a function that has no body here");
      return WalkResult::interrupt();
    }
    if (active.size() > limits::maxCallDepth) {
      call.emitOpError() << "is in a chain of more than "
                         << limits::maxCallDepth << " calls";
      return WalkResult::interrupt();
    }
    if (active.contains(callee)) {
      call.emitOpError("is recursive: its cost has no end");
      return WalkResult::interrupt();
    }
    return WalkResult(visit(callee));
  });
  active.erase(function);
  postOrder.push_back(function);
  return failure(result.wasInterrupted());
}

/// Adds the calls in `function`, whose own count is final, to the counts of the
/// called functions.
LogicalResult CallCounts::propagate(FunctionOpInterface function) {
  int64_t own = counts[function];
  WalkResult result = function.walk([&](CallOpInterface call) {
    std::optional<int64_t> trips = tripCountAround(call);
    int64_t calls, &total = counts[callee(call)];
    if (trips && !llvm::MulOverflow(own, *trips, calls) &&
        !llvm::AddOverflow(total, calls, total))
      return WalkResult::advance();
    call.emitOpError("runs more often than 63 bits count");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}
