//===- PlanInputs.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Evaluate/PlanInputs.h"

#include "autopar/Evaluate/PlanLayout.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::runtime;
using namespace autopar::schedule;

Layout autopar::evaluation::layoutOf(const std::vector<std::string> &axes,
                                     const Plan &plan) {
  Layout layout;
  for (const std::string &axis : axes)
    layout.axes.push_back({*plan.strideOf(axis), *plan.axis(axis)->size});
  layout.devices = *plan.devices();
  return layout;
}

Layout autopar::evaluation::layoutOf(const PlanInputs &inputs) {
  const Plan &plan = inputs.plan;
  Layout layout = layoutOf(inputs.program.axes, plan);
  if (plan.pipeline.isGiven())
    layout.stages = plan.sizeOf(Degree::pp).value_or(1);
  return layout;
}

Runtime autopar::evaluation::runtimeOf(const Plan &plan, const Runtime &runtime,
                                       const Workload &workload) {
  Runtime own = runtime;
  bool trains = plan.pipeline.schedule.value_or(ScheduleKind::inference) !=
                ScheduleKind::inference;
  if (trains || plan.prefillChunk == 0) {
    int64_t parts =
        replicasOf(plan) *
        std::max<int64_t>(1, plan.pipeline.microbatches.value_or(1));
    Checked tokens = ceilDiv(Checked(workload.batch), parts) * workload.query;
    own.setTokenBudget(std::max(runtime.tokenBudget.value, tokens.real()));
  } else if (plan.prefillChunk) {
    own.setTokenBudget(static_cast<double>(*plan.prefillChunk));
  }
  return own;
}
