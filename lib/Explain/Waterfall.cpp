//===- Waterfall.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explanation.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::explanation;
using namespace autopar::report;

std::vector<WaterfallStep>
autopar::explanation::waterfallOf(const Report &report) {
  const auto &latency = report.latency;
  const auto &bounds = latency.bounds;
  double peak = std::max(bounds.computeTimeUs, bounds.memoryTimeUs);
  std::vector<WaterfallStep> waterfall = {
      {"ideal", peak, "max(bounds.compute_time_us, bounds.memory_time_us)"},
      {"serial kernels", bounds.kernelsTimeUs - peak,
       "bounds.kernels_time_us - ideal"},
      {"efficiency",
       latency.computeTimeUs + latency.memoryTimeUs - bounds.kernelsTimeUs,
       "compute_time_us + memory_time_us - bounds.kernels_time_us"},
      {"floors", latency.overheadTimeUs - latency.hostTimeUs,
       "overhead_time_us - host_time_us"},
      {"communication", latency.communicationTimeUs, "communication_time_us"},
      {"host", latency.hostTimeUs, "host_time_us"}};
  if (report.pipeline)
    waterfall.push_back(
        {"pipeline", latency.pipelineTimeUs, "pipeline_time_us"});
  return waterfall;
}
