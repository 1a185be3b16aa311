//===- FitSearch.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FitSearch.h"

#include "autopar/Support/Limits.h"

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;

FitSearch::FitSearch(const Reading &reading)
    : reading(reading),
      tape(collect(reading.strategy, {reading.strategy.total.fits},
                   Checks::splits)),
      pricer(tape, reading.machine, reading.runtime,
             reading.plan.memoryUtilization) {}

bool FitSearch::fits(const Layout &layout, const Workload &workload) {
  double fits = 0;
  return !pricer.lay(layout) && !pricer.price(pointOf(workload), &fits) &&
         fits == 1;
}

bool FitSearch::fitsBatch(int64_t batch) {
  Workload workload = reading.workload;
  workload.batch = batch;
  return fits(reading.layout, workload);
}

std::optional<Plan> FitSearch::findLarger(const std::string &axis) {
  Plan plan = reading.plan;
  std::optional<int64_t> &size = plan.axis(axis)->size;
  while (*plan.devices() <= limits::maxDevices / 2) {
    *size *= 2;
    Layout layout = layoutOf({reading.program, plan, reading.machine,
                              reading.runtime, reading.workload});
    layout.part = reading.layout.part;
    layout.passes = reading.layout.passes;
    layout.microbatches = reading.layout.microbatches;
    if (fits(layout, reading.workload))
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
  return bisect(0, reading.workload.batch,
                [this](int64_t batch) { return fitsBatch(batch); });
}

int64_t FitSearch::findContext() {
  if (reading.workload.phase != Phase::decode)
    return 0;
  return bisect(0, reading.workload.context, [this](int64_t context) {
    Workload workload = reading.workload;
    workload.context = context;
    return fits(reading.layout, workload);
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
