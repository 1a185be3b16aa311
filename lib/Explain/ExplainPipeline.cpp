//===- ExplainPipeline.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TrainingParts.h"

#include <algorithm>
#include <array>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::explanation;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;

namespace {

/// Derives the numbers of a pipeline's report. They come from the whole model,
/// from one of its stages, or from several stages, and so do their derivations.
class PipelineExplainer {
public:
  explicit PipelineExplainer(const EvaluatedPipeline &evaluated)
      : evaluated(evaluated), parts(evaluated.parts), report(evaluated.report),
        pipeline(*report.pipeline), result(explain(*evaluated.whole)) {
    for (const auto &[counts, stage] : evaluated.stages)
      ofStages[stage.get()] = explain(*stage);
  }
  Explanations run();

private:
  void drop(const std::string &prefix);
  const Derivations &of(const EvaluatedStep &stage) const {
    return ofStages.at(&stage).derivations;
  }
  void take(const EvaluatedStep &stage, const std::string &prefix);
  void takeRenamed(int64_t stage, const std::string &path,
                   const std::string &as);
  void explainMemory();
  const std::string &tierOf(const Report::CollectiveRow &row) const;
  void explainTransfer(const std::string &folder,
                       const Report::CollectiveRow &row);
  void explainCopiesRow(const std::string &folder,
                        const Report::CollectiveRow &row);
  void explainSent();
  void explainAssumedBackwards();
  void explainStep();
  void explainSchedule();
  void explainTimeline();
  void explainPartition();
  void explainMessages();

  void add(const std::string &path, std::string formula,
           Explanation explanation) {
    explanation.derivation.formula = std::move(formula);
    result.derivations[path] = std::move(explanation.derivation);
  }

  const EvaluatedPipeline &evaluated;
  const PipelineParts &parts;
  const Report &report;
  const Report::Pipeline &pipeline;
  /// The derivations, first those of the whole model; those of stages are
  /// added.
  Explanations result;
  std::map<const EvaluatedStep *, Explanations> ofStages;
};

} // namespace

static const std::string deviceFolder = "memory.per_device.";

static bool begins(const std::string &path, const std::string &prefix) {
  return path.compare(0, prefix.size(), prefix) == 0;
}

static std::string stageFolder(int64_t stage) {
  return "memory.per_stage[" + std::to_string(stage) + "].";
}

void PipelineExplainer::drop(const std::string &prefix) {
  auto &all = result.derivations;
  for (auto it = all.begin(); it != all.end();)
    it = begins(it->first, prefix) ? all.erase(it) : std::next(it);
}

/// Replaces the derivations of all paths that begin with `prefix` by those of
/// one stage.
void PipelineExplainer::take(const EvaluatedStep &stage,
                             const std::string &prefix) {
  drop(prefix);
  for (const auto &[path, derivation] : of(stage))
    if (begins(path, prefix))
      result.derivations[path] = derivation;
}

/// Takes the derivation of `path` from a stage. The device in the path becomes
/// that of the stage.
void PipelineExplainer::takeRenamed(int64_t stage, const std::string &path,
                                    const std::string &as) {
  const Derivations &own = of(*evaluated.byDevice[stage]);
  auto it = own.find(path);
  if (it == own.end())
    return;
  Derivation derivation = it->second;
  for (auto &[name, value] : derivation.inputs)
    if (begins(name, deviceFolder))
      name = stageFolder(stage) + name.substr(deviceFolder.size());
  result.derivations[as] = std::move(derivation);
}

