//===- EvaluatePipeline.cpp -----------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Evaluate/EvaluatedPipeline.h"

#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <algorithm>
#include <tuple>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;
using namespace autopar::serving;

namespace {

/// Composes the report of a pipeline: totals are those of the whole model,
/// memory is that of the fullest stage, and times are those of the heaviest
/// stage.
class PipelineEvaluator {
public:
  /// In `result`, the inputs are set and the whole model is evaluated.
  explicit PipelineEvaluator(EvaluatedPipeline &result)
      : result(result), parts(result.parts), plan(parts.plan),
        whole(result.inputs.workload), report(result.report),
        pipeline(*report.pipeline) {}

  std::optional<Error> run(bool boundsStages);

private:
  std::optional<Error> layOut(bool bounds);
  std::optional<Error> priceStages();
  std::optional<Error> readBytes(const EvaluatedStep &stage);
  std::optional<Error> addTransfers();
  std::optional<Error> simulate();
  Result<PipelineSteps> stepsOf() const;
  void addMemory();
  void addWork();
  void addTransferRows();
  void addStep();

  const LayerRange &range(int64_t stage) const {
    return pipeline.partition.ranges[stage];
  }
  const Report &stageOf(int64_t device) const {
    return result.byDevice[device]->report;
  }

  EvaluatedPipeline &result;
  PipelineParts &parts;
  const Plan &plan;
  const Workload &whole;
  Report &report;
  Report::Pipeline &pipeline;

  /// The bytes that a stage hands on, by kind of step, then indexed as
  /// `Strategy::transferBytes`.
  std::vector<std::vector<int64_t>> transferBytes;
  std::vector<int64_t> savedBytes;
  int64_t routedTokens = 0, expertCapacityTokens = 0;
  std::optional<TrainingReport::Copies> copies;
};

} // namespace

//===----------------------------------------------------------------------===//
// Prices of the stages
//===----------------------------------------------------------------------===//

EvaluatedPipeline::EvaluatedPipeline(const PlanInputs &inputs)
    : inputs(inputs), parts(inputs),
      strategy(compile(inputs.program, launchingOf(inputs.runtime))) {}

PartCounts EvaluatedPipeline::countsOfDevice(int64_t device) const {
  return countsOf(parts.program, parts.plan.pipeline.stages, parts.order,
                  parts.shape, device, parts.runtime.fusesElementwise);
}

bool EvaluatedPipeline::assumesBackwards() const {
  return isTraining(*parts.plan.pipeline.schedule) && !iteration;
}

static std::optional<Error> checkSchedule(const PlanInputs &inputs) {
  const Workload &whole = inputs.workload;
  ScheduleKind kind = *inputs.plan.pipeline.schedule;
  bool trains = inputs.program.trains() || whole.phase == Phase::train;
  if (trains && !isTraining(kind))
    return Error{"",
                 "schedule " + std::string(nameOf(kind)) +
                     " runs no backwards, and training has some",
                 "give --schedule=one_f_one_b"};
  if (!isTraining(kind) || whole.phase != Phase::decode)
    return std::nullopt;
  return Error{"",
               "schedule " + std::string(nameOf(kind)) +
                   " runs backwards, and a decode step has none",
               kind == ScheduleKind::interleaved
                   ? "give --interleave=1, or --phase=prefill"
                   : "give --schedule=inference, or --phase=prefill"};
}

/// Evaluates the plan's ranges of layers. If they exceed the memory, the report
/// says so; this is no error.
std::optional<Error> PipelineEvaluator::layOut(bool bounds) {
  StagingProblem problem = parts.pricer.problem();
  Result<StagePartition> partition =
      describeStages(problem, plan.pipeline.stages);
  if (!partition)
    return partition.error();
  if (exceedsMemory(problem, *partition))
    problem.memoryLimitBytes.reset();
  if (bounds)
    partition = evaluateStages(problem, plan.pipeline.stages);
  if (!partition)
    return partition.error();
  pipeline.partition = std::move(*partition);
  pipeline.equalCountsPs = equalCountsTime(problem);
  return std::nullopt;
}

