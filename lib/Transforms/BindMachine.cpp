//===- BindMachine.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Passes.h"

namespace autopar {
#define GEN_PASS_DEF_BINDMACHINEPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar

using namespace autopar;
using namespace autopar::parallel;
using namespace mlir;

namespace {

struct BindMachinePass : autopar::impl::BindMachinePassBase<BindMachinePass> {
  using Base::Base;

  void runOnModule() override {
    ModuleOp module = getOperation();
    auto emitError = [&] {
      return module.emitError() << MachineAttr::moduleAttribute << " ";
    };
    auto machine = MachineAttr::getChecked(
        emitError, &getContext(), StringRef(hardware), nodes.getValue());
    if (!machine)
      return signalPassFailure();
    module->setAttr(MachineAttr::moduleAttribute, machine);
  }
};

} // namespace
