//===- TrainingTest.cpp - Reports of iterations ---------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Cost/TrainingFixtures.h"

#include "autopar/Estimate/Estimate.h"
#include "autopar/Evaluate/Pipeline.h"
#include "autopar/Write/Json.h"
#include "autopar/Write/Text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

using namespace autopar;
using namespace autopar::estimation;
using namespace autopar::evaluation;
using namespace autopar::hardware;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::runtime;
using namespace autopar::schedule;
using namespace autopar::test;
using namespace autopar::writing;
using nlohmann::json;

static Runtime makeTrainer() {
  Runtime runtime = makeRuntime();
  runtime.training = makeTrainingFigures();
  return runtime;
}

static Report trained(const Plan &plan, const Workload &workload,
                      const Runtime &runtime = makeTrainer(),
                      bool explain = false,
                      const CostProgram &program = makeTrained()) {
  Result<Report> report =
      estimate(program, plan, makeMachine(8), runtime, workload, {explain});
  EXPECT_TRUE(report) << (report ? "" : report.error().str());
  return report ? *report : Report();
}

//===----------------------------------------------------------------------===//
// Numbers by hand
//===----------------------------------------------------------------------===//

/// One device: 8 layers of 1024 x 4096 and a head of 32000 x 1024, 2 sequences
/// of 512 tokens at once.
TEST(Training, CountsByHand) {
  Report report = trained(makeTrainingPlan(1, 1, 1, 4), train(8, 512));
  const TrainingReport &training = *report.training;
  int64_t layer = 1024 * 4096, head = 1024 * 32000;
  int64_t parameters = 8 * layer + 2 * head;
  EXPECT_EQ(report.model.parameters, parameters);
  EXPECT_EQ(training.flops.forward, Checked(2 * 8 * 512) * (8 * layer + head));
  EXPECT_EQ(training.flops.backward, training.flops.forward * 2);
  EXPECT_EQ(modelFlops(training), hardwareFlops(training));
  const Report::DeviceMemory &memory = report.memory.perDevice;
  EXPECT_EQ(memory.weightBytes, 2 * parameters);
  EXPECT_EQ(memory.gradientBytes, 4 * parameters);
  EXPECT_EQ(memory.optimizerBytes, 12 * parameters);
  // The input of each product, one microbatch of 2 sequences.
  EXPECT_EQ(memory.savedBytes, 9 * 2 * 512 * 1024 * 2);
  EXPECT_EQ(memory.activationBytes, 2 * 512 * 4096 * 2);
  EXPECT_EQ(memory.totalBytes,
            18 * parameters + memory.savedBytes + memory.activationBytes);
  EXPECT_EQ(memory.kvCacheBytes, 0);
  EXPECT_EQ(training.stages[0].inFlight, 1);
}

/// At peak rates a device multiplies 989.4e12 FLOP/s and moves 3.35e12 B/s;
/// states are read and written.
TEST(Training, TakesTheTimeOfItsSections) {
  Report report = trained(makeTrainingPlan(1, 1, 1, 4), train(8, 512));
  const TrainingReport &training = *report.training;
  double flops = 2.0 * 8 * 512 * (8 * 1024 * 4096 + 1024 * 32000);
  double forward = flops / 989.4e12 * 1e6;
  double states = 2 * 12.0 * static_cast<double>(report.model.parameters);
  EXPECT_NEAR(training.forwardTimeUs, forward, 1e-3);
  EXPECT_NEAR(training.backwardTimeUs, 2 * forward, 1e-3);
  EXPECT_NEAR(training.weightGradientTimeUs, forward, 1e-3);
  EXPECT_NEAR(training.optimizerTimeUs, states / 3.35e12 * 1e6, 1e-3);
  EXPECT_NEAR(training.bubbleTimeUs, 0, 1e-6);
  EXPECT_NEAR(report.latency.stepTimeUs, 3 * forward + training.optimizerTimeUs,
              1e-3);
  EXPECT_NEAR(report.tokensPerS, 8 * 512 / report.latency.stepTimeUs * 1e6,
              1e-3);
  EXPECT_NEAR(training.modelUtilization,
              3 * forward / report.latency.stepTimeUs, 1e-6);
  EXPECT_NEAR(training.hardwareUtilization, training.modelUtilization, 1e-12);
}

