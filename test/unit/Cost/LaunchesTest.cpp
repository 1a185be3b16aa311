//===- LaunchesTest.cpp - Kernels launched as one -------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"

#include "autopar/Cost/Exact.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::runtime;
using namespace autopar::test;

namespace {

/// The launches of a decode step of 4 sequences on one device.
struct Launches {
  Launches(CostProgram own, Launching launching)
      : program(std::move(own)), strategy(compile(program, launching)),
        values(strategy, machine, runtime) {
    EXPECT_FALSE(values.evaluate(makeLayout(1), decode(4, 1000)));
  }
  int64_t whole(NodeId node) const { return *values.whole(node).int64(); }
  /// The launches that begin with kernel `name`.
  std::vector<const LaunchNodes *> of(const char *name) const {
    std::vector<const LaunchNodes *> found;
    for (const LaunchNodes &launch : strategy.launches)
      if (program.kernels[launch.members[0].kernel].name == name)
        found.push_back(&launch);
    return found;
  }

  const CostProgram program;
  const Machine machine = makeMachine();
  const Runtime runtime = makeRuntime();
  const Strategy strategy;
  ExactValues values;
};

} // namespace

static constexpr int64_t hiddenBytes = 4 * 8192 * 2;

/// 79 sums with the norm of the next layer, one with the last norm; the first
/// norm has no sum before it.
TEST(Launches, BordersJoinRuns) {
  Launches joined(makeBorderedDecoder(), {false, true});
  std::vector<const LaunchNodes *> sums = joined.of("layer/add");
  ASSERT_EQ(sums.size(), 3u);
  std::vector<int64_t> counts;
  for (const LaunchNodes *launch : sums) {
    counts.push_back(joined.whole(launch->count));
    if (!launch->border) {
      EXPECT_EQ(launch->members.size(), 1u);
      continue;
    }
    // The norm reads its weight and writes its result: the sum is there.
    ASSERT_EQ(launch->members.size(), 2u);
    EXPECT_EQ(joined.whole(launch->members[0].movedBytes), 2 * hiddenBytes);
    EXPECT_EQ(joined.whole(launch->members[1].movedBytes),
              hiddenBytes + 8192 * 2);
  }
  std::sort(counts.begin(), counts.end());
  EXPECT_EQ(counts, (std::vector<int64_t>{0, 1, 79}));
  EXPECT_EQ(joined.whole(joined.of("layer/input_layernorm")[0]->count), 1);
  EXPECT_EQ(joined.whole(joined.of("model/norm")[0]->count), 0);
}

TEST(Launches, RuntimesThatFuseNothingJoinNothing) {
  Launches apart(makeBorderedDecoder(), {true, false});
  EXPECT_EQ(apart.of("layer/add").size(), 1u);
  for (const LaunchNodes &launch : apart.strategy.launches)
    EXPECT_FALSE(launch.border);
  // q, k and v read one input, as gate and up do.
  EXPECT_EQ(apart.of("layer/q_proj")[0]->members.size(), 3u);
  EXPECT_EQ(apart.of("layer/gate_proj")[0]->members.size(), 2u);
  EXPECT_EQ(apart.whole(apart.strategy.total.launches), 80 * 8 + 3);
  Launches alone(makeBorderedDecoder(), {false, false});
  EXPECT_EQ(alone.whole(alone.strategy.total.launches), 80 * 11 + 3);
}

/// Each launch is rounded to picoseconds once: a step is their sum.
TEST(Launches, TimesAddUp) {
  for (bool merges : {false, true}) {
    Launches own(makeBorderedDecoder(), {merges, merges});
    int64_t roofs = 0, computes = 0, floors = 0;
    for (const LaunchNodes &launch : own.strategy.launches) {
      int64_t count = own.whole(launch.count), roof = own.whole(launch.roofPs);
      double largest = std::max(own.values.real(launch.computeUs),
                                own.values.real(launch.memoryUs));
      EXPECT_NEAR(static_cast<double>(roof), largest * 1e6, 0.5);
      roofs += count * roof;
      computes += count * own.whole(launch.computePs);
      floors += count * own.whole(launch.floorPs);
    }
    const TotalNodes &total = own.strategy.total;
    EXPECT_EQ(own.whole(total.computePs), computes);
    EXPECT_EQ(own.whole(total.memoryPs), roofs - computes);
    EXPECT_EQ(own.whole(total.floorPs), floors);
    EXPECT_EQ(own.whole(total.stepPs), roofs + floors +
                                           own.whole(total.hostPs) +
                                           own.whole(total.communicationPs));
  }
}