void PipelineExplainer::explainMemory() {
  take(*evaluated.byDevice[evaluated.fullest], deviceFolder);
  take(*evaluated.byDevice[evaluated.fullest], "memory.budget_bytes");
  drop("memory.per_stage[");
  auto count = static_cast<int64_t>(evaluated.byDevice.size());
  for (int64_t stage = 0; stage < count; ++stage)
    for (const auto &[path, derivation] : of(*evaluated.byDevice[stage]))
      if (begins(path, deviceFolder))
        takeRenamed(stage, path,
                    stageFolder(stage) + path.substr(deviceFolder.size()));
  for (const char *path :
       {"memory.kv_capacity_bytes", "memory.kv_capacity_tokens",
        "capacity.replicas", "capacity.sequences_per_replica",
        "capacity.sequences", "capacity.tokens", "capacity.tokens_per_device"})
    takeRenamed(evaluated.scarcest, path, path);
  const char *perToken = "memory.kv_bytes_per_token_per_device";
  for (int64_t stage = 0; stage < count; ++stage)
    if (evaluated.byDevice[stage]->report.memory.kvBytesPerTokenPerDevice ==
        report.memory.kvBytesPerTokenPerDevice)
      return takeRenamed(stage, perToken, perToken);
}

/// Returns the tier over which the row's message is sent.
const std::string &
PipelineExplainer::tierOf(const Report::CollectiveRow &row) const {
  if (!isTransfer(row))
    return report.training->copiedGradients->tier;
  return std::find_if(pipeline.transfers.begin(), pipeline.transfers.end(),
                      [&](const Report::Transfer &transfer) {
                        return row.name ==
                               "stage " + std::to_string(transfer.fromStage) +
                                   " to " + std::to_string(transfer.toStage);
                      })
      ->tier;
}

void PipelineExplainer::explainTransfer(const std::string &folder,
                                        const Report::CollectiveRow &row) {
  add(folder + "group_size", "the input",
      Explanation().input("devices", row.groupSize, "two neighbours"));
  add(folder + "count", "the input",
      Explanation().input("schedule.microbatches", row.count,
                          "once per step of a microbatch"));
  add(folder + "bytes", "the input",
      Explanation()
          .input("transfer", row.bytes)
          .note("bytes that the first layer of " +
                row.name.substr(row.name.rfind(' ') + 1) +
                " receives, per microbatch"));
  add(folder + "wire_bytes_per_device", "the input",
      Explanation().input(folder + "bytes", row.wireBytesPerDevice));
}

void PipelineExplainer::explainCopiesRow(const std::string &folder,
                                         const Report::CollectiveRow &row) {
  add(folder + "group_size", "the input",
      Explanation().input("devices", row.groupSize,
                          "devices of the first and of the last stage"));
  add(folder + "count", "the input",
      Explanation().input("iterations", row.count));
  add(folder + "bytes", "the input",
      Explanation().input("training.copied_gradients.bytes", row.bytes));
  add(folder + "wire_bytes_per_device",
      "ceil(2 * (group_size - 1) / group_size * bytes)",
      Explanation()
          .input(folder + "group_size", row.groupSize)
          .input(folder + "bytes", row.bytes));
}

/// Explains the rows that follow after the collectives of the heaviest stage.
void PipelineExplainer::explainSent() {
  const auto &rows = report.communication.collectives;
  Explanation sent;
  auto &own = result.derivations["communication.bytes_per_device"];
  sent.derivation = own;
  for (size_t i = evaluated.heaviest().report.communication.collectives.size();
       i < rows.size(); ++i) {
    const Report::CollectiveRow &row = rows[i];
    std::string folder =
        "communication.collectives[" + std::to_string(i) + "].";
    bool isMessage = isTransfer(row);
    if (isMessage)
      explainTransfer(folder, row);
    else
      explainCopiesRow(folder, row);
    Explanation time = explainPair(
        parts.machine.pools.front(), parts.runtime.ideal,
        isMessage ? CollectiveKind::permute : CollectiveKind::all_reduce,
        tierOf(row), folder, row.bytes);
    result.derivations[folder + "time_us"] = std::move(time.derivation);
    sent.input(row.name, Checked(row.wireBytesPerDevice) * row.count,
               times(std::to_string(row.count),
                     std::to_string(row.wireBytesPerDevice) + " B"));
  }
  own = std::move(sent.derivation);
}