/// What is computed again counts for the hardware alone.
TEST(Training, TellsModelFromHardware) {
  CostProgram program = makeTrained();
  Kernel again = program.kernels[1];
  ASSERT_EQ(program.layers[again.layer].section, Section::forward);
  again.layer += 1;
  again.name += ".again";
  again.fusionGroup = program.kernels.size() + 1;
  program.kernels.push_back(again);
  Plan plan = makeTrainingPlan(1, 1, 1, 4);
  Report report = trained(plan, train(8, 512), makeTrainer(), false, program);
  const TrainingReport &training = *report.training;
  Checked layers = Checked(2 * 8 * 512) * 8 * 1024 * 4096;
  EXPECT_EQ(hardwareFlops(training), modelFlops(training) + layers);
  EXPECT_GT(training.hardwareUtilization, training.modelUtilization);
}

/// 1F1B keeps min(p - j, m) microbatches on stage j.
TEST(Training, KeepsWhatIsInFlight) {
  for (int64_t microbatches : {2, 4, 16}) {
    Report report = trained(makeTrainingPlan(4, 1, 1, microbatches),
                            train(microbatches, 512));
    int64_t layer = 512 * 1024 * 2;
    for (int64_t stage = 0; stage < 4; ++stage) {
      int64_t inFlight = std::min(4 - stage, microbatches);
      int64_t values = stage == 3 ? 3 : 2;
      const auto &own = report.training->stages[stage];
      EXPECT_EQ(own.inFlight, inFlight);
      EXPECT_EQ(own.savedBytesPerMicrobatch, values * layer);
      EXPECT_EQ(report.memory.perStage[stage].savedBytes,
                inFlight * values * layer);
    }
  }
}

/// Interleaved, device d keeps min(2(p-1-d) + (v-1)p + 1, m*v) ranges of a
/// layer each (arXiv:2104.04473, section 2.2).
TEST(Training, KeepsWhatInterleavingHasInFlight) {
  Report report =
      trained(makeTrainingPlan(4, 1, 1, 8, ScheduleKind::interleaved, 2),
              train(8, 512));
  for (int64_t device = 0; device < 4; ++device) {
    int64_t inFlight = 2 * (3 - device) + 4 + 1;
    EXPECT_EQ(report.training->stages[device].inFlight, inFlight);
    int64_t saved = report.memory.perStage[device].savedBytes;
    if (device < 3)
      EXPECT_EQ(saved, inFlight * 512 * 1024 * 2);
    else
      EXPECT_GT(saved, inFlight * 512 * 1024 * 2);
  }
}

//===----------------------------------------------------------------------===//
// What overlaps
//===----------------------------------------------------------------------===//

static const TrainingReport::Exposure &
exposureOf(const Report &report, Section section,
           TrainingReport::Exposure::Purpose purpose) {
  for (const auto &row : report.training->exposure)
    if (row.section == section && row.purpose == purpose)
      return row;
  ADD_FAILURE() << nameOf(section) << " " << nameOf(purpose);
  return report.training->exposure.front();
}

using Purpose = TrainingReport::Exposure::Purpose;

/// Reductions run beside the last microbatch's backward, gathers beside the
/// next first forward.
TEST(Training, ExposesWhatComputationDoesNotHide) {
  Plan plan = makeTrainingPlan(1, 8, 1, 2);
  Workload workload = train(16, 512);
  Report report = trained(plan, workload);
  double microbatch = report.training->forwardTimeUs / 2;
  const auto &reduced =
      exposureOf(report, Section::optimizer, Purpose::reduction);
  const auto &gathered =
      exposureOf(report, Section::optimizer, Purpose::gather);
  EXPECT_NEAR(reduced.exposedTimeUs,
              std::max(0.0, reduced.timeUs - 2 * microbatch), 1e-3);
  EXPECT_NEAR(gathered.exposedTimeUs,
              std::max(0.0, gathered.timeUs - microbatch), 1e-3);
  EXPECT_GT(reduced.exposedTimeUs, 0);
  EXPECT_LT(reduced.exposedTimeUs, reduced.timeUs);
  Runtime alone = makeTrainer();
  alone.training->overlapsReductions.value = 0;
  alone.training->overlapsGathers.value = 0;
  Report exposed = trained(plan, workload, alone);
  double hidden = reduced.timeUs - reduced.exposedTimeUs + gathered.timeUs -
                  gathered.exposedTimeUs;
  EXPECT_NEAR(exposed.latency.stepTimeUs, report.latency.stepTimeUs + hidden,
              1e-3);
  Report unsaid = trained(plan, workload, makeRuntime());
  EXPECT_EQ(unsaid.latency.stepTimeUs, exposed.latency.stepTimeUs);
  EXPECT_EQ(unsaid.warnings.back().kind, "not-a-trainer");
}

