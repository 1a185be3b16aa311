//===- StageLayoutTest.cpp - Layers that stay together --------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Cost/StageLayout.h"

#include "autopar/Program/Stages.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::program;
using namespace autopar::schedule;

/// Eight layers: four of kind 1, one of kind 2, three of kind 3.
static CostProgram makeProgram() {
  CostProgram program;
  program.model = "tiny";
  program.layers = {{"model", 1}, {"plain", 4}, {"giver", 1}, {"reader", 3}};
  program.stack.layers = {
      {{{1, 1}}, {}, {}}, {{{2, 1}}, {}, {}}, {{{3, 1}}, {}, {}}};
  program.stack.runs = {{4, {{0, 1}}}, {1, {{1, 1}}}, {3, {{2, 1}}}};
  return program;
}

static StagingProblem makeProblem(int64_t stages) {
  StagingProblem problem;
  problem.layers.assign(8, {/*timePs=*/10, /*memoryBytes=*/1});
  problem.stages = stages;
  return problem;
}

static void share(CostProgram &program) {
  Resident cache;
  cache.kind = Resident::Kind::kv_cache;
  cache.layer = 2;
  cache.readers = {3};
  program.residents.push_back(cache);
}

static std::string layOut(const CostProgram &program, int64_t stages) {
  Result<StagePartition> found =
      layOutLayers(program, *layersInOrder(program), makeProblem(stages));
  return found ? rangesText(found->ranges) : found.error().message;
}

TEST(StageLayout, LayersOfOneCacheStayTogether) {
  CostProgram program = makeProgram();
  EXPECT_EQ(layOut(program, 4), "0-1,2-3,4-5,6-7");
  share(program);
  // Four layers of 10 on the last stage are the least that it can have.
  EXPECT_EQ(layOut(program, 2), "0-3,4-7");
  Result<StagePartition> found =
      layOutLayers(program, *layersInOrder(program), makeProblem(4));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->ranges.back(), (LayerRange{4, 8}));
  EXPECT_EQ(found->heaviestPs(), 40);
  EXPECT_EQ(found->lowerBoundPs, 40);
}

TEST(StageLayout, RefusesMoreStagesThanParts) {
  CostProgram program = makeProgram();
  share(program);
  EXPECT_EQ(layOut(program, 6),
            "the layers 4 to 7 have key-value caches in common, which are on "
            "one stage: that leaves 5 parts for 6 stages");
}
