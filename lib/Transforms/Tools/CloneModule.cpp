//===- CloneModule.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Passes.h"

#include "llvm/ADT/StringSet.h"

namespace autopar::transforms {
#define GEN_PASS_DEF_CLONEMODULEPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar::transforms

using namespace autopar;
using namespace autopar::transforms;
using namespace autopar::parallel;
using namespace mlir;

namespace {

struct CloneModulePass
    : autopar::transforms::impl::CloneModulePassBase<CloneModulePass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyNames(module)))
      return signalPassFailure();
    SmallVector<ModuleOp> copies;
    for (const std::string &name : names) {
      copies.push_back(module.clone());
      copies.back().setName(name);
    }
    Block *body = module.getBody();
    while (!body->empty())
      body->back().erase();
    for (ModuleOp copy : copies)
      body->push_back(copy);
    OpBuilder builder = OpBuilder::atBlockEnd(body);
    for (size_t i = 1; link && i < copies.size(); ++i)
      LinkOp::create(builder, module.getLoc(), names[i - 1], names[i]);
  }

  LogicalResult verifyNames(ModuleOp module) {
    if (names.empty())
      return module.emitError("autopar-clone-module has no names, expected "
                              "names=prefill,decode");
    llvm::StringSet<> seen;
    for (const std::string &name : names)
      if (name.empty() || !seen.insert(name).second)
        return module.emitError()
               << "names of autopar-clone-module must be distinct and not "
                  "empty, found '"
               << name << "'";
    return success();
  }
};

} // namespace
