//===- KeptWeightsTest.cpp - Weights and their copies, by hand ------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Estimate/Estimate.h"

#include "../Cost/TrainingFixtures.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::estimation;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::runtime;
using namespace autopar::test;

/// Of 8 products of 1024 x 4096, a table and a head of 32000 x 1024 each.
static constexpr int64_t parameters = 8 * 1024 * 4096 + 2 * 32000 * 1024;

/// Weights that are split over replicas as their states are, and gathered
/// before their use; the first state of each is a copy of it.
static CostProgram makeGathered() {
  CostProgram program = makeTrained();
  const Resident *weight = nullptr;
  Resident *kept = nullptr;
  for (Resident &resident : program.residents) {
    if (resident.kind == Resident::Kind::weight) {
      weight = &resident;
      resident.isGathered = true;
    }
    bool isFirst = resident.kind == Resident::Kind::optimizer &&
                   (!kept || kept->name != resident.name);
    if (!isFirst)
      continue;
    kept = &resident;
    kept->isMaster = true;
    program.residents[weight - program.residents.data()].shape = kept->shape;
  }
  return program;
}

static Report::DeviceMemory keptBy(const CostProgram &program, double casts) {
  Runtime runtime = makeRuntime();
  runtime.training = makeTrainingFigures();
  runtime.training->castsGatheredWeights.value = casts;
  Result<Report> report = estimate(program, makeTrainingPlan(1, 4, 1, 4),
                                   makeMachine(8), runtime, train(16, 512), {});
  EXPECT_TRUE(report) << (report ? "" : report.error().str());
  return report ? report->memory.perDevice : Report::DeviceMemory();
}

/// torchtitan keeps 16 bytes of a parameter (pytorch/torchtitan, pull request
/// 1690), of which 4 are the weight that is updated; Megatron's distributed
/// optimizer keeps 2 more, and gradients of all (here: 4 beside them).
TEST(KeptWeights, CastAsTheyAreGathered) {
  Report::DeviceMemory copied = keptBy(makeGathered(), 0);
  EXPECT_EQ(copied.weightBytes, 2 * parameters / 4);
  EXPECT_EQ(copied.optimizerBytes, 12 * parameters / 4);
  Report::DeviceMemory cast = keptBy(makeGathered(), 1);
  EXPECT_EQ(cast.weightBytes, 4 * parameters / 4);
  EXPECT_EQ(cast.optimizerBytes, 8 * parameters / 4);
  EXPECT_EQ(cast.gradientBytes, copied.gradientBytes);
  EXPECT_EQ(copied.totalBytes - cast.totalBytes, 2 * parameters / 4);
}

/// Products read a weight that nobody gathers: it stays beside its copy. So
/// does one without a copy.
TEST(KeptWeights, OthersStayAsTheyAre) {
  CostProgram whole = makeGathered(), single = whole;
  for (Resident &resident : whole.residents)
    resident.isGathered = false;
  for (Resident &resident : single.residents)
    resident.isMaster = false;
  for (const CostProgram &program : {whole, single})
    EXPECT_EQ(keptBy(program, 1).totalBytes, keptBy(program, 0).totalBytes);
}

/// Of a loss in 3 chunks, a third of the scores lives at a time, rounded up.
TEST(KeptScores, OneChunkAtATime) {
  CostProgram program = makeTrained(), chunked = program;
  for (Activation &activation : chunked.activations)
    activation.chunks = 3;
  for (Saved &saved : chunked.saved)
    saved.chunks = 3;
  Report::DeviceMemory whole = keptBy(program, 0), part = keptBy(chunked, 0);
  constexpr int64_t bytes = 2;
  auto third = [](int64_t elements) { return (elements + 2) / 3; };
  EXPECT_EQ(part.activationBytes, bytes * third(whole.activationBytes / bytes));
  // 8 layers and a head have a sequence of 512 x 1,024 inputs each: of 524,288
  // numbers a third is 174,763.
  int64_t one = 512 * 1024;
  EXPECT_EQ(whole.savedBytes, 9 * bytes * one);
  EXPECT_EQ(part.savedBytes, 9 * bytes * third(one));
}
