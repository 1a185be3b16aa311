//===- PipelineImpact.cpp - Figures by what they do to a pipeline ---------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImpactTable.h"
#include "PipelineParts.h"

#include "autopar/Cost/PipelineSlopes.h"

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::report;

std::vector<Impact>
autopar::report::impactsOf(const PipelineParts &parts,
                           const PipelineSteps &steps,
                           const std::vector<Report::Transfer> &transfers,
                           const Layout &fullest, const Layout &scarcest) {
  PlanInputs inputs = parts.inputs();
  ImpactTable table(inputs, parts.strategy);
  PricedPipeline pipeline{parts.program,    parts.strategy,
                          parts.machine,    parts.runtime,
                          parts.pricer,     steps,
                          parts.order,      {},
                          layoutOf(inputs), parts.stageAxis()};
  for (const Report::Transfer &transfer : transfers)
    pipeline.transferBytes.push_back(static_cast<double>(transfer.bytes));
  table.addTime(slopesOfStep(pipeline, table.sensitivity));
  table.sensitivity.lay(fullest, pointOf(parts.workload));
  table.addMemory();
  table.sensitivity.lay(scarcest, pointOf(parts.workload));
  table.addCapacity();
  return table.take();
}
