//===- ExpertLimits.cpp - The capacity of experts -------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExpertLimits.h"

#include "autopar/Dialect/Training/Training.h"

using namespace autopar;
using namespace autopar::analysis;
using namespace autopar::program;
using namespace autopar::training;
using namespace autopar::transformer;
using namespace mlir;

static int64_t expertsOf(RouterOp router) {
  return TensorView(router.getWeight()).getType().getDimSize(1);
}

static bool routeAlike(RouterOp a, RouterOp b) {
  return expertsOf(a) == expertsOf(b) && a.getTopK() == b.getTopK();
}

/// Returns the first router that a step runs; emits an error unless all others
/// route alike.
static FailureOr<RouterOp> findRouter(IterationOp training) {
  SmallVector<RouterOp> routers;
  for (auto function :
       training->getParentOfType<ModuleOp>().getOps<FunctionOpInterface>())
    if (findWhole(function) == function)
      function.walk([&](RouterOp router) { routers.push_back(router); });
  if (routers.empty()) {
    InFlightDiagnostic diag = training.emitOpError(
        "gives experts a capacity, but no layer routes tokens to experts");
    diag.attachNote() << "leave out --expert-capacity-factor";
    return diag;
  }
  for (RouterOp other : routers)
    if (!routeAlike(routers.front(), other)) {
      InFlightDiagnostic diag = training.emitOpError(
          "gives experts of layers that route otherwise one capacity");
      diag.attachNote(other.getLoc())
          << "routes to " << other.getTopK() << " of " << expertsOf(other)
          << " experts, others to " << routers.front().getTopK() << " of "
          << expertsOf(routers.front());
      return diag;
    }
  return routers.front();
}

static LogicalResult readCapacity(IterationOp training, ExpertTables &tables,
                                  WorkloadBuilder &builder,
                                  CostProgram &program) {
  FailureOr<RouterOp> router = findRouter(training);
  if (failed(router))
    return failure();
  ExpertCapacity capacity;
  capacity.millionths =
      ExpertCapacity::toMillionths(training.getCapacity()->convertToDouble());
  capacity.padded = training.getPadded();
  capacity.experts = expertsOf(*router);
  capacity.topK = static_cast<int64_t>(router->getTopK());
  Value x = router->getX();
  capacity.tokens = builder.dims(x, 0, TensorView(x).rank() - 1);
  if (failed(tables.limit(training, {capacity.factor(), capacity.padded})))
    return failure();
  program.capacity = std::move(capacity);
  builder.setLimited(true);
  return success();
}

LogicalResult autopar::analysis::readExpertCapacity(ModuleOp module,
                                                    ExpertTables &tables,
                                                    WorkloadBuilder &builder,
                                                    CostProgram &program) {
  for (auto training : module.getOps<IterationOp>())
    if (training.getCapacity() &&
        failed(readCapacity(training, tables, builder, program)))
      return failure();
  return success();
}
