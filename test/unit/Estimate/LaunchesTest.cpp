//===- LaunchesTest.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Estimate/Estimate.h"

#include "../Cost/Fixtures.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::estimation;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::runtime;
using namespace autopar::schedule;
using namespace autopar::test;

/// A decode step of 4 sequences of a decoder of 80 layers.
static Report run(const CostProgram &program, bool fuses) {
  Runtime runtime = makeRuntime();
  runtime.kernelFloorUs.value = 1.5;
  runtime.fusesElementwise = fuses;
  Result<Report> report =
      estimate(program, makePlan(1), makeMachine(), runtime, decode(4, 1000));
  EXPECT_TRUE(report) << report.error().str();
  return std::move(*report);
}

static CostProgram withoutBorders() {
  CostProgram program = makeBorderedDecoder();
  program.borders.clear();
  return program;
}

static const BreakdownRow &rowOf(const Report &report, const char *op) {
  size_t i = 0;
  while (report.byOp[i].name != op)
    ++i;
  return report.byOp[i];
}

/// 79 sums with the norm of the next layer, and the last with the last norm:
/// 80 floors, and as many reads of 4 x 8192 numbers that were just written.
TEST(Launches, RunsAtABorderAreOne) {
  Report apart = run(withoutBorders(), true);
  Report joined = run(makeBorderedDecoder(), true);
  EXPECT_EQ(joined.latency.kernelLaunches, apart.latency.kernelLaunches - 80);
  EXPECT_NEAR(joined.latency.overheadTimeUs,
              apart.latency.overheadTimeUs - 80 * 1.5, 1e-9);
  int64_t saved = 80 * 4 * 8192 * 2;
  EXPECT_EQ(rowOf(joined, "rms_norm").bytes,
            rowOf(apart, "rms_norm").bytes - saved);
  EXPECT_EQ(rowOf(joined, "add").bytes, rowOf(apart, "add").bytes);
  for (const char *op : {"rms_norm", "add"})
    EXPECT_EQ(rowOf(joined, op).count, rowOf(apart, op).count);
  EXPECT_EQ(joined.latency.bounds.weightsAndKvReadBytes,
            apart.latency.bounds.weightsAndKvReadBytes);
  double bandwidth = makeMachine().pools[0].chip.memoryBandwidth.value;
  // Two launches and the one that replaces them are rounded to picoseconds.
  EXPECT_NEAR(apart.latency.memoryTimeUs - joined.latency.memoryTimeUs,
              static_cast<double>(saved) / bandwidth * 1e6, 80 * 3 * 0.5e-6);
}

TEST(Launches, BordersMeanNothingWhereRunsAreNotFused) {
  Report apart = run(withoutBorders(), false);
  Report same = run(makeBorderedDecoder(), false);
  EXPECT_EQ(same.latency.kernelLaunches, apart.latency.kernelLaunches);
  EXPECT_EQ(same.latency.stepTimeUs, apart.latency.stepTimeUs);
}

/// What has no work is not launched, and joins nothing.
TEST(Launches, OnlyWhatIsLaunchedJoins) {
  CostProgram program = makeBorderedDecoder(), other = withoutBorders();
  for (CostProgram *each : {&program, &other})
    each->kernels.back().routed = true;
  EXPECT_EQ(run(program, true).latency.stepTimeUs,
            run(other, true).latency.stepTimeUs);
}
