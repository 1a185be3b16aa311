//===- Pipeline.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Evaluate/Pipeline.h"

#include "autopar/Evaluate/PipelineParts.h"

#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::hardware;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::runtime;
using namespace autopar::schedule;

//===----------------------------------------------------------------------===//
// Defaults of pipelines
//===----------------------------------------------------------------------===//

int64_t autopar::evaluation::replicasOf(const Plan &plan) {
  int64_t attention = plan.sizeOf(Degree::attention_tp).value_or(1);
  int64_t rest =
      plan.sizeOf(Degree::tp).value_or(1) / std::max<int64_t>(1, attention);
  return plan.sizeOf(Degree::dp).value_or(1) * std::max<int64_t>(1, rest);
}

/// Returns the number of equal microbatches of a batch. Schedules that need
/// groups of microbatches get the smallest number that they accept. Other
/// schedules get the largest, up to one per stage and per sequence of a
/// replica. The number is 1 if neither exists. In training, or if the size of
/// microbatches is given, the number follows from this size.
static int64_t chooseMicrobatches(ScheduleKind kind, int64_t stages,
                                  const Plan &plan, const Workload &workload) {
  int64_t batch = std::max<int64_t>(1, workload.batch);
  int64_t size = plan.pipeline.microBatch.value_or(1);
  int64_t each = std::max<int64_t>(1, batch / (replicasOf(plan) * size));
  if (workload.phase == Phase::train || plan.pipeline.microBatch)
    return each;
  if (kind == ScheduleKind::interleaved || kind == ScheduleKind::dual_pipe) {
    bool halves = kind == ScheduleKind::dual_pipe;
    int64_t step = halves ? 2 : stages, least = halves ? 2 * stages : stages;
    for (int64_t count = least; count <= std::min(batch, 64 * stages);
         count += step)
      if (batch % count == 0)
        return count;
    return 1;
  }
  int64_t count = std::min(stages, each);
  while (batch % count != 0)
    --count;
  return count;
}

Error autopar::evaluation::requestsOverStages() {
  return {"", "requests over pipeline stages are not modelled",
          "leave out --stage-pp, or the requests"};
}

PipelinePlan autopar::evaluation::completePipeline(const Plan &plan,
                                                   const Workload &workload) {
  PipelinePlan pipeline = plan.pipeline;
  if (!pipeline.interleave)
    pipeline.interleave = 1;
  bool trains = workload.phase == Phase::train;
  if (!pipeline.schedule)
    pipeline.schedule = *pipeline.interleave > 1 ? ScheduleKind::interleaved
                        : trains                 ? ScheduleKind::one_f_one_b
                                                 : ScheduleKind::inference;
  pipeline.microBatch.reset();
  if (!pipeline.microbatches)
    pipeline.microbatches =
        chooseMicrobatches(*pipeline.schedule,
                           plan.sizeOf(Degree::pp).value_or(1), plan, workload);
  return pipeline;
}

//===----------------------------------------------------------------------===//
// Prices of the parts of a pipelined program
//===----------------------------------------------------------------------===//

PipelineParts::PipelineParts(const PlanInputs &inputs)
    : program(inputs.program), plan(inputs.plan), machine(inputs.machine),
      runtime(inputs.runtime),
      strategy(compile(program, launchingOf(runtime), Counting::parts)),
      tape(collectParts(strategy)),
      pricer(program, tape, strategy.launching, machine, runtime,
             plan.memoryUtilization) {}

std::optional<Error> PipelineParts::cutPrompts() {
  Result<std::vector<PrefillChunk>> cut = chunksOf(inputs(), replicasOf(plan));
  if (!cut)
    return cut.error();
  chunks = std::move(*cut);
  return std::nullopt;
}

