//===- PipelineTest.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Evaluate/Pipeline.h"
#include "autopar/Estimate/Estimate.h"
#include "autopar/Write/Json.h"

#include "../Cost/Fixtures.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <cmath>
#include <numeric>

using namespace autopar;
using namespace autopar::estimation;
using namespace autopar::evaluation;
using namespace autopar::hardware;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::runtime;
using namespace autopar::schedule;
using namespace autopar::test;
using namespace autopar::writing;
using nlohmann::json;

static Plan makeStaged(int64_t stages, int64_t microbatches,
                       ScheduleKind schedule = ScheduleKind::inference,
                       int64_t interleave = 1) {
  Plan plan = makePlan(4);
  plan.axes.insert(plan.axes.begin(), {"pp", stages});
  plan.pipeline.interleave = interleave;
  plan.pipeline.microbatches = microbatches;
  plan.pipeline.schedule = schedule;
  int64_t ranges = stages * interleave;
  for (int64_t i = 0; i < ranges; ++i)
    plan.pipeline.stages.push_back({i * 80 / ranges, (i + 1) * 80 / ranges});
  return plan;
}

static Report priced(const Plan &plan, const Workload &workload,
                     const Runtime &runtime = makeRuntime(),
                     bool explain = false) {
  Result<Report> report =
      estimate(makeStack(), plan, makeMachine(8), runtime, workload, {explain});
  EXPECT_TRUE(report) << (report ? "" : report.error().str());
  return report ? *report : Report();
}

static Runtime makeSlowHost() {
  Runtime runtime = makeRuntime();
  runtime.hostTimeUs.value = 250;
  runtime.kernelFloorUs.value = 2;
  return runtime;
}

TEST(Pipeline, PartsSumToTheWhole) {
  Report whole = priced(makePlan(4), prefill(8, 2048));
  Report staged = priced(makeStaged(4, 2), prefill(8, 2048));
  int64_t weights = 0, caches = 0;
  for (const Report::DeviceMemory &stage : staged.memory.perStage) {
    weights += stage.weightBytes;
    caches += stage.kvCacheBytes;
  }
  EXPECT_EQ(weights, whole.memory.perDevice.weightBytes);
  EXPECT_EQ(caches, whole.memory.perDevice.kvCacheBytes);
  EXPECT_EQ(staged.flops.total, whole.flops.total);
  EXPECT_EQ(staged.model.parameters, whole.model.parameters);
  EXPECT_EQ(staged.workload.batch, 8);
  EXPECT_EQ(staged.memory.kvBytesPerToken, whole.memory.kvBytesPerToken);
  EXPECT_EQ(staged.memory.kvBytesPerTokenPerDevice,
            whole.memory.kvBytesPerTokenPerDevice / 4);
  // A device has a quarter of the layers, for both microbatches.
  Report half = priced(makePlan(4), prefill(4, 2048));
  auto sum = std::accumulate(staged.pipeline->timeline.devices.begin(),
                             staged.pipeline->timeline.devices.end(), 0.0,
                             [](double time, const DeviceTimeline &device) {
                               return time + toMicroseconds(device.busyPs);
                             });
  EXPECT_NEAR(sum, 2 * half.latency.stepTimeUs, 1e-3);
}

/// Microbatches of equal stages: (m + p - 1) stages, and what transfers add.
TEST(Pipeline, PrefillTakesTheClosedForm) {
  Report report = priced(makeStaged(4, 8), prefill(8, 2048));
  const Report::Pipeline &pipeline = *report.pipeline;
  ASSERT_EQ(pipeline.transfers.size(), 3u);
  // 2048 x 8192 in bf16; every node has two stages of four devices.
  EXPECT_EQ(pipeline.transfers[0].bytes, 2048 * 8192 * 2);
  EXPECT_EQ(pipeline.transfers[0].tier, "scale_up");
  EXPECT_EQ(pipeline.transfers[1].tier, "scale_out");
  EXPECT_EQ(pipeline.transfers[2].tier, "scale_up");
  double bytes = 2048 * 8192 * 2;
  EXPECT_NEAR(pipeline.transfers[0].timeUs, 3 + bytes / (450e9 * 0.8) * 1e6,
              1e-6);
  EXPECT_NEAR(pipeline.transfers[1].timeUs, 10 + bytes / (50e9 * 0.5) * 1e6,
              1e-6);
  double heaviest = toMicroseconds(pipeline.partition.heaviestPs());
  double once = 0;
  for (const LayerCost &device : pipeline.partition.devices)
    once += toMicroseconds(device.timePs);
  for (const Report::Transfer &transfer : pipeline.transfers)
    once += transfer.timeUs;
  EXPECT_NEAR(report.latency.stepTimeUs, once + 7 * heaviest, 1e-3);
}