/// Weights that are gathered and gradients that are scattered in each pass.
TEST(Training, HidesGathersBesideTheirOwnSection) {
  CostProgram program = makeTrained();
  for (Collective &call : program.collectives)
    if (call.ofWeights &&
        program.layers[call.layer].section == Section::optimizer)
      call.layer -= call.kind == CollectiveKind::all_gather ? 2 : 1;
  Report report = trained(makeTrainingPlan(1, 8, 1, 1), train(512, 512),
                          makeTrainer(), false, program);
  // 64 sequences at once hide all.
  for (const auto &row : report.training->exposure)
    EXPECT_EQ(row.exposedTimeUs, 0) << nameOf(row.section);
  EXPECT_NEAR(report.latency.communicationTimeUs, 0, 1e-9);
  Report small = trained(makeTrainingPlan(1, 8, 1, 1), train(8, 512),
                         makeTrainer(), false, program);
  const auto &gathered = exposureOf(small, Section::forward, Purpose::gather);
  double kernels = small.training->forwardTimeUs - gathered.exposedTimeUs;
  EXPECT_NEAR(gathered.exposedTimeUs, gathered.timeUs - kernels, 1e-3);
  EXPECT_GT(gathered.exposedTimeUs, 0);
}

TEST(Training, SharesAreOfAllThatIsLost) {
  Runtime runtime = makeTrainer();
  Plan plan = makeTrainingPlan(2, 2, 2, 4);
  Report before = trained(plan, train(16, 512), runtime);
  runtime.training->stragglerShare.value = 0.1;
  runtime.training->allocatorOverhead.value = 0.25;
  runtime.training->hiddenCommunication.value = 0.5;
  Report after = trained(plan, train(16, 512), runtime);
  const auto &calls = exposureOf(after, Section::forward, Purpose::activations);
  EXPECT_NEAR(calls.exposedTimeUs, calls.timeUs / 2, 1e-3);
  EXPECT_NEAR(after.training->stragglerTimeUs, after.latency.stepTimeUs / 11,
              1e-3);
  const Report::DeviceMemory &memory = after.memory.perDevice;
  EXPECT_EQ(memory.allocatorBytes,
            (memory.savedBytes + memory.activationBytes) / 4);
  EXPECT_EQ(memory.totalBytes,
            before.memory.perDevice.totalBytes + memory.allocatorBytes);
}

//===----------------------------------------------------------------------===//
// Properties
//===----------------------------------------------------------------------===//

/// Stages have all that the whole has, and an iteration is its parts.
TEST(Training, PartsSumToTheWhole) {
  Report whole = trained(makeTrainingPlan(1, 2, 2, 8), train(32, 512));
  for (int64_t stages : {2, 4, 8}) {
    Report staged = trained(makeTrainingPlan(stages, 2, 2, 8), train(32, 512));
    int64_t weights = 0, gradients = 0, optimizer = 0, saved = 0;
    for (size_t i = 0; i < staged.memory.perStage.size(); ++i) {
      const Report::DeviceMemory &stage = staged.memory.perStage[i];
      weights += stage.weightBytes;
      gradients += stage.gradientBytes;
      optimizer += stage.optimizerBytes;
      saved += staged.training->stages[i].savedBytesPerMicrobatch;
    }
    EXPECT_EQ(weights, whole.memory.perDevice.weightBytes);
    EXPECT_EQ(gradients, whole.memory.perDevice.gradientBytes);
    EXPECT_EQ(optimizer, whole.memory.perDevice.optimizerBytes);
    EXPECT_EQ(saved, whole.memory.perDevice.savedBytes);
    EXPECT_EQ(modelFlops(*staged.training), modelFlops(*whole.training));
    const TrainingReport &own = *staged.training;
    EXPECT_NEAR(own.forwardTimeUs + own.backwardTimeUs + own.optimizerTimeUs +
                    own.bubbleTimeUs + own.stragglerTimeUs,
                staged.latency.stepTimeUs, 1e-6);
    EXPECT_GE(own.bubbleTimeUs, 0);
    int64_t alive = 0;
    for (const TrainingReport::SavedValue &value : own.alive)
      alive += value.count * value.bytes;
    EXPECT_EQ(alive, staged.memory.perDevice.savedBytes);
    EXPECT_EQ(own.peakStage, std::stoll(staged.memory.worstDevice.substr(6)));
  }
}