std::optional<Error> PipelineParts::prepare(const Workload &whole) {
  const PipelinePlan &pipeline = plan.pipeline;
  shape.kind = pipeline.schedule.value_or(ScheduleKind::inference);
  shape.interleave = pipeline.interleave.value_or(1);
  shape.microbatches = pipeline.microbatches.value_or(1);
  Result<int64_t> sequences = microbatchOf(whole.batch, shape.microbatches);
  if (!sequences)
    return sequences.error();
  workload = whole;
  workload.batch = *sequences;
  if (auto error = cutPrompts())
    return error;
  Result<std::vector<uint32_t>> layers = layersInOrder(program);
  if (!layers)
    return layers.error();
  order = std::move(*layers);
  shape.stages = plan.sizeOf(Degree::pp).value_or(1);
  for (const std::string &axis : plan.axesOf(Degree::pp))
    if (std::find(program.axes.begin(), program.axes.end(), axis) !=
        program.axes.end())
      return Error{"",
                   "axis '" + axis +
                       "' splits tensors: pipeline stages need an axis of "
                       "their own",
                   "declare one: parallel.mesh(pp = ?, ...)"};
  return std::nullopt;
}

Layout PipelineParts::layoutOf(const PartCounts &counts) const {
  Layout layout = autopar::evaluation::layoutOf(inputs());
  layout.part = counts;
  layout.passes = layout.microbatches = shape.passes();
  return layout;
}

std::optional<Error> PipelineParts::price() {
  Refusal refusal = pricer.price(order, autopar::evaluation::layoutOf(inputs()),
                                 workload, shape, chunks);
  if (!refusal)
    return std::nullopt;
  // The requirements of the parts are among those of the whole model.
  PartCounts counts(program);
  addPlaces(program, order, 0, order.size() + 2, /*borders=*/false, counts);
  ExactValues values(strategy, machine, runtime, plan.memoryUtilization);
  Refusal exact = values.evaluate(layoutOf(counts), workload);
  return explainRefusal(inputs(), strategy, values, exact ? exact : refusal);
}

std::optional<Error> autopar::evaluation::priceMessages(
    const PipelineParts &parts, const Report::Pipeline &pipeline,
    const Machine &machine, const Runtime &runtime, PipelineSteps &steps) {
  Network network(machine.pools.front(), *parts.plan.devices());
  GroupAxis axis = parts.stageAxis();
  auto stages = static_cast<int64_t>(steps.ranges.size());
  std::optional<Error> error;
  auto picoseconds = [&](double timeUs) -> Picoseconds {
    Result<Picoseconds> time = toPicoseconds(timeUs);
    if (!time)
      error = time.error();
    return time ? *time : 0;
  };
  auto timeOn = [&](const Route &route, int64_t bytes) {
    return picoseconds(timeOf(route, static_cast<double>(bytes)));
  };
  steps.hostPs.clear();
  for (const PrefillChunk &kind : steps.kinds)
    steps.hostPs.push_back(
        picoseconds(hostTimeUs(runtime, kind.step, replicasOf(parts.plan))));
  steps.transferPs.clear();
  for (const Report::Transfer &transfer : pipeline.transfers)
    steps.transferPs.push_back(timeOn(
        transferRoute(network, axis, transfer.fromStage, stages, runtime.ideal),
        transfer.bytes));
  if (int64_t bytes = parts.pricer.copiedGradientBytes())
    steps.copiesPs = timeOn(copiesRoute(network, axis, runtime.ideal), bytes);
  return error;
}

Result<StagingProblem> autopar::evaluation::stagingProblem(
    const CostProgram &program, const Plan &plan, const Machine &machine,
    const Runtime &given, const Workload &workload) {
  Runtime runtime = runtimeOf(plan, given, workload);
  PlanInputs inputs{program, plan, machine, runtime, workload};
  if (auto error = checkInputs(inputs))
    return *error;
  PipelineParts parts(inputs);
  if (auto error = parts.prepare(workload))
    return *error;
  if (auto error = parts.price())
    return *error;
  return parts.pricer.problem();
}
