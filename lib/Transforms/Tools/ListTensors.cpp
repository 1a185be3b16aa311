//===- ListTensors.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Passes.h"

#include "autopar/Import/Tensors.h"

namespace autopar::transforms {
#define GEN_PASS_DEF_LISTTENSORSPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar::transforms

using namespace autopar;
using namespace autopar::importer;
using namespace mlir;

namespace {

struct ListTensorsPass
    : autopar::transforms::impl::ListTensorsPassBase<ListTensorsPass> {
  void runOnOperation() override {
    if (failed(listTensors(getOperation(), llvm::errs())))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