/// Prices each distinct stage once, because several devices may run equal
/// stages.
std::optional<Error> PipelineEvaluator::priceStages() {
  PlanInputs inputs = parts.inputs();
  for (int64_t device = 0; device < parts.shape.stages; ++device) {
    PartCounts counts = result.countsOfDevice(device);
    std::unique_ptr<EvaluatedStep> &stage = result.stages[counts];
    if (!stage) {
      Result<std::unique_ptr<EvaluatedStep>> evaluated =
          evaluateStep(inputs, parts.strategy, parts.layoutOf(counts));
      if (!evaluated)
        return evaluated.error();
      stage = std::move(*evaluated);
      if (auto error = readBytes(*stage))
        return error;
    }
    result.byDevice.push_back(stage.get());
  }
  return std::nullopt;
}

/// Reads the bytes that stages hand on and the bytes of values that they save.
/// These formulas are equal in all stages.
std::optional<Error> PipelineEvaluator::readBytes(const EvaluatedStep &stage) {
  Narrowing narrow(stage);
  transferBytes.clear();
  auto addBytes = [&](const EvaluatedStep &step) {
    std::vector<int64_t> &bytes = transferBytes.emplace_back();
    for (NodeId node : parts.strategy.transferBytes)
      bytes.push_back(narrow(step.whole(node), "bytes of a transfer"));
  };
  for (const auto &step : stage.steps)
    addBytes(*step);
  if (stage.steps.empty())
    addBytes(stage);
  savedBytes.clear();
  for (NodeId node : parts.strategy.saved)
    savedBytes.push_back(narrow(node, "bytes of a saved value"));
  const TotalNodes &total = parts.strategy.total;
  routedTokens = narrow(total.routedTokens, "routed tokens");
  expertCapacityTokens =
      narrow(total.expertCapacityTokens, "tokens of an expert");
  return narrow.firstError();
}

//===----------------------------------------------------------------------===//
// Simulation of the schedule
//===----------------------------------------------------------------------===//

std::optional<Error> PipelineEvaluator::addTransfers() {
  auto stages = static_cast<int64_t>(pipeline.partition.ranges.size());
  Network network(parts.machine.pools.front(), *plan.devices());
  GroupAxis axis = parts.stageAxis();
  bool loops = whole.phase == Phase::decode;
  for (int64_t stage = 0; stage + (loops ? 0 : 1) < stages; ++stage) {
    bool last = stage + 1 == stages;
    int64_t next = last ? 0 : stage + 1;
    int64_t from = stage % parts.shape.stages, to = next % parts.shape.stages;
    Route route =
        transferRoute(network, axis, stage, stages, parts.runtime.ideal);
    if (from != to && !route.tier)
      return Error{"",
                   "no link of " + parts.machine.name + " joins stage " +
                       std::to_string(from) + " to stage " + std::to_string(to),
                   ""};
    std::vector<PrefillChunk> steps = parts.steps();
    for (size_t i = 0; i < steps.size(); ++i) {
      const std::vector<int64_t> &all = transferBytes[i];
      int64_t bytes = all[transferInto(parts.order, all.size(),
                                       last ? -1 : range(stage + 1).begin)];
      pipeline.transfers.push_back(
          {stage, next, bytes, route.tier ? route.tier->name : "",
           timeOf(route, static_cast<double>(bytes)), steps[i].count});
    }
  }
  return std::nullopt;
}

Result<PipelineSteps> PipelineEvaluator::stepsOf() const {
  PipelineSteps steps{parts.shape,
                      pipeline.partition.ranges,
                      whole.phase == Phase::decode,
                      parts.steps(),
                      {},
                      {}};
  if (parts.program.trains())
    for (size_t stage = 0; stage < steps.ranges.size(); ++stage)
      steps.keptOutputBytes.push_back(
          parts.pricer.keptOutputBytes(steps.ranges, stage));
  steps.shape.kind = *plan.pipeline.schedule;
  steps.shape.interleave = pipeline.partition.interleave;
  if (auto error =
          priceMessages(parts, pipeline, parts.machine, parts.runtime, steps))
    return *error;
  if (steps.tasks() > Checked(limits::maxScheduledTasks))
    return Error{
        "",
        "the chunks of " + formatInteger(whole.batch) + " prompts make " +
            formatInteger(steps.tasks()) + " steps of stages, at most " +
            formatInteger(limits::maxScheduledTasks) + " are scheduled",
        "give a larger --prefill-chunk or a smaller --batch"};
  return steps;
}

