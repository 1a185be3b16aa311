//===- TrainingJson.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonParts.h"

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;
using namespace autopar::writing;
using json = nlohmann::ordered_json;

static json writeExposure(const TrainingReport &training) {
  json rows = json::array();
  for (const TrainingReport::Exposure &row : training.exposure)
    rows.push_back({{"section", nameOf(row.section)},
                    {"purpose", nameOf(row.purpose)},
                    {"axes", row.axes},
                    {"time_us", row.timeUs},
                    {"exposed_time_us", row.exposedTimeUs},
                    {"exposed_share", row.exposedShare}});
  return rows;
}

static json writeStages(const TrainingReport &training) {
  json stages = json::array();
  for (const TrainingReport::Stage &stage : training.stages)
    stages.push_back(
        {{"in_flight", stage.inFlight},
         {"saved_bytes_per_microbatch", stage.savedBytesPerMicrobatch},
         {"peak_time_us", stage.peakTimeUs}});
  return stages;
}

static json writeAlive(const TrainingReport &training) {
  json rows = json::array();
  for (const TrainingReport::SavedValue &value : training.alive)
    rows.push_back({{"name", value.name},
                    {"layer", value.layer},
                    {"count", value.count},
                    {"bytes", value.bytes}});
  return rows;
}

static json writeTried(const TrainingReport &training) {
  json rows = json::array();
  for (const TrainingReport::Tried &one : training.tried)
    rows.push_back(
        {{"recompute", one.recompute}, {"missing_bytes", one.missingBytes}});
  return rows;
}

static json writeCapacity(const TrainingReport::Capacity &capacity) {
  return {{"factor", capacity.factor},
          {"padded", capacity.padded},
          {"routed_tokens", capacity.routedTokens},
          {"tokens", capacity.tokens},
          {"dropped_share", capacity.droppedShare}};
}

json autopar::writing::writeTraining(const TrainingReport &training) {
  auto number = [](std::optional<double> value) {
    return value ? json(*value) : json();
  };
  json root = {{"forward_time_us", training.forwardTimeUs},
               {"backward_time_us", training.backwardTimeUs},
               {"weight_gradient_time_us", training.weightGradientTimeUs},
               {"optimizer_time_us", training.optimizerTimeUs},
               {"bubble_time_us", training.bubbleTimeUs},
               {"straggler_time_us", training.stragglerTimeUs},
               {"exposure", writeExposure(training)},
               {"flops",
                {{"forward", writeInteger(training.flops.forward)},
                 {"backward", writeInteger(training.flops.backward)},
                 {"padding", writeInteger(training.flops.padding)},
                 {"model", writeInteger(modelFlops(training))},
                 {"hardware", writeInteger(hardwareFlops(training))}}},
               {"peak_flops_per_s", training.peakFlopsPerS},
               {"model_flops_utilization", training.modelUtilization},
               {"hardware_flops_utilization", training.hardwareUtilization},
               {"tokens_per_s_per_device", training.tokensPerSPerDevice},
               {"per_stage", writeStages(training)},
               {"peak_stage", training.peakStage},
               {"memory_margin", training.memoryMargin},
               {"alive", writeAlive(training)},
               {"recompute", training.recompute},
               {"tried", writeTried(training)},
               {"usd_per_iteration", number(training.dollars)},
               {"joules_per_iteration", number(training.joules)},
               {"not_modelled", training.notModelled}};
  if (training.expertCapacity)
    root["expert_capacity"] = writeCapacity(*training.expertCapacity);
  if (const auto &copies = training.copiedGradients)
    root["copied_gradients"] = {{"bytes", copies->bytes},
                                {"tier", copies->tier},
                                {"time_us", copies->timeUs}};
  return root;
}