/// A step of decoding: every microbatch through the slowest stage, or one
/// through all of them.
TEST(Pipeline, DecodeTakesTheClosedForm) {
  for (int64_t microbatches : {1, 2, 4, 8}) {
    Report report =
        priced(makeStaged(4, microbatches), decode(64, 4096), makeSlowHost());
    const Report::Pipeline &pipeline = *report.pipeline;
    ASSERT_EQ(pipeline.transfers.size(), 4u);
    // Token ids go back to the first stage.
    EXPECT_EQ(pipeline.transfers[3].bytes, 64 / microbatches * 4);
    EXPECT_EQ(pipeline.transfers[3].toStage, 0);
    double heaviest = 0, once = 0;
    for (const LayerCost &device : pipeline.partition.devices) {
      double time = toMicroseconds(device.timePs) + 250;
      heaviest = std::max(heaviest, time);
      once += time;
    }
    for (const Report::Transfer &transfer : pipeline.transfers)
      once += transfer.timeUs;
    EXPECT_NEAR(report.latency.stepTimeUs,
                std::max(once, static_cast<double>(microbatches) * heaviest),
                1e-3)
        << microbatches;
    EXPECT_NEAR(report.tokensPerS, 64 / report.latency.stepTimeUs * 1e6, 1e-6);
  }
}

/// 1F1B with backwards of two forwards: gpipe's closed form where transfers and
/// the host take no time.
TEST(Pipeline, TrainingHasBackwards) {
  Runtime ideal = makeRuntime();
  ideal.ideal = true;
  for (ScheduleKind kind : {ScheduleKind::gpipe, ScheduleKind::one_f_one_b}) {
    Plan plan = makeStaged(1, 8, kind);
    Report report = priced(plan, prefill(8, 2048), ideal);
    Report one = priced(makePlan(4), prefill(1, 2048), ideal);
    EXPECT_NEAR(report.latency.stepTimeUs, 24 * one.latency.stepTimeUs, 1e-3);
    EXPECT_EQ(report.warnings.back().kind, "training-memory");
  }
  Result<Report> refused =
      estimate(makeStack(), makeStaged(4, 4, ScheduleKind::gpipe),
               makeMachine(8), ideal, decode(8, 512));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "schedule gpipe runs backwards, and a decode step has none");
}

/// Both ends of dual_pipe: each device has two stages' weights.
TEST(Pipeline, DualPipeHoldsParametersTwice) {
  auto weights = [](ScheduleKind kind) {
    Report report = priced(makeStaged(4, 8, kind), prefill(8, 2048));
    int64_t sum = 0;
    for (const Report::DeviceMemory &stage : report.memory.perStage)
      sum += stage.weightBytes;
    return sum;
  };
  EXPECT_EQ(weights(ScheduleKind::dual_pipe),
            2 * weights(ScheduleKind::one_f_one_b));
}

/// Folded, devices are balanced: layers that weigh more in the first half are
/// met by fewer in the last.
TEST(Pipeline, FoldsStagesOfDualPipe) {
  Plan plan = makeStaged(4, 8, ScheduleKind::dual_pipe);
  plan.pipeline.stages.clear();
  Result<StagingProblem> problem = stagingProblem(
      makeStack(), plan, makeMachine(8), makeRuntime(), prefill(8, 2048));
  ASSERT_TRUE(problem);
  EXPECT_TRUE(problem->folded);
  Result<StagePartition> partition = partitionStages(*problem);
  ASSERT_TRUE(partition);
  plan.pipeline.stages = partition->ranges;
  Report report = priced(plan, prefill(8, 2048));
  const Report::Pipeline &pipeline = *report.pipeline;
  for (int64_t device = 0; device < 4; ++device) {
    // Four microbatches of each stage, three times the work of a forward; what
    // is sent of one direction is hidden by the other.
    double busy = toMicroseconds(pipeline.timeline.devices[device].busyPs);
    double work =
        24 * toMicroseconds(pipeline.partition.devices[device].timePs);
    EXPECT_LT(busy, work);
    EXPECT_GT(busy, 0.85 * work);
    EXPECT_EQ(pipeline.partition.devices[device].timePs,
              pipeline.partition.devices[3 - device].timePs);
  }
  EXPECT_NEAR(report.latency.stepTimeUs,
              toMicroseconds(pipeline.timeline.makespanPs), 1e-3);
  EXPECT_LE(report.latency.pipelineTimeUs, 0.3 * report.latency.stepTimeUs);
}

TEST(Pipeline, GivesEveryReplicaASequence) {
  Plan plan = makePlan(4);
  plan.axes.insert(plan.axes.begin(), {{"pp", 4}, {"dp", 8}});
  EXPECT_EQ(completePipeline(plan, prefill(8, 128)).microbatches, 1);
  EXPECT_EQ(completePipeline(plan, prefill(16, 128)).microbatches, 2);
  EXPECT_EQ(completePipeline(plan, prefill(64, 128)).microbatches, 4);
  plan.pipeline.schedule = ScheduleKind::dual_pipe;
  EXPECT_EQ(completePipeline(plan, prefill(64, 128)).microbatches, 8);
  EXPECT_EQ(completePipeline(plan, prefill(60, 128)).microbatches, 10);
  plan.pipeline.schedule = ScheduleKind::interleaved;
  plan.pipeline.interleave = 2;
  EXPECT_EQ(completePipeline(plan, prefill(24, 128)).microbatches, 4);
  EXPECT_EQ(completePipeline(plan, prefill(6, 128)).microbatches, 1);
}