/// What the stage waits is the bubble, whatever the host and floors take.
TEST(Training, WaitsForOthersAlone) {
  Runtime runtime = makeBusyRuntime();
  runtime.training = makeTrainingFigures();
  runtime.training->stragglerShare.value = 0.05;
  for (int64_t stages : {1, 4}) {
    Report report =
        trained(makeTrainingPlan(stages, 2, 2, 8), train(32, 512), runtime);
    const TrainingReport &training = *report.training;
    EXPECT_NEAR(report.latency.pipelineTimeUs,
                training.bubbleTimeUs + training.stragglerTimeUs, 1e-6);
    EXPECT_GE(training.bubbleTimeUs, -1e-6);
  }
}

/// 3.6 $/h for each of 8 devices that draw 700 W.
TEST(Training, CostsWhatItsDevicesDo) {
  Machine machine = makeMachine();
  machine.price = Figure{3.6, {"user", "test"}, "systems.m.price"};
  machine.pools[0].chip.boardPower =
      Figure{700, {"user", "test"}, "chips.c.board_power"};
  Result<Report> report =
      estimate(makeTrained(), makeTrainingPlan(2, 2, 2, 4), machine,
               makeTrainer(), train(16, 512), {/*explain=*/true});
  ASSERT_TRUE(report);
  double seconds = report->latency.stepTimeUs / 1e6;
  EXPECT_NEAR(*report->training->dollars, 0.008 * seconds, 1e-12);
  EXPECT_NEAR(*report->training->joules, 5600 * seconds, 1e-6);
  EXPECT_TRUE(report->derivations.count("training.usd_per_iteration"));
  EXPECT_TRUE(report->derivations.count("training.joules_per_iteration"));
}

static double bubbleShare(const Report &report) {
  return report.pipeline->timeline.bubbleFraction;
}

TEST(Training, MoreMicrobatchesLeaveLessBubble) {
  double before = 1;
  for (int64_t microbatches : {4, 8, 16, 32, 64}) {
    double share = bubbleShare(trained(makeTrainingPlan(4, 1, 1, microbatches),
                                       train(microbatches, 512)));
    EXPECT_LT(share, before) << microbatches;
    before = share;
  }
}

TEST(Training, ZeroBubbleIsNeverSlower) {
  for (int64_t stages : {2, 4, 8})
    for (int64_t microbatches : {8, 16, 24}) {
      auto time = [&](ScheduleKind kind) {
        return trained(makeTrainingPlan(stages, 2, 2, microbatches, kind),
                       train(2 * microbatches, 512))
            .latency.stepTimeUs;
      };
      EXPECT_LE(time(ScheduleKind::zero_bubble),
                time(ScheduleKind::one_f_one_b));
    }
}

/// All schedules compute the same, whatever they wait.
TEST(Training, SchedulesShareTheirWork) {
  for (ScheduleKind kind :
       {ScheduleKind::gpipe, ScheduleKind::one_f_one_b,
        ScheduleKind::zero_bubble, ScheduleKind::dual_pipe}) {
    Report report =
        trained(makeTrainingPlan(4, 1, 1, 16, kind), train(16, 512));
    EXPECT_EQ(report.training->flops.backward,
              report.training->flops.forward * 2);
    EXPECT_GE(report.training->bubbleTimeUs, 0) << nameOf(kind);
    EXPECT_LT(report.training->modelUtilization, 1);
  }
}

TEST(Training, BalancesWithWhatTrainingKeeps) {
  Plan plan = makeTrainingPlan(4, 1, 1, 8);
  plan.pipeline.stages.clear();
  Result<StagingProblem> problem = stagingProblem(
      makeTrained(), plan, makeMachine(8), makeTrainer(), train(8, 512));
  ASSERT_TRUE(problem);
  Report whole = trained(makeTrainingPlan(1, 1, 1, 8), train(8, 512));
  LayerCost sum = problem->embedding;
  auto add = [&](const LayerCost &cost) {
    sum.timePs += cost.timePs;
    sum.memoryBytes += cost.memoryBytes;
    sum.savedBytes += cost.savedBytes;
  };
  add(problem->head);
  for (const LayerCost &layer : problem->layers)
    add(layer);
  double time = toMicroseconds(sum.timePs);
  const Report::DeviceMemory &memory = whole.memory.perDevice;
  EXPECT_EQ(sum.memoryBytes,
            memory.weightBytes + memory.gradientBytes + memory.optimizerBytes);
  EXPECT_EQ(sum.savedBytes, memory.savedBytes);
  EXPECT_EQ(problem->inFlight, 8);
  // What the search has of a device, the report has.
  Result<StagePartition> partition = partitionStages(*problem);
  ASSERT_TRUE(partition);
  plan.pipeline.stages = partition->ranges;
  Report staged = trained(plan, train(8, 512));
  for (size_t i = 0; i < 4; ++i)
    EXPECT_EQ(partition->devices[i].memoryBytes,
              staged.pipeline->partition.devices[i].memoryBytes);
  EXPECT_NEAR(8 * time,
              whole.training->forwardTimeUs + whole.training->backwardTimeUs,
              1e-3);
}