/// Explains backwards that are assumed to take twice the time of forwards; the
/// host waits as often as without them.
void PipelineExplainer::explainAssumedBackwards() {
  const auto &forward = evaluated.heaviest().report.latency;
  const auto &latency = report.latency;
  std::array<std::tuple<const char *, double, double>, 5> partsOfStep = {
      {{"compute", forward.computeTimeUs, latency.computeTimeUs},
       {"memory", forward.memoryTimeUs, latency.memoryTimeUs},
       {"communication", forward.communicationTimeUs,
        latency.communicationTimeUs},
       {"overhead", forward.overheadTimeUs, latency.overheadTimeUs},
       {"host", forward.hostTimeUs, latency.hostTimeUs}}};
  for (auto [name, once, all] : partsOfStep)
    add(std::string("latency.") + name + "_time_us", "sum of the inputs",
        Explanation()
            .input("forwards", once)
            .input("backwards", all - once)
            .note("a backward is " + std::to_string(trainingPasses - 1) +
                  " forwards: schedule.backward"));
}

void PipelineExplainer::explainStep() {
  const auto &latency = report.latency;
  Explanation step;
  step.input("latency.compute_time_us", latency.computeTimeUs)
      .input("latency.memory_time_us", latency.memoryTimeUs)
      .input("latency.communication_time_us", latency.communicationTimeUs)
      .input("latency.overhead_time_us", latency.overheadTimeUs);
  Explanation waits = step;
  add("latency.pipeline_time_us",
      "step - compute_time_us - memory_time_us - communication_time_us - "
      "overhead_time_us",
      waits.input("step", latency.stepTimeUs)
          .note("the schedule's time of a step, less the work of its heaviest "
                "stage"));
  add("latency.step_time_us", "sum of the inputs",
      step.input("latency.pipeline_time_us", latency.pipelineTimeUs));
  Derivation &rate = result.derivations["throughput.tokens_per_s"];
  for (auto &[name, value] : rate.inputs)
    if (name == "latency.step_time_us")
      value = decimal(latency.stepTimeUs);
}

void PipelineExplainer::explainSchedule() {
  auto name = [&](uint32_t layer) {
    std::string text;
    for (const KindCount &kind : parts.program.stack.layers[layer].kinds)
      text += (text.empty() ? "" : "+") + parts.program.layers[kind.layer].name;
    return text;
  };
  const StagePartition &partition = pipeline.partition;
  for (size_t i = 0; i < partition.ranges.size(); ++i) {
    int64_t device = static_cast<int64_t>(i) % partition.stages;
    Derivation &own = result.derivations["schedule.per_stage[" +
                                         std::to_string(device) + "].time_us"];
    Explanation sum;
    sum.derivation = std::move(own);
    sum.derivation.formula = "sum of the inputs";
    if (i == 0)
      sum.input("before", toMicroseconds(parts.pricer.before.cost.timePs),
                "operations before the layers");
    for (int64_t at = partition.ranges[i].begin;
         at < partition.ranges[i].end;) {
      int64_t end = at;
      while (end < partition.ranges[i].end &&
             parts.pricer.partOf[end] == parts.pricer.partOf[at])
        ++end;
      Picoseconds each = parts.pricer.layer(at).cost.timePs;
      sum.input(name(parts.order[at]), toMicroseconds(each * (end - at)),
                times(std::to_string(end - at),
                      decimal(toMicroseconds(each)) + " us"));
      at = end;
    }
    if (i + 1 == partition.ranges.size())
      sum.input("after", toMicroseconds(parts.pricer.after.cost.timePs),
                "operations after the layers");
    own = std::move(sum.derivation);
  }
}

