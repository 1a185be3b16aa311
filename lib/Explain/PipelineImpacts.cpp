//===- PipelineImpacts.cpp - Figures by what they do to a pipeline --------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImpactTable.h"

#include "autopar/Cost/PipelineSlopes.h"

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::explanation;
using namespace autopar::report;

std::vector<Impact>
autopar::explanation::impactsOf(const EvaluatedPipeline &evaluated) {
  if (evaluated.iteration)
    return impactsOf(*evaluated.iteration, evaluated.report.memory.perDevice);
  const PipelineParts &parts = evaluated.parts;
  PlanInputs inputs = parts.inputs();
  ImpactTable table(inputs, parts.strategy);
  PricedPipeline pipeline{
      parts.program,    parts.strategy,   parts.machine, parts.runtime,
      parts.pricer,     *evaluated.steps, parts.order,   {},
      layoutOf(inputs), parts.stageAxis()};
  for (const Report::Transfer &transfer : evaluated.report.pipeline->transfers)
    pipeline.transferBytes.push_back(static_cast<double>(transfer.bytes));
  table.addTime(slopesOfStep(pipeline, table.sensitivity));
  auto lay = [&](int64_t device) {
    table.sensitivity.lay(parts.layoutOf(evaluated.countsOfDevice(device)),
                          pointOf(parts.workload));
  };
  lay(evaluated.fullest);
  table.addMemory();
  lay(evaluated.scarcest);
  table.addCapacity();
  return table.take();
}
