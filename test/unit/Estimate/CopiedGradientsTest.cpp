//===- CopiedGradientsTest.cpp - Gradients that two stages have -----------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Cost/TrainingFixtures.h"

#include "autopar/Estimate/Estimate.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::estimation;
using namespace autopar::hardware;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::runtime;
using namespace autopar::schedule;
using namespace autopar::test;

using Purpose = TrainingReport::Exposure::Purpose;

/// The table of 32,000 x 1,024 is the head's, too.
static CostProgram makeTied() {
  CostProgram program = makeTrained();
  constexpr uint32_t head = 6;
  EXPECT_EQ(program.layers[head].name, "head");
  for (Resident &resident : program.residents)
    if (resident.name == "embed")
      resident.readers.push_back(head);
  return program;
}

static Report trained(const CostProgram &program, const Plan &plan,
                      int64_t nodes = 1) {
  Runtime runtime = makeRuntime();
  runtime.training = makeTrainingFigures();
  Result<Report> report = estimate(program, plan, makeMachine(nodes), runtime,
                                   train(16, 512), {/*explain=*/true});
  EXPECT_TRUE(report) << (report ? "" : report.error().str());
  return report ? *report : Report();
}

static const Report::CollectiveRow *copiesRow(const Report &report) {
  for (const Report::CollectiveRow &row : report.communication.collectives)
    if (row.purpose == Purpose::copies)
      return &row;
  return nullptr;
}

/// Of fp32, at 450 GB/s * 0.8 behind 3 us.
constexpr int64_t tableBytes = 4 * 32000 * 1024;
constexpr double inNodeUs = 3 + tableBytes / 360e3;

/// The first stage, which has its gradients last, waits for the sum.
TEST(CopiedGradients, AddToTheIteration) {
  Plan plan = makeTrainingPlan(4, 1, 2, 8);
  Report tied = trained(makeTied(), plan), apart = trained(makeTrained(), plan);
  ASSERT_TRUE(tied.training->copiedGradients);
  EXPECT_EQ(tied.training->copiedGradients->bytes, tableBytes);
  EXPECT_EQ(tied.training->copiedGradients->tier, "scale_up");
  EXPECT_NEAR(tied.training->copiedGradients->timeUs, inNodeUs, 1e-6);
  EXPECT_NEAR(tied.latency.stepTimeUs - apart.latency.stepTimeUs, inNodeUs,
              1e-5);
  EXPECT_FALSE(apart.training->copiedGradients);
  EXPECT_EQ(copiesRow(apart), nullptr);
}

/// Its time is the optimizer's, and nothing hides it.
TEST(CopiedGradients, AreWhatTheHeaviestStageSends) {
  Report report = trained(makeTied(), makeTrainingPlan(4, 1, 2, 8));
  ASSERT_EQ(report.pipeline->partition.heaviest, 3);
  const Report::CollectiveRow *row = copiesRow(report);
  ASSERT_TRUE(row);
  EXPECT_EQ(row->kind, "all_reduce");
  EXPECT_EQ(row->section, Section::optimizer);
  EXPECT_EQ(row->groupSize, 2);
  EXPECT_EQ(row->count, 1);
  EXPECT_EQ(row->wireBytesPerDevice, tableBytes);
  EXPECT_EQ(row->axes, std::vector<std::string>{"pp"});
  bool isExposed = false;
  for (const TrainingReport::Exposure &own : report.training->exposure)
    if (own.purpose == Purpose::copies) {
      isExposed = true;
      EXPECT_NEAR(own.timeUs, inNodeUs, 1e-6);
      EXPECT_EQ(own.exposedShare, 1);
    }
  EXPECT_TRUE(isExposed);
  Report apart = trained(makeTrained(), makeTrainingPlan(4, 1, 2, 8));
  EXPECT_NEAR(report.training->optimizerTimeUs -
                  apart.training->optimizerTimeUs,
              inNodeUs, 1e-5);
  EXPECT_NEAR(report.latency.communicationTimeUs -
                  apart.latency.communicationTimeUs,
              inNodeUs, 1e-5);
}

/// Stages 0 and 3 are on two nodes: 50 GB/s * 0.5 behind 10 us.
TEST(CopiedGradients, GoOverTheTierThatJoinsBothEnds) {
  Report report = trained(makeTied(), makeTrainingPlan(4, 1, 4, 8), 2);
  EXPECT_EQ(report.training->copiedGradients->tier, "scale_out");
  EXPECT_NEAR(report.training->copiedGradients->timeUs, 10 + tableBytes / 25e3,
              1e-6);
  // Two replicas, each on a node.
  report = trained(makeTied(), makeTrainingPlan(2, 2, 4, 4), 2);
  EXPECT_EQ(report.training->copiedGradients->tier, "scale_out");
}

/// A device that has both ends has one copy.
TEST(CopiedGradients, AreNoneOnOneDevice) {
  EXPECT_FALSE(trained(makeTied(), makeTrainingPlan(1, 1, 1, 4))
                   .training->copiedGradients);
  Report folded = trained(
      makeTied(), makeTrainingPlan(4, 1, 1, 16, ScheduleKind::dual_pipe));
  EXPECT_FALSE(folded.training->copiedGradients);
}

/// Virtual stages are on as many devices.
TEST(CopiedGradients, AreThoseOfTheLastDevice) {
  Report report = trained(
      makeTied(), makeTrainingPlan(4, 1, 2, 8, ScheduleKind::interleaved, 2));
  ASSERT_TRUE(report.training->copiedGradients);
  EXPECT_NEAR(report.training->copiedGradients->timeUs, inNodeUs, 1e-6);
}

TEST(CopiedGradients, AreExplained) {
  Report report = trained(makeTied(), makeTrainingPlan(4, 1, 2, 8));
  const Derivation &bytes =
      report.derivations.at("training.copied_gradients.bytes");
  ASSERT_EQ(bytes.inputs.size(), 1);
  EXPECT_EQ(bytes.inputs[0].first, "gradients/model/embed");
  EXPECT_EQ(bytes.inputs[0].second, std::to_string(tableBytes));
  EXPECT_EQ(report.derivations.at("training.copied_gradients.time_us").formula,
            "latency + bytes / (bandwidth * efficiency) * 1e6");
  const Derivation &optimizer =
      report.derivations.at("training.optimizer_time_us");
  EXPECT_TRUE(
      std::any_of(optimizer.inputs.begin(), optimizer.inputs.end(),
                  [](const auto &input) { return input.first == "copies"; }));
}
