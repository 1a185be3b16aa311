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

namespace {

/// A step of a decoder whose gate and up projections all tokens share beside
/// its output projection, which takes the part of routed experts.
struct SharedExperts {
  explicit SharedExperts(bool overlaps)
      : program(makeProgram()), strategy(compile(program, {true, true})),
        values(strategy, machine, runtimeThat(overlaps)) {
    EXPECT_FALSE(values.evaluate(makeLayout(1), decode(4, 1000)));
  }
  static CostProgram makeProgram() {
    CostProgram program = makeBorderedDecoder();
    for (Kernel &kernel : program.kernels) {
      kernel.besideExperts =
          kernel.name == "layer/gate_proj" || kernel.name == "layer/up_proj";
      if (kernel.name == "layer/o_proj")
        kernel.kind = KernelKind::grouped_matmul;
    }
    return program;
  }
  const Runtime &runtimeThat(bool overlaps) {
    runtime.overlapsSharedExperts.value = overlaps;
    runtime.kernelFloorUs.value = 2;
    return runtime;
  }
  /// Roofline and floor in ps of the launch that begins with kernel `name`.
  std::pair<int64_t, int64_t> timesOf(const char *name) const {
    for (const LaunchNodes &launch : strategy.launches)
      if (program.kernels[launch.members[0].kernel].name == name)
        return {*values.whole(launch.roofPs).int64(),
                *values.whole(launch.floorPs).int64()};
    return {};
  }
  int64_t stepPs() const {
    return *values.whole(strategy.total.stepPs).int64();
  }

  const CostProgram program;
  const Machine machine = makeMachine();
  Runtime runtime = makeRuntime();
  const Strategy strategy;
  ExactValues values;
};

} // namespace

/// Rooflines of the two streams add up, floors overlap, and no stream ends
/// before its own kernels.
TEST(Launches, SharedExpertsRunBesideRoutedOnes) {
  SharedExperts apart(false), beside(true);
  auto [sharedRoof, sharedFloor] = apart.timesOf("layer/gate_proj");
  auto [routedRoof, routedFloor] = apart.timesOf("layer/o_proj");
  ASSERT_GT(sharedFloor, 0);
  int64_t shared = sharedRoof + sharedFloor, routed = routedRoof + routedFloor;
  int64_t both = std::max({sharedRoof + routedRoof, shared, routed});
  auto [roof, floor] = beside.timesOf("layer/gate_proj");
  // Shares are whole in 1e6 parts.
  double tolerance = double(shared) * 1e-6 + 2;
  EXPECT_NEAR(double(roof + floor + routed), double(both), tolerance);
  EXPECT_EQ(beside.timesOf("layer/o_proj"), apart.timesOf("layer/o_proj"));
  EXPECT_EQ(apart.stepPs() - beside.stepPs(), 80 * (shared - roof - floor));
}

/// Attention beside experts is no shared expert.
TEST(Launches, MixersAreNotHidden) {
  CostProgram program = SharedExperts::makeProgram();
  for (Kernel &kernel : program.kernels)
    if (kernel.kind == KernelKind::attention)
      kernel.besideExperts = kernel.mixesTokens = true;
  Runtime runtime = makeRuntime();
  runtime.kernelFloorUs.value = 2;
  const Machine machine = makeMachine();
  Strategy strategy = compile(program, {true, true});
  auto stepPs = [&](double overlaps) {
    runtime.overlapsSharedExperts.value = overlaps;
    ExactValues values(strategy, machine, runtime);
    EXPECT_FALSE(values.evaluate(makeLayout(1), decode(4, 1000)));
    return *values.whole(strategy.total.stepPs).int64();
  };
  EXPECT_EQ(stepPs(1), stepPs(0));
}

/// A cast to a format is launched where the chip multiplies it.
TEST(Launches, CastsAreLaunchedWhereTheChipHasTheFormat) {
  CostProgram program = makeBorderedDecoder();
  for (Kernel &kernel : program.kernels)
    if (kernel.name == "layer/add")
      kernel.compute = ElementType::fp8_e4m3;
  Strategy strategy = compile(program, {false, false});
  auto floorsOf = [&](double fp8Peak) {
    Machine machine = makeMachine();
    auto &peaks = machine.pools.front().chip.peakFlops;
    peaks.erase("fp8");
    if (fp8Peak > 0)
      peaks["fp8"].value = fp8Peak;
    Runtime runtime = makeRuntime();
    ExactValues values(strategy, machine, runtime);
    EXPECT_FALSE(values.evaluate(makeLayout(1), decode(4, 1000)));
    int64_t launched = 0;
    for (const LaunchNodes &launch : strategy.launches)
      if (program.kernels[launch.members[0].kernel].name == "layer/add")
        launched = *values.whole(launch.launched).int64();
    return launched;
  };
  EXPECT_EQ(floorsOf(2e15), 1);
  EXPECT_EQ(floorsOf(0), 0);
}
