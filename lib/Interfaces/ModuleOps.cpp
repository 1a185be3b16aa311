//===- ModuleOps.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Interfaces/ModuleOps.h"

#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

FunctionOpInterface autopar::findFunctionAround(Operation *op) {
  for (Operation *at = op->getParentOp(); at; at = at->getParentOp()) {
    if (auto function = dyn_cast<FunctionOpInterface>(at))
      return function;
    if (at->hasTrait<OpTrait::SymbolTable>())
      return {};
  }
  return {};
}

/// Whether `op` is of the kind or contains such an op, symbol tables inside it
/// not counted.
static bool hasKind(Operation *op,
                    llvm::function_ref<bool(Operation *)> isKind) {
  return op
      ->walk<WalkOrder::PreOrder>([&](Operation *inner) {
        if (isKind(inner))
          return WalkResult::interrupt();
        return inner->hasTrait<OpTrait::SymbolTable>() ? WalkResult::skip()
                                                       : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether an op of the kind follows `op` in the regions of the op around it.
static bool isFollowed(Operation *op,
                       llvm::function_ref<bool(Operation *)> isKind) {
  auto isFound = [&](Operation &other) { return hasKind(&other, isKind); };
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode())
    if (isFound(*next))
      return true;
  Region *region = op->getParentRegion();
  for (Block *next = op->getBlock()->getNextNode(); next;
       next = next->getNextNode())
    if (llvm::any_of(*next, isFound))
      return true;
  for (Region &other : llvm::drop_begin(region->getParentOp()->getRegions(),
                                        region->getRegionNumber() + 1))
    for (Block &block : other)
      if (llvm::any_of(block, isFound))
        return true;
  return false;
}

bool autopar::isLastIn(Operation *scope, Operation *op,
                       llvm::function_ref<bool(Operation *)> isKind) {
  for (Operation *at = op; at != scope; at = at->getParentOp())
    if (isFollowed(at, isKind))
      return false;
  return true;
}

LogicalResult autopar::verifyAssumed(Operation *op, ArrayAttr assumed,
                                     ArrayRef<StringRef> known) {
  llvm::SmallSet<StringRef, 4> seen;
  for (StringRef word : assumed.getAsValueRange<StringAttr>()) {
    if (!llvm::is_contained(known, word))
      return op->emitOpError() << "assumes '" << word << "', expected some of "
                               << llvm::join(known, ", ");
    if (!seen.insert(word).second)
      return op->emitOpError() << "assumes '" << word << "' twice";
  }
  return success();
}
