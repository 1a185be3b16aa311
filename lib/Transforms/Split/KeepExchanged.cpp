//===- KeepExchanged.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeepExchanged.h"

#include "autopar/Dialect/Parallel/Parallel.h"
#include "autopar/Dialect/Training/Training.h"

using namespace autopar;
using namespace autopar::transforms;
using namespace autopar::parallel;
using namespace autopar::training;
using namespace autopar::transformer;
using namespace mlir;

/// Returns the exchange of the value that `save` keeps and that equals the
/// exchange `again`; null if there is none.
static AllToAllOp findFirst(SaveOp save, AllToAllOp again) {
  for (Operation *user : save.getValue().getUsers())
    if (auto first = dyn_cast<AllToAllOp>(user))
      if (first->getAttrDictionary() == again->getAttrDictionary() &&
          first.getResult().getType() == again.getResult().getType())
        return first;
  return {};
}

void autopar::transforms::keepExchanged(ModuleOp module) {
  SmallVector<AllToAllOp> all;
  module.walk([&](AllToAllOp op) {
    if (op.getInput().getDefiningOp<SavedOp>() && op.getInput().hasOneUse())
      all.push_back(op);
  });
  for (AllToAllOp again : all) {
    auto saved = again.getInput().getDefiningOp<SavedOp>();
    SaveOp save = findSave(saved);
    AllToAllOp first = save ? findFirst(save, again) : AllToAllOp();
    if (!first)
      continue;
    save->moveAfter(first);
    save.getValueMutable().assign(first.getResult());
    saved.getResult().setType(first.getResult().getType());
    again.replaceAllUsesWith(saved.getResult());
    again.erase();
  }
}
