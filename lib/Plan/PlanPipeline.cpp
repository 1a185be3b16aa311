//===- PlanPipeline.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanPipeline.h"

#include "autopar/Support/Text.h"

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::schedule;

std::optional<Error> autopar::plan::checkPipeline(const Plan &plan,
                                                  bool trains) {
  const PipelinePlan &pipeline = plan.pipeline;
  if (!plan.has(Degree::pp)) {
    bool isOne =
        pipeline.interleave.value_or(1) == 1 && pipeline.stages.size() <= 1;
    if (!pipeline.isGiven() || (trains && isOne))
      return std::nullopt;
    return Error{"",
                 "stages, their schedule, interleaving and microbatches belong "
                 "to a pipeline: they need pp",
                 "give --stage-pp=N as well"};
  }
  int64_t interleave = pipeline.interleave.value_or(1);
  bool interleaves = pipeline.schedule == ScheduleKind::interleaved;
  if (pipeline.schedule && interleaves != (interleave > 1))
    return Error{"",
                 "schedule " + std::string(nameOf(*pipeline.schedule)) +
                     (interleaves ? " needs" : " does not take") +
                     " several virtual stages on a device: interleave is " +
                     std::to_string(interleave),
                 interleaves
                     ? "give --interleave=2"
                     : "give --schedule=interleaved, or --interleave=1"};
  std::optional<int64_t> devices = plan.sizeOf(Degree::pp);
  auto ranges = static_cast<int64_t>(pipeline.stages.size());
  if (ranges == 0 || !devices || ranges == *devices * interleave)
    return std::nullopt;
  return Error{"",
               countOf(ranges, "range") + " of layers for " +
                   countOf(*devices, "stage") +
                   (interleave > 1
                        ? " times interleave " + std::to_string(interleave)
                        : "") +
                   ", expected " + std::to_string(*devices * interleave),
               ""};
}
