//===- FitSearch.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Evaluate/FitSearch.h"

#include "autopar/Support/Limits.h"

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::plan;
using namespace autopar::program;

FitSearch::FitSearch(const PricedStep &step)
    : step(step),
      tape(collect(step.strategy, {step.strategy.total.fits}, Checks::splits)),
      pricer(tape, step.machine, step.runtime, step.plan.memoryUtilization) {}

bool FitSearch::fits(const Layout &layout, const Workload &workload) {
  double fits = 0;
  return !pricer.lay(layout) && !pricer.price(pointOf(workload), &fits) &&
         fits == 1;
}

bool FitSearch::fitsBatch(int64_t batch) {
  Workload workload = step.workload;
  workload.batch = batch;
  return fits(step.layout, workload);
}

std::optional<Plan> FitSearch::findLarger(const std::string &axis) {
  Plan plan = step.plan;
  std::optional<int64_t> &size = plan.axis(axis)->size;
  while (*plan.devices() <= limits::maxDevices / 2) {
    *size *= 2;
    Layout layout = layoutOf(
        {step.program, plan, step.machine, step.runtime, step.workload});
    layout.part = step.layout.part;
    layout.passes = step.layout.passes;
    layout.microbatches = step.layout.microbatches;
    if (fits(layout, step.workload))
      return plan;
  }
  return std::nullopt;
}

template <typename Fits>
int64_t FitSearch::bisect(int64_t fit, int64_t tooMany, Fits fitsOne) {
  while (tooMany - fit > 1) {
    int64_t tried = fit + (tooMany - fit) / 2;
    (fitsOne(tried) ? fit : tooMany) = tried;
  }
  return fit;
}

int64_t FitSearch::findBatch() {
  return bisect(0, step.workload.batch,
                [this](int64_t batch) { return fitsBatch(batch); });
}

int64_t FitSearch::findContext() {
  if (step.workload.phase != Phase::decode)
    return 0;
  return bisect(0, step.workload.context, [this](int64_t context) {
    Workload workload = step.workload;
    workload.context = context;
    return fits(step.layout, workload);
  });
}

int64_t FitSearch::findMost() {
  int64_t fit = 0, more = 1;
  while (more < limits::maxTokens && fitsBatch(more)) {
    fit = more;
    more *= 2;
  }
  return bisect(fit, more, [this](int64_t batch) { return fitsBatch(batch); });
}
