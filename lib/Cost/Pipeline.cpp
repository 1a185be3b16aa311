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
#include <map>

using namespace autopar;

//===----------------------------------------------------------------------===//
// What is not said
//===----------------------------------------------------------------------===//

/// Devices that split the sequences of a batch.
static int64_t replicasOf(const Plan &plan) {
  int64_t attention = plan.sizeOf("attention_tp").value_or(1);
  int64_t rest =
      plan.sizeOf("tp").value_or(1) / std::max<int64_t>(1, attention);
  return plan.sizeOf("dp").value_or(1) * std::max<int64_t>(1, rest);
}

/// The number of equal microbatches that a batch divides into: of schedules
/// that take groups the fewest that they take, of others the most up to one
/// for each stage and each sequence of a replica. 1 where there is none.
static int64_t chooseMicrobatches(ScheduleKind kind, int64_t stages,
                                  const Plan &plan, int64_t batch) {
  if (kind == ScheduleKind::interleaved || kind == ScheduleKind::dual_pipe) {
    bool halves = kind == ScheduleKind::dual_pipe;
    int64_t step = halves ? 2 : stages, least = halves ? 2 * stages : stages;
    for (int64_t count = least; count <= std::min(batch, 64 * stages);
         count += step)
      if (batch % count == 0)
        return count;
    return 1;
  }
  int64_t count =
      std::min(stages, std::max<int64_t>(1, batch / replicasOf(plan)));
  while (batch % count != 0)
    --count;
  return count;
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
        chooseMicrobatches(*pipeline.schedule, plan.sizeOf("pp").value_or(1),
                           plan, std::max<int64_t>(1, workload.batch));
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

static void addStage(const CostProgram &program,
                     const std::vector<LayerRange> &stages,
                     const std::vector<uint32_t> &order, size_t stage,
                     bool borders, PartCounts &counts) {
  bool last = stage + 1 == stages.size();
  addPlaces(program, order, stage == 0 ? 0 : stages[stage].begin + 1,
            stages[stage].end + (last ? 2 : 1), borders, counts);
}

PartCounts autopar::countsOf(const CostProgram &program, const Plan &plan,
                             const std::vector<uint32_t> &order, int64_t device,
                             bool borders) {
  PartCounts counts(program);
  const PipelinePlan &pipeline = plan.pipeline;
  int64_t devices = plan.sizeOf("pp").value_or(1);
  for (size_t stage = device; stage < pipeline.stages.size(); stage += devices)
    addStage(program, pipeline.stages, order, stage, borders, counts);
  if (pipeline.schedule == ScheduleKind::dual_pipe)
    addStage(program, pipeline.stages, order, devices - 1 - device, borders,
             counts);
  return counts;
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
  passes = isFolded() ? std::max<int64_t>(1, microbatches / 2) : microbatches;
  Result<std::vector<uint32_t>> layers = layersInOrder(program);
  if (!layers)
    return layers.error();
  order = std::move(*layers);
  stages = plan.sizeOf("pp").value_or(1);
  for (const std::string &axis : plan.axesOf("pp"))
    if (std::find(program.axes.begin(), program.axes.end(), axis) !=
        program.axes.end())
      return Error{"",
                   "axis '" + axis +
                       "' splits tensors: pipeline stages need an axis of "
                       "their own",
                   "declare one: parallel.mesh @mesh(pp = ?, ...)"};
  return std::nullopt;
}

Result<Report> PipelineParts::price(const PartCounts &counts,
                                    bool explain) const {
  return evaluateDevice(selectLayers(program, counts, passes), plan, machine,
                        runtime, workload, passes, explain);
}

/// The time of one pass through `counts`, and what they keep.
std::optional<Error> PipelineParts::addPart(const PartCounts &counts,
                                            PipelinePart &part) {
  Result<Report> report = evaluateDevice(selectLayers(program, counts, 1), plan,
                                         machine, runtime, workload, passes);
  if (!report)
    return report.error();
  const Report::DeviceMemory &memory = report->memory.perDevice;
  const auto &latency = report->latency;
  double host = runtime.hostTimeUs.value * static_cast<double>(passes);
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

/// Layers of one kind cost the same where the borders around them do.
std::optional<Error> PipelineParts::addParts() {
  std::map<PartCounts, uint32_t> known;
  size_t last = order.size() + 1;
  for (size_t place = 1; place < last; ++place) {
    PartCounts counts(program);
    addPlace(place, counts);
    auto [it, isNew] = known.emplace(counts, layers.size());
    partOf.push_back(it->second);
    if (!isNew)
      continue;
    if (auto error = addPart(counts, layers.emplace_back()))
      return error;
  }
  PartCounts first(program), behind(program);
  addPlace(0, first);
  addPlace(last, behind);
  if (auto error = addPart(first, before))
    return error;
  if (auto error = addPart(behind, after))
    return error;
  if (!hasBothEnds())
    return std::nullopt;
  addPlace(last, first);
  return addPart(first, ends);
}

/// Temporaries and the runtime lie on every device: those of layers come off
/// the limit, what embedding and head need above that is theirs.
StagingProblem PipelineParts::problem() const {
  StagingProblem problem;
  int64_t activations = 0;
  for (const PipelinePart &layer : layers)
    activations = std::max(activations, layer.activationBytes);
  for (uint32_t part : partOf)
    problem.layers.push_back(layers[part].cost);
  auto withTemporaries = [&](const PipelinePart &part) {
    LayerCost cost = part.cost;
    cost.memoryBytes +=
        std::max<int64_t>(0, part.activationBytes - activations);
    return cost;
  };
  problem.embedding = withTemporaries(before);
  problem.head = withTemporaries(after);
  problem.folded = isFolded();
  // What both read is there once.
  if (hasBothEnds())
    problem.head.memoryBytes += ends.cost.memoryBytes -
                                before.cost.memoryBytes -
                                after.cost.memoryBytes;
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
