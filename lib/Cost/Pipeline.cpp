//===- Pipeline.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Cost/Pipeline.h"

#include "PipelineParts.h"

#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;

//===----------------------------------------------------------------------===//
// What is not said
//===----------------------------------------------------------------------===//

static int64_t largestDivisor(int64_t value, int64_t atMost) {
  int64_t divisor = std::max<int64_t>(1, std::min(value, atMost));
  while (value % divisor != 0)
    --divisor;
  return divisor;
}

PipelinePlan autopar::completePipeline(const Plan &plan,
                                       const Workload &workload) {
  PipelinePlan pipeline = plan.pipeline;
  if (!pipeline.interleave)
    pipeline.interleave = 1;
  if (!pipeline.schedule)
    pipeline.schedule = *pipeline.interleave > 1 ? ScheduleKind::interleaved
                                                 : ScheduleKind::inference;
  if (!pipeline.microbatches)
    pipeline.microbatches =
        largestDivisor(workload.batch, plan.sizeOf("pp").value_or(1));
  return pipeline;
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

static std::string divisorsText(int64_t value) {
  std::vector<std::string> listed;
  for (int64_t i = 1; i <= std::min<int64_t>(value, 4096); ++i)
    if (value % i == 0 && listed.size() < 12)
      listed.push_back(std::to_string(i));
  return join(listed, ", ");
}

std::optional<Error> PipelineParts::prepare(const Workload &whole) {
  const PipelinePlan &pipeline = plan.pipeline;
  microbatches = pipeline.microbatches.value_or(1);
  if (microbatches < 1 || whole.batch % microbatches != 0)
    return Error{"",
                 "a batch of " + formatInteger(whole.batch) +
                     " does not divide into " + formatInteger(microbatches) +
                     " microbatches",
                 "microbatches that work: " + divisorsText(whole.batch)};
  workload = whole;
  workload.batch /= microbatches;
  Result<std::vector<uint32_t>> layers = layersInOrder(program);
  if (!layers)
    return layers.error();
  order = std::move(*layers);
  stages = plan.sizeOf("pp").value_or(1);
  return std::nullopt;
}

Result<Report> PipelineParts::price(const KindCounts &counts, int64_t passes,
                                    bool explain) const {
  return evaluateDevice(selectLayers(program, counts, passes), plan, machine,
                        runtime, workload, passes, explain);
}

KindCounts PipelineParts::countsOf(const std::vector<KindCount> &kinds) const {
  KindCounts counts(program.layers.size());
  addKinds(kinds, counts);
  return counts;
}

/// The time of one pass through `kinds`, and what they keep.
std::optional<Error> PipelineParts::addPart(const std::vector<KindCount> &kinds,
                                            PipelinePart &part) {
  Result<Report> report =
      evaluateDevice(selectLayers(program, countsOf(kinds), 1), plan, machine,
                     runtime, workload, microbatches);
  if (!report)
    return report.error();
  const Report::DeviceMemory &memory = report->memory.perDevice;
  const auto &latency = report->latency;
  double host = runtime.hostTimeUs.value * static_cast<double>(microbatches);
  Result<Picoseconds> time =
      toPicoseconds(std::max(0.0, latency.stepTimeUs - host));
  Result<Picoseconds> communication =
      toPicoseconds(latency.communicationTimeUs);
  if (!time || !communication)
    return time ? communication.error() : time.error();
  part.cost = {*time,
               memory.weightBytes + memory.kvCacheBytes + memory.stateBytes};
  part.communicationPs = *communication;
  part.activationBytes = memory.activationBytes;
  part.runtimeBytes = memory.runtimeBytes;
  budgetBytes = report->memory.budgetBytes;
  return std::nullopt;
}

std::optional<Error> PipelineParts::addParts() {
  layers.resize(program.stack.layers.size());
  for (size_t i = 0; i < layers.size(); ++i)
    if (auto error = addPart(program.stack.layers[i].kinds, layers[i]))
      return error;
  if (auto error = addPart(program.stack.before, before))
    return error;
  return addPart(program.stack.after, after);
}

/// Temporaries and the runtime lie on every device: those of layers come off
/// the limit, what embedding and head need above that is theirs.
StagingProblem PipelineParts::problem() const {
  StagingProblem problem;
  int64_t activations = 0;
  for (const PipelinePart &layer : layers)
    activations = std::max(activations, layer.activationBytes);
  for (uint32_t layer : order)
    problem.layers.push_back(layers[layer].cost);
  auto withTemporaries = [&](const PipelinePart &part) {
    LayerCost cost = part.cost;
    cost.memoryBytes +=
        std::max<int64_t>(0, part.activationBytes - activations);
    return cost;
  };
  problem.embedding = withTemporaries(before);
  problem.head = withTemporaries(after);
  problem.stages = stages;
  problem.interleave = plan.pipeline.interleave.value_or(1);
  problem.memoryLimitBytes =
      std::max<int64_t>(0, budgetBytes - after.runtimeBytes - activations);
  return problem;
}

Result<StagingProblem> autopar::stagingProblem(const CostProgram &program,
                                               const Plan &plan,
                                               const Machine &machine,
                                               const Runtime &runtime,
                                               const Workload &workload) {
  PipelineParts parts(program, plan, machine, runtime);
  if (auto error = parts.prepare(workload))
    return *error;
  if (auto error = parts.addParts())
    return *error;
  return parts.problem();
}
