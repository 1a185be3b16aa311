//===- ScaledCurvesTest.cpp -----------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"

#include "autopar/Hardware/Algorithm.h"

#include <cmath>
#include <random>

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::test;

using ScaledCurvesTest = LibraryTest;

static const std::string links = "systems.h100-sxm-8.tiers.scale_up.";

/// The links inside a node of h100-sxm-8, with figures of the user.
static Tier linkWith(const std::vector<Override> &overrides) {
  Result<Machine> machine = HardwareLibrary(overrides).machine("h100-sxm-8");
  EXPECT_TRUE(machine) << machine.error().str();
  return machine ? machine->pools[0].tiers[0] : Tier();
}

static const CollectiveCurve &reduceOf8(const Tier &tier) {
  return tier.curves.at(CollectiveKind::all_reduce).at(8);
}

TEST_F(ScaledCurvesTest, OwnValuesChangeNothing) {
  Tier file = linkWith({});
  Tier same = linkWith({{links + "bandwidth", 1},
                        {links + "bandwidth", file.bandwidth.value},
                        {links + "efficiency", file.efficiency.value},
                        {links + "latency", file.latency.value}});
  EXPECT_EQ(same.bandwidth.source.kind, "user");
  EXPECT_EQ(same.bandwidth.fileValue(), file.bandwidth.value);
  for (const auto &[kind, groups] : file.curves)
    for (const auto &[size, curve] : groups) {
      EXPECT_EQ(same.curves.at(kind).at(size).timeUs, curve.timeUs);
      EXPECT_TRUE(same.curves.at(kind).at(size).measuredUs.empty());
    }
}

TEST_F(ScaledCurvesTest, LargeTransfersGoWithBandwidthSmallOnesWithLatency) {
  Tier file = linkWith({});
  const CollectiveCurve &measured = reduceOf8(file);
  size_t last = measured.timeUs.size() - 1;
  Tier half = linkWith({{links + "bandwidth", file.bandwidth.value / 2}});
  EXPECT_EQ(reduceOf8(half).measuredUs, measured.timeUs);
  EXPECT_LT(reduceOf8(half).timeUs[0], measured.timeUs[0] * 1.01);
  EXPECT_GT(reduceOf8(half).timeUs[last], measured.timeUs[last] * 1.9);
  EXPECT_LE(reduceOf8(half).timeUs[last], measured.timeUs[last] * 2);
  Tier slow = linkWith({{links + "latency", file.latency.value * 2}});
  EXPECT_GT(reduceOf8(slow).timeUs[0], measured.timeUs[0] * 1.99);
  EXPECT_LT(reduceOf8(slow).timeUs[last], measured.timeUs[last] * 1.1);
}

/// One knot, by hand: what its bytes take on the wire goes with the bandwidth.
TEST_F(ScaledCurvesTest, SplitsTheFirstTimeByItsBytes) {
  Tier file = linkWith({});
  Tier fast = linkWith({{links + "bandwidth", file.bandwidth.value * 4},
                        {links + "latency", file.latency.value / 2}});
  const CollectiveCurve &curve = reduceOf8(file);
  double wire = wireBytes(CollectiveKind::all_reduce, 8,
                          std::exp2(curve.firstLog2Bytes)) /
                (file.bandwidth.value * file.efficiency.value) * 1e6;
  ASSERT_LT(wire, curve.timeUs[0]);
  EXPECT_NEAR(reduceOf8(fast).timeUs[0],
              (curve.timeUs[0] - wire) / 2 + wire / 4, 1e-9);
}

/// Whether no time of `fast` is above that of `slow`, and each curve rises.
static void expectFaster(const Tier &fast, const Tier &slow) {
  for (const auto &[kind, groups] : slow.curves)
    for (const auto &[size, curve] : groups) {
      const std::vector<double> &times = fast.curves.at(kind).at(size).timeUs;
      for (size_t i = 0; i < times.size(); ++i) {
        EXPECT_LE(times[i], curve.timeUs[i]) << nameOf(kind) << size;
        EXPECT_GT(times[i], 0);
        if (i > 0)
          EXPECT_GE(times[i], times[i - 1] * (1 - 1e-12)) << nameOf(kind);
      }
    }
}

TEST_F(ScaledCurvesTest, AFasterLinkIsNeverSlower) {
  std::mt19937 rng(7);
  std::uniform_real_distribution<double> scale(-3, 3), gain(0, 2);
  auto power = [&](auto &exponents) { return std::exp2(exponents(rng)); };
  Tier file = linkWith({});
  for (int i = 0; i < 100; ++i) {
    double bandwidth = file.bandwidth.value * power(scale);
    double latency = file.latency.value * power(scale);
    double efficiency = std::min(1.0, 0.3 * power(gain));
    Tier slow = linkWith({{links + "bandwidth", bandwidth},
                          {links + "efficiency", efficiency},
                          {links + "latency", latency}});
    Tier fast = linkWith(
        {{links + "bandwidth", bandwidth * power(gain)},
         {links + "efficiency", std::min(1.0, efficiency * power(gain))},
         {links + "latency", latency / power(gain)}});
    expectFaster(fast, slow);
  }
  // Nor where nothing but latency or bandwidth is left.
  expectFaster(linkWith({{links + "latency", 0}, {links + "bandwidth", 1e18}}),
               linkWith({{links + "latency", 0}}));
}

TEST_F(ScaledCurvesTest, OnlyAUserReplaces) {
  EXPECT_EQ(systemError("\"kind\": \"datasheet\",",
                        "\"kind\": \"datasheet\", \"replaced\": 1,")
                .find("h100-sxm-8.json: "),
            0u);
}
