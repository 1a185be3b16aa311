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
