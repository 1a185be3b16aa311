//===- OtherPhase.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OtherPhase.h"

using namespace autopar;
using namespace autopar::analysis;
using namespace autopar::estimation;
using namespace autopar::report;
using namespace autopar::transformer;
using namespace autopar::transforms;
using namespace mlir;

/// Changes the workload of `module` to the other phase; returns false if there
/// is none.
static bool turn(ModuleOp module) {
  auto steps = module.getOps<WorkloadOp>();
  if (!llvm::hasSingleElement(steps) || !module.getOps<RequestsOp>().empty())
    return false;
  WorkloadOp step = *steps.begin();
  switch (step.getPhase()) {
  case PhaseKind::prefill:
    step.setPhase(PhaseKind::decode);
    step.setQuery(1);
    return true;
  case PhaseKind::decode:
    step.setPhase(PhaseKind::prefill);
    step.setQuery(step.getContextLength());
    return true;
  case PhaseKind::train:
    return false;
  }
  return false;
}

std::optional<Report> autopar::transforms::estimateOtherPhase(
    ModuleOp module, const TargetAnalysis &target, const ReportDetail &detail) {
  OwningOpRef<ModuleOp> copy(module.clone());
  if (!turn(*copy))
    return std::nullopt;
  copy->walk([](LatentAttentionOp op) {
    op.setAbsorbed(false);
    op.setByPhase(true);
  });
  // If the other phase cannot be priced, it is left out; its diagnostics would
  // only repeat those of the module.
  ScopedDiagnosticHandler silent(module.getContext(),
                                 [](Diagnostic &) { return success(); });
  FailureOr<ModuleEstimate> priced = priceModule(
      *copy, CostProgramAnalysis(*copy), TargetAnalysis(*copy, target), detail);
  if (failed(priced))
    return std::nullopt;
  return std::move(priced->report);
}
