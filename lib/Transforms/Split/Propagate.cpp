//===- Propagate.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Transforms/Passes.h"

#include "Propagation.h"
#include "Seeds.h"
#include "SplitRequests.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace autopar::transforms {
#define GEN_PASS_DEF_PROPAGATEPASS
#include "autopar/Transforms/Passes.h.inc"
} // namespace autopar::transforms

using namespace autopar;
using namespace autopar::transforms;
using namespace mlir;

namespace {

struct PropagatePass
    : autopar::transforms::impl::PropagatePassBase<PropagatePass> {
  using Base::Base;

  void runOnModule() override {
    ModuleOp module = getOperation();
    dropLayoutOps(module);
    SplitRequests requests = SplitRequests::ofTypes(module);
    for (const SplitRequests::Seed &seed : requests.sources())
      split(module, seed);
    for (const SplitRequests::Seed &seed : requests.arguments())
      split(module, seed);
    for (auto function : module.getOps<FunctionOpInterface>())
      if (!function.isDeclaration())
        updateType(module, function, requests);
    propagateSplits(module);
  }

private:
  static void split(ModuleOp module, const SplitRequests::Seed &seed) {
    Seeds(module, seed.axes)
        .splitSource(seed.value, seed.dim, seed.rule, seed.multiple);
  }

  /// Sets a function's type to the types of the values that it returns.
  static void updateType(ModuleOp module, FunctionOpInterface function,
                         const SplitRequests &requests) {
    Block &body = function.getFunctionBody().front();
    SmallVector<Type> results;
    for (auto [value, type] : llvm::zip_equal(
             body.getTerminator()->getOperands(), function.getResultTypes())) {
      RankedTensorType tensor = tensorOf(type);
      Type &result = results.emplace_back(type);
      for (unsigned dim = 0; tensor && dim < tensor.getRank(); ++dim)
        if (const SplitRequests::Request *request = requests.find(value, dim))
          result = Seeds(module, request->axes)
                       .split(result, dim, request->rule, request->multiple);
    }
    function.setType(function.cloneTypeWith(body.getArgumentTypes(), results));
  }
};

} // namespace