/// Explains the numbers of the simulated schedule.
void PipelineExplainer::explainTimeline() {
  const PipelineTimeline &timeline = pipeline.timeline;
  std::string simulated =
      "simulation of schedule " + std::string(nameOf(timeline.kind));
  auto stages = static_cast<double>(timeline.devices.size());
  double makespanUs = toMicroseconds(timeline.makespanPs), busyUs = 0;
  const char *makespan = "schedule.makespan_time_us";
  for (size_t i = 0; i < timeline.devices.size(); ++i) {
    const DeviceTimeline &device = timeline.devices[i];
    std::string folder = "schedule.per_stage[" + std::to_string(i) + "].";
    double ownUs = toMicroseconds(device.busyPs);
    busyUs += ownUs;
    add(folder + "busy_time_us", "given",
        Explanation().from(simulated + ": the stage's tasks"));
    add(folder + "peak_in_flight", "given", Explanation().from(simulated));
    add(folder + "idle_time_us", "makespan_time_us - busy_time_us",
        Explanation()
            .input(makespan, makespanUs)
            .input(folder + "busy_time_us", ownUs));
  }
  add(makespan, "given",
      Explanation().from(simulated + ": the end of its last task"));
  add("schedule.bubble_fraction", "1 - busy / (stages * makespan_time_us)",
      Explanation()
          .input("busy", busyUs, "all stages")
          .input("schedule.stages", stages)
          .input(makespan, makespanUs));
}

/// Explains how layers were divided into stages.
void PipelineExplainer::explainPartition() {
  const StagePartition &partition = pipeline.partition;
  for (const char *name : {"stages", "interleave", "microbatches", "steps"})
    add(std::string("schedule.") + name, "given",
        Explanation().from("parallel.stages"));
  std::string split = "split of the layers, by lib/Schedule";
  for (const char *name :
       {"heaviest_stage", "above_next_time_us", "above_mean_time_us", "gap"})
    add(std::string("schedule.") + name, "given", Explanation().from(split));
  double heaviestUs = toMicroseconds(partition.heaviestPs());
  double equalUs = toMicroseconds(pipeline.equalCountsPs);
  add("schedule.heaviest_time_us", "the input",
      Explanation().input("schedule.per_stage[" +
                              std::to_string(partition.heaviest) + "].time_us",
                          heaviestUs));
  add("schedule.equal_counts_time_us", "given",
      Explanation().from(
          "the slowest stage of the best split with equal numbers of layers"));
  if (equalUs > 0)
    add("schedule.gain_over_equal_counts",
        "1 - heaviest_time_us / equal_counts_time_us",
        Explanation()
            .input("schedule.heaviest_time_us", heaviestUs)
            .input("schedule.equal_counts_time_us", equalUs));
  for (size_t i = 0; i < partition.devices.size(); ++i)
    add("schedule.per_stage[" + std::to_string(i) + "].memory_bytes", "given",
        Explanation().from("weights, KV caches and states of its layers, as "
                           "the search for a split counts them"));
}

void PipelineExplainer::explainMessages() {
  for (size_t i = 0; i < pipeline.transfers.size(); ++i) {
    const Report::Transfer &transfer = pipeline.transfers[i];
    std::string folder = "schedule.transfers[" + std::to_string(i) + "].";
    add(folder + "bytes", "given",
        Explanation().from("bytes that the next stage's first layer receives, "
                           "per microbatch"));
    Explanation time;
    time.input(folder + "bytes", transfer.bytes);
    add(folder + "time_us", "given",
        time.from(transfer.tier.empty() ? "both are on one device"
                                        : "one message over " + transfer.tier));
  }
}

Explanations PipelineExplainer::run() {
  const EvaluatedStep &heaviest = evaluated.heaviest();
  if (parts.strategy.trains)
    explainTrainingFlops(*evaluated.whole, result.derivations);
  result.byKernel = ofStages.at(&heaviest).byKernel;
  explainMemory();
  take(heaviest, "flops.per_device");
  take(heaviest, "communication.");
  take(heaviest, "latency.");
  take(heaviest, "breakdown.");
  take(heaviest, "prefill_steps[");
  explainSent();
  result.waterfall.clear();
  if (evaluated.assumesBackwards())
    explainAssumedBackwards();
  else
    result.waterfall = waterfallOf(report);
  explainStep();
  explainSchedule();
  explainTimeline();
  explainPartition();
  explainMessages();
  if (evaluated.iteration)
    explainTraining(*evaluated.iteration, report, result.derivations);
  return std::move(result);
}

Explanations autopar::explanation::explain(const EvaluatedPipeline &pipeline) {
  return PipelineExplainer(pipeline).run();
}