TEST(Training, CompletesWhatIsNotSaid) {
  Plan plan = makeTrainingPlan(4, 2, 1, 8);
  plan.pipeline = {};
  PipelinePlan pipeline = completePipeline(plan, train(64, 512));
  EXPECT_EQ(pipeline.schedule, ScheduleKind::one_f_one_b);
  EXPECT_EQ(pipeline.microbatches, 32);
  plan.pipeline.interleave = 2;
  EXPECT_EQ(completePipeline(plan, train(64, 512)).schedule,
            ScheduleKind::interleaved);
}

TEST(Training, RefusesSchedulesWithoutBackwards) {
  Result<Report> report = estimate(
      makeTrained(), makeTrainingPlan(2, 1, 1, 4, ScheduleKind::inference),
      makeMachine(8), makeTrainer(), train(8, 512));
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message,
            "schedule inference runs no backwards, and training has some");
  Plan plan = makeTrainingPlan(1, 1, 1, 1);
  plan.pipeline = {};
  report = estimate(makeTrained(), plan, makeMachine(8), makeTrainer(),
                    train(8, 512));
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message,
            "training goes through stages, and the plan has none");
}

//===----------------------------------------------------------------------===//
// Words and derivations
//===----------------------------------------------------------------------===//

TEST(Training, SaysWhatItIs) {
  std::string text =
      writeText(trained(makeTrainingPlan(2, 2, 2, 4), train(16, 512)));
  for (const char *words :
       {"training on 16 x 512 tokens", "tokens/s trained", "Memory by stage",
        "Saved for the backward at the peak (stage 0)", "Not modelled",
        "gradients reduced"})
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
  EXPECT_EQ(text.find("KV per token"), std::string::npos) << text;
}

TEST(Training, SaysWhatDoesNotFit) {
  Plan plan = makeTrainingPlan(1, 1, 1, 1);
  plan.memoryUtilization = 0.01;
  Report report = trained(plan, train(8, 512));
  EXPECT_FALSE(report.memory.perDevice.fits);
  EXPECT_EQ(report.warnings.front().kind, "does-not-fit");
  EXPECT_NE(report.warnings.front().text.find("largest part: the optimizer"),
            std::string::npos)
      << report.warnings.front().text;
}

/// Paths of all numbers below `value`.
static void collectNumbers(const json &value, const std::string &path,
                           std::vector<std::string> &paths) {
  if (value.is_number())
    paths.push_back(path);
  if (value.is_object())
    for (const auto &[key, member] : value.items())
      collectNumbers(member, path + "." + key, paths);
  if (value.is_array())
    for (size_t i = 0; i < value.size(); ++i)
      collectNumbers(value[i], path + "[" + std::to_string(i) + "]", paths);
}

TEST(Training, NumbersExplainThemselves) {
  for (ScheduleKind kind : {ScheduleKind::one_f_one_b, ScheduleKind::gpipe,
                            ScheduleKind::dual_pipe}) {
    Report report = trained(makeTrainingPlan(4, 2, 2, 8, kind), train(16, 512),
                            makeTrainer(), /*explain=*/true);
    json root = json::parse(writeJson(report));
    std::vector<std::string> paths;
    for (const char *part : {"training", "memory", "latency"})
      collectNumbers(root[part], part, paths);
    for (const std::string &path : paths)
      EXPECT_TRUE(report.derivations.count(path)) << path;
    for (const auto &[path, derivation] : report.derivations) {
      json expected = numberAt(root, path);
      ASSERT_FALSE(expected.is_null()) << path;
      // Of stages that share devices, a derivation is the stage's.
      bool isOfStage = path.rfind("schedule.", 0) == 0;
      if (derivation.formula != "sum of the inputs" || isOfStage)
        continue;
      double sum = 0;
      for (const auto &[name, value] : derivation.inputs)
        sum += std::strtod(value.c_str(), nullptr);
      EXPECT_NEAR(sum, expected.get<double>(),
                  1e-9 * std::max(1.0, std::fabs(sum)))
          << path;
    }
  }
}
