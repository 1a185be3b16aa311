//===- PlanPipeline.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanPipeline.h"

#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

using namespace autopar;

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

PipelinePlan autopar::readPipeline(const JsonReader &object) {
  PipelinePlan pipeline;
  object.allowOnly({"interleave", "stages", "schedule", "microbatches"});
  pipeline.interleave =
      object.optionalInteger("interleave", 1, limits::maxVirtualStages);
  pipeline.microbatches =
      object.optionalInteger("microbatches", 1, limits::maxScheduledTasks);
  if (auto text = object.optionalString("stages"); text && !object.failed()) {
    Result<std::vector<LayerRange>> ranges = parseRanges(*text);
    if (!ranges)
      object.failAt("stages", ranges.error().message, ranges.error().note);
    else
      pipeline.stages = std::move(*ranges);
  }
  if (auto text = object.optionalString("schedule"); text && !object.failed()) {
    pipeline.schedule = parseScheduleKind(*text);
    if (!pipeline.schedule)
      object.failAt("schedule", "unknown schedule '" + shorten(*text) + "'",
                    "schedules: " + scheduleChoices());
  }
  return pipeline;
}

nlohmann::ordered_json autopar::writePipeline(const PipelinePlan &pipeline) {
  nlohmann::ordered_json object;
  if (pipeline.interleave)
    object["interleave"] = *pipeline.interleave;
  if (!pipeline.stages.empty())
    object["stages"] = rangesText(pipeline.stages);
  if (pipeline.schedule)
    object["schedule"] = nameOf(*pipeline.schedule);
  if (pipeline.microbatches)
    object["microbatches"] = *pipeline.microbatches;
  return object;
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

std::optional<Error> autopar::checkPipeline(const Plan &plan) {
  const PipelinePlan &pipeline = plan.pipeline;
  if (!plan.has("pp")) {
    if (!pipeline.isGiven())
      return std::nullopt;
    return Error{"",
                 "stages, their schedule, interleaving and microbatches are "
                 "of a pipeline: they need pp",
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
  std::optional<int64_t> devices = plan.sizeOf("pp");
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