std::optional<Error> PipelineEvaluator::simulate() {
  Result<PipelineSteps> made = stepsOf();
  if (!made)
    return made.error();
  const PipelineSteps &steps = result.steps.emplace(std::move(*made));
  PipelineSchedule schedule = scheduleOf(parts.pricer, steps);
  Result<PipelineTimeline> timeline = simulateSchedule(schedule);
  if (!timeline)
    return Error{"", timeline.error().message,
                 timeline.error().note +
                     "; --microbatches must divide the "
                     "batch of " +
                     formatInteger(whole.batch)};
  pipeline.rounds = schedule.loop ? schedule.rounds : 1;
  pipeline.stepPs = stepTimeOf(schedule, *timeline);
  pipeline.timeline = std::move(*timeline);
  if (!parts.program.trains())
    return std::nullopt;
  result.iteration.emplace(EvaluatedIteration{
      parts, steps, &pipeline,
      iterationOf(parts.pricer, steps, endsOf(pipeline.timeline)), savedBytes});
  EvaluatedIteration &iteration = *result.iteration;
  for (size_t i = 0; i < sectionCount; ++i) {
    const auto &section = result.strategy.total.sections[i];
    iteration.flops[i] = result.whole->whole(section.flops);
    iteration.usefulFlops[i] = result.whole->whole(section.usefulFlops);
  }
  iteration.routedTokens = routedTokens;
  iteration.expertCapacityTokens = expertCapacityTokens;
  iteration.copies = copies;
  pipeline.stepPs = iteration.times.allPs();
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The report of a pipeline
//===----------------------------------------------------------------------===//

void PipelineEvaluator::addMemory() {
  auto &memory = report.memory;
  memory.perStage.clear();
  memory.kvBytesPerTokenPerDevice = 0;
  bool keeps = false;
  for (int64_t device = 0; device < parts.shape.stages; ++device) {
    const auto &stage = stageOf(device).memory;
    Report::DeviceMemory &own = memory.perStage.emplace_back(stage.perDevice);
    if (result.iteration)
      addSaved(*result.iteration, device, own);
    pipeline.partition.devices[device].memoryBytes =
        own.weightBytes + own.kvCacheBytes + own.stateBytes +
        own.gradientBytes + own.optimizerBytes + own.savedBytes;
    if (own.totalBytes > memory.perStage[result.fullest].totalBytes)
      result.fullest = device;
    memory.kvBytesPerTokenPerDevice = std::max(memory.kvBytesPerTokenPerDevice,
                                               stage.kvBytesPerTokenPerDevice);
    // A stage without caches never fills its memory with sequences.
    if (stage.kvBytesPerTokenPerDevice == 0 &&
        stageOf(device).memory.stateBytesPerSequence == 0)
      continue;
    const auto &held = stageOf(device).capacity;
    if (!keeps || std::tie(held.sequencesPerReplica, stage.kvCapacityTokens) <
                      std::tie(report.capacity.sequencesPerReplica,
                               memory.kvCapacityTokens)) {
      report.capacity = held;
      memory.kvCapacityTokens = stage.kvCapacityTokens;
      result.scarcest = device;
    }
    keeps = true;
  }
  memory.perDevice = memory.perStage[result.fullest];
  memory.worstDevice = "stage " + std::to_string(result.fullest);
  memory.kvCapacityBytes = stageOf(result.scarcest).memory.kvCapacityBytes;
}

/// Adds the transfers that the heaviest stage sends to its collectives.
void PipelineEvaluator::addTransferRows() {
  Checked sent = report.communication.bytesPerDevice;
  for (const Report::Transfer &transfer : pipeline.transfers) {
    int64_t from = transfer.fromStage % parts.shape.stages;
    bool sends = from == pipeline.partition.heaviest ||
                 (parts.shape.isFolded() &&
                  parts.shape.stages - 1 - from == pipeline.partition.heaviest);
    if (transfer.tier.empty() || !sends)
      continue;
    Report::CollectiveRow row;
    row.kind = "transfer";
    row.name = "stage " + std::to_string(transfer.fromStage) + " to " +
               std::to_string(transfer.toStage);
    row.axes = plan.axesOf(Degree::pp);
    row.groupSize = 2;
    row.count = parts.shape.passes() * transfer.count;
    row.bytes = row.wireBytesPerDevice = transfer.bytes;
    row.timeUs = transfer.timeUs;
    sent += Checked(row.bytes) * row.count;
    report.communication.collectives.push_back(std::move(row));
  }
  report.communication.bytesPerDevice = sent.int64().value_or(INT64_MAX);
}

void PipelineEvaluator::addWork() {
  const Report &heaviest = stageOf(pipeline.partition.heaviest);
  report.flops.perDevice = heaviest.flops.perDevice;
  report.communication = heaviest.communication;
  report.latency = heaviest.latency;
  report.prefillSteps = heaviest.prefillSteps;
  report.byOp = heaviest.byOp;
  report.byLayer = heaviest.byLayer;
}

/// Sets the step time to that of the schedule. Time that the heaviest stage
/// does not use is waiting; in a program with backwards it counts as work of
/// this stage.
void PipelineEvaluator::addStep() {
  auto &latency = report.latency;
  const std::optional<EvaluatedIteration> &iteration = result.iteration;
  if (iteration) {
    takeIteration(*iteration, report);
  } else if (isTraining(*plan.pipeline.schedule)) {
    constexpr double times = trainingPasses;
    latency.computeTimeUs *= times;
    latency.memoryTimeUs *= times;
    latency.communicationTimeUs *= times;
    double host = hostTimeUs(parts.runtime, parts.workload, replicasOf(plan)) *
                  static_cast<double>(parts.shape.passes());
    latency.overheadTimeUs = (latency.overheadTimeUs - host) * times + host;
    latency.hostTimeUs = (latency.hostTimeUs - host) * times + host;
  }
  auto sum = [&] {
    return latency.computeTimeUs + latency.memoryTimeUs +
           latency.communicationTimeUs + latency.overheadTimeUs;
  };
  if (parts.shape.isFolded() && !iteration) {
    // The communication of one direction that runs while the other direction
    // computes.
    const auto &devices = pipeline.timeline.devices;
    double hidden =
        sum() - toMicroseconds(devices[pipeline.partition.heaviest].busyPs);
    latency.communicationTimeUs -=
        std::clamp(hidden, 0.0, latency.communicationTimeUs);
  }
  double busy = sum();
  // A single stage never waits. Its time is not taken from the schedule, which
  // rounds to whole picoseconds.
  latency.stepTimeUs = parts.shape.stages > 1 || iteration
                           ? toMicroseconds(pipeline.stepPs)
                           : busy;
  latency.pipelineTimeUs = std::max(0.0, latency.stepTimeUs - busy);
  double largest =
      std::max({latency.computeTimeUs, latency.memoryTimeUs,
                latency.communicationTimeUs, latency.overheadTimeUs});
  if (latency.pipelineTimeUs > largest)
    latency.bound = "pipeline";
  report.tokensPerS = latency.stepTimeUs > 0
                          ? tokensOf(whole).real() / latency.stepTimeUs * 1e6
                          : 0;
}

std::optional<Error> PipelineEvaluator::run(bool boundsStages) {
  if (auto error = parts.price())
    return error;
  if (auto error = layOut(boundsStages))
    return error;
  if (auto error = priceStages())
    return error;
  if (auto error = addTransfers())
    return error;
  Result<std::optional<TrainingReport::Copies>> summed = copiesOf(parts);
  if (!summed)
    return summed.error();
  copies = std::move(*summed);
  if (auto error = simulate())
    return error;
  addMemory();
  addWork();
  addTransferRows();
  if (result.iteration)
    addCopiesRow(*result.iteration, report);
  addStep();
  if (!result.iteration)
    return std::nullopt;
  result.iteration->fullest = result.fullest;
  report.training = trainingOf(*result.iteration, report);
  return std::nullopt;
}

Result<std::unique_ptr<EvaluatedPipeline>>
autopar::evaluation::evaluatePipeline(const PlanInputs &inputs,
                                      bool boundsStages) {
  auto result = std::make_unique<EvaluatedPipeline>(inputs);
  if (auto error = result->parts.prepare(inputs.workload))
    return *error;
  if (auto error = checkSchedule(inputs))
    return *error;
  Result<std::unique_ptr<EvaluatedStep>> whole =
      evaluateStep(inputs, result->strategy, layoutOf(inputs));
  if (!whole)
    return whole.error();
  result->whole = std::move(*whole);
  result->report = result->whole->report;
  result->report.pipeline.emplace();
  if (auto error = PipelineEvaluator(*result).run(boundsStages))
    return *error;
  return result;
}