TEST(Pipeline, RefusesAnAxisThatSplitsTensors) {
  Plan plan = makePlan(4);
  plan.degrees.push_back({"pp", {"tp"}});
  plan.pipeline = {1, {}, ScheduleKind::inference, 1};
  for (int64_t i = 0; i < 4; ++i)
    plan.pipeline.stages.push_back({20 * i, 20 * i + 20});
  Result<Report> report = estimate(makeStack(), plan, makeMachine(),
                                   makeRuntime(), prefill(8, 128));
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message,
            "axis 'tp' splits tensors: pipeline stages need an axis of their "
            "own");
}

TEST(Pipeline, CompletesWhatIsNotSaid) {
  Plan plan = makePlan(4);
  plan.axes.insert(plan.axes.begin(), {"pp", 4});
  PipelinePlan pipeline = completePipeline(plan, prefill(6, 128));
  EXPECT_EQ(pipeline.interleave, 1);
  EXPECT_EQ(pipeline.schedule, ScheduleKind::inference);
  EXPECT_EQ(pipeline.microbatches, 3);
  EXPECT_EQ(completePipeline(plan, prefill(7, 128)).microbatches, 1);
  EXPECT_EQ(completePipeline(plan, prefill(8, 128)).microbatches, 4);
  plan.pipeline.interleave = 2;
  EXPECT_EQ(completePipeline(plan, prefill(8, 128)).schedule,
            ScheduleKind::interleaved);
}

/// Balanced, the head of 128,256 words takes layers off the last stage.
TEST(Pipeline, BalancesByCost) {
  Plan plan = makeStaged(8, 1);
  plan.pipeline.stages.clear();
  Result<StagingProblem> problem = stagingProblem(
      makeStack(), plan, makeMachine(8), makeRuntime(), decode(256, 512));
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->layers.size(), 80u);
  EXPECT_GT(problem->head.timePs, problem->layers[0].timePs);
  Result<StagePartition> partition = partitionStages(*problem);
  ASSERT_TRUE(partition);
  EXPECT_TRUE(partition->optimal());
  EXPECT_LT(partition->ranges.back().end - partition->ranges.back().begin, 10);
  EXPECT_LT(partition->heaviestPs(), equalCountsTime(*problem));
}

TEST(Pipeline, RefusesBadMicrobatchesAndRanges) {
  auto refused = [](const Plan &plan) {
    Result<Report> report = estimate(makeStack(), plan, makeMachine(8),
                                     makeRuntime(), prefill(6, 128));
    return report ? "" : report.error().str();
  };
  EXPECT_EQ(refused(makeStaged(4, 4)),
            "a batch of 6 does not divide into 4 microbatches\n"
            "  note: microbatches that work: 1, 2, 3, 6");
  Plan plan = makeStaged(4, 2);
  plan.pipeline.stages.back().end = 79;
  EXPECT_EQ(refused(plan), "the ranges end at layer 78\n"
                           "  note: the last one ends at layer 79");
  plan.pipeline.stages.pop_back();
  EXPECT_NE(refused(plan).find("3 ranges for 4 stages"), std::string::npos)
      << refused(plan);
}

//===----------------------------------------------------------------------===//
// Derivations
//===----------------------------------------------------------------------===//

static void checkSums(const Report &report) {
  json root = json::parse(writeJson(report));
  int sums = 0;
  for (const auto &[path, derivation] : report.derivations) {
    json expected = numberAt(root, path);
    ASSERT_FALSE(expected.is_null() && path != "latency.pipeline_time_us")
        << path << " is not in the report";
    if (derivation.formula != "sum of the inputs" || expected.is_null())
      continue;
    ++sums;
    double sum = 0;
    for (const auto &[name, value] : derivation.inputs)
      sum += std::strtod(value.c_str(), nullptr);
    EXPECT_NEAR(sum, expected.get<double>(),
                1e-9 * std::max(1.0, std::fabs(sum)))
        << path;
  }
  EXPECT_GE(sums, 20);
}

TEST(Pipeline, NumbersExplainThemselves) {
  for (ScheduleKind kind : {ScheduleKind::inference, ScheduleKind::one_f_one_b})
    checkSums(priced(makeStaged(4, 2, kind), prefill(4, 2048), makeSlowHost(),
                     /*explain=*/true));
  checkSums(priced(makeStaged(4, 2), decode(64, 4096), makeSlowHost(),
                   /*explain=*/true));
  checkSums(priced(makeStaged(2, 4, ScheduleKind::interleaved, 2),
                   prefill(4, 2048), makeSlowHost(), /*explain=*/true));
}
