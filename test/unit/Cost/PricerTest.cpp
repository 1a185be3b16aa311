//===- PricerTest.cpp - Doubles, lanes and whole numbers agree ------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"
#include "TapeRunner.h"

#include "autopar/Cost/Exact.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::runtime;
using namespace autopar::schedule;
using namespace autopar::test;

static constexpr double largestCount = 9007199254740992; // 2^53

namespace {

/// Compares all interpretations of all nodes of one strategy.
class Checker {
public:
  Checker(const CostProgram &program, const Runtime &runtime,
          Counting counting = Counting::whole, size_t groups = 1)
      : program(program), runtime(runtime), groups(groups),
        strategy(compile(program,
                         {runtime.mergesSharedInput, runtime.fusesElementwise},
                         counting, std::vector<Phase>(groups))),
        tape(collectAll(strategy)), runner(tape, machine, runtime),
        pricer(tape, machine, runtime), exact(strategy, machine, runtime) {}

  void run(int rounds) {
    for (int round = 0; round < rounds; ++round)
      check(randomLayout());
    EXPECT_GE(priced, rounds / 4);
  }

private:
  int64_t pick(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  }
  Layout randomLayout();
  Workload randomWorkload();
  void check(const Layout &layout);
  void compare(const std::vector<double> &scalar);

  const CostProgram program;
  const Runtime runtime;
  const size_t groups;
  const Machine machine = makeMeasuredMachine(8);
  const Strategy strategy;
  const Tape tape;
  TapeRunner runner;
  Pricer pricer;
  ExactValues exact;
  std::mt19937_64 random{1};
  int priced = 0;
};

} // namespace

Layout Checker::randomLayout() {
  static constexpr int64_t sizes[] = {1, 2, 3, 4, 5, 6, 8, 16};
  int64_t stride = int64_t(1) << pick(0, 2);
  int64_t size = sizes[pick(0, 7)];
  Layout layout;
  layout.axes = {{stride, size}};
  layout.devices = stride * size;
  if (strategy.counting == Counting::whole)
    return layout;
  layout.part = PartCounts(program);
  for (int64_t &kind : layout.part.kinds)
    kind = pick(0, 5);
  for (size_t i = 0; i < layout.part.into.size(); ++i)
    layout.part.into[i] = layout.part.outOf[i] = pick(0, 3);
  layout.stages = pick(1, 4);
  layout.passes = pick(1, 4);
  layout.microbatches = pick(1, 4);
  return layout;
}

Workload Checker::randomWorkload() {
  Workload workload;
  workload.batch = pick(1, 300);
  workload.query = pick(0, 1) ? 1 : pick(1, 2000);
  workload.context = workload.query + pick(0, 20000);
  return workload;
}

static bool isSame(double a, double b) {
  return std::memcmp(&a, &b, sizeof(a)) == 0;
}

/// Whole numbers that a double counts are the same, others as near as their
/// roundings.
void Checker::compare(const std::vector<double> &scalar) {
  for (NodeId id = 0; id < strategy.graph.size(); ++id) {
    double expected = exact.real(id), value = scalar[id];
    std::string where = "node " + std::to_string(id) + ", op " +
                        std::to_string(int(strategy.graph[id].op));
    if (strategy.graph[id].isWhole && std::fabs(expected) < largestCount)
      ASSERT_EQ(value, expected) << where;
    else if (std::isfinite(expected))
      ASSERT_NEAR(value, expected, 1e-12 * std::fabs(expected)) << where;
    else
      ASSERT_FALSE(std::isfinite(value)) << where;
  }
}

void Checker::check(const Layout &layout) {
  std::vector<std::vector<Workload>> workloads(laneCount);
  std::vector<std::vector<GroupValues>> points(laneCount);
  std::vector<LaneValues> lanePoints;
  for (size_t group = 0; group < groups; ++group) {
    std::array<GroupValues, laneCount> values;
    for (size_t lane = 0; lane < laneCount; ++lane) {
      workloads[lane].push_back(randomWorkload());
      values[lane] = pointOf(workloads[lane].back());
      points[lane].push_back(values[lane]);
    }
    lanePoints.push_back(lanesOf(values));
  }
  bool isLegal = !pricer.lay(layout);
  ASSERT_EQ(isLegal, !exact.evaluate(layout, workloads[0]));
  if (!isLegal)
    return;
  ++priced;
  runner.lay(layout);
  std::vector<std::vector<double>> scalar;
  for (size_t lane = 0; lane < laneCount; ++lane) {
    scalar.push_back(runner.runScalar(points[lane]));
    ASSERT_FALSE(exact.evaluate(layout, workloads[lane]));
    compare(scalar.back());
  }
  auto compareLanes = [&](const std::vector<double> &lanes) {
    for (size_t i = 0; i < lanes.size(); ++i)
      ASSERT_TRUE(isSame(lanes[i], scalar[i % laneCount][i / laneCount]))
          << "node " << i / laneCount;
  };
  for (LaneRunner run : laneRunners())
    compareLanes(runner.runLanes(lanePoints, run));
  // The pricer's own lanes have what does not vary broadcast alone.
  std::vector<double> priced(scalar.front().size() * laneCount);
  (void)pricer.price(lanePoints, priced.data());
  compareLanes(priced);
}

/// Tokens that go to each node once, in fp8 with scales.
static CostProgram byNode() {
  CostProgram program = makeExperts(16, 16);
  Collective &exchange = program.collectives.front();
  exchange.type = ElementType::fp8_e4m3;
  exchange.block = 128;
  exchange.byNode = NodeDispatch{2, 16, 4, 2, {tp}};
  return program;
}

static std::vector<CostProgram> programs() {
  Decoder window{64, 3, 8, 2, 16, 128, 250};
  window.window = 20;
  return {makeDecoder(),
          makeDecoder(window),
          makeBorderedDecoder(),
          makeExperts(6, 6),
          makeExperts(8, 8, {1, 2, 3, 4, 5, 6, 7, 8}),
          makeExperts(6, 8, {5, 1, 2, 7, 1, 1}),
          byNode()};
}

TEST(Pricer, AgreesWithWholeNumbersAndLanes) {
  Runtime ideal = makeRuntime();
  ideal.ideal = true;
  for (const CostProgram &program : programs())
    for (const Runtime &runtime : {makeRuntime(), makeBusyRuntime(), ideal})
      ASSERT_NO_FATAL_FAILURE(Checker(program, runtime).run(12))
          << program.model;
}

TEST(Pricer, AgreesOnGroups) {
  for (const CostProgram &program : programs())
    for (size_t groups : {2, 3})
      ASSERT_NO_FATAL_FAILURE(
          Checker(program, makeBusyRuntime(), Counting::whole, groups).run(12))
          << program.model;
}

TEST(Pricer, AgreesOnParts) {
  for (const CostProgram &program :
       {makeDecoder(), makeBorderedDecoder(), makeStack(), makeBorderedStack(),
        makeExperts(8, 12, {1, 2, 3, 4, 5, 6, 7, 8}), byNode()})
    for (const Runtime &runtime : {makeRuntime(), makeBusyRuntime()})
      ASSERT_NO_FATAL_FAILURE(
          Checker(program, runtime, Counting::parts).run(12))
          << program.model;
}

//===----------------------------------------------------------------------===//
// Refusals
//===----------------------------------------------------------------------===//

namespace {

/// The step time of the decoder, and what else is asked for.
struct Priced : testing::Test {
  /// Of each lane the same point.
  Refusal price(const Workload &workload) {
    Tape tape = collect(strategy, wanted);
    Pricer pricer(tape, machine, runtime);
    if (Refusal refusal = pricer.lay(layout))
      return refusal;
    values.resize(wanted.size());
    std::vector<double> lanes(wanted.size() * laneCount);
    std::array<GroupValues, laneCount> points;
    points.fill(pointOf(workload));
    Refusal refusal = pricer.price(points[0], values.data());
    Refusal ofLanes = pricer.price(lanesOf(points), lanes.data());
    EXPECT_EQ(refusal.kind, ofLanes.kind);
    EXPECT_EQ(refusal.index, ofLanes.index);
    return refusal;
  }

  CostProgram program = makeDecoder();
  Machine machine = makeMachine();
  Runtime runtime = makeRuntime();
  Strategy strategy = compile(program, {});
  std::vector<NodeId> wanted = {strategy.total.stepPs,
                                strategy.total.squareFlops};
  std::vector<double> values;
  Layout layout = makeLayout(8);
};

} // namespace

TEST_F(Priced, WhatIsAbove2To53IsRefused) {
  EXPECT_FALSE(price(prefill(1, 2048)));
  EXPECT_EQ(values[1], 10'995'116'277'760);
  // 1.05e19 FLOPs, though the step is below.
  Refusal refusal = price(prefill(4, 1'000'000));
  EXPECT_EQ(refusal.kind, Refusal::Kind::overflow);
  EXPECT_EQ(refusal.index, 1u);
  EXPECT_LT(values[0], largestCount);
  // What follows is there all the same.
  std::swap(wanted[0], wanted[1]);
  EXPECT_EQ(price(prefill(4, 1'000'000)).index, 0u);
  EXPECT_GT(values[1], 0);
  EXPECT_LT(values[1], largestCount);
  std::swap(wanted[0], wanted[1]);
  wanted.pop_back();
  EXPECT_FALSE(price(prefill(4, 1'000'000)));
  refusal = price(prefill(int64_t(1) << 40, int64_t(1) << 40));
  EXPECT_EQ(refusal.kind, Refusal::Kind::overflow);
  EXPECT_EQ(refusal.index, 0u);
}

TEST_F(Priced, ExponentsThatNoRoofHasAreRefused) {
  machine = makeMeasuredMachine();
  EXPECT_FALSE(price(prefill(1, 2048)));
  machine.pools[0].chip.kernels[KernelKind::matmul]["bf16"].exponent = 2.5;
  Refusal refusal = price(prefill(1, 2048));
  EXPECT_EQ(refusal.kind, Refusal::Kind::exponent);
  EXPECT_EQ(strategy.figures[refusal.index].kind, FigureUse::Kind::exponent);
  EXPECT_EQ(strategy.figures[refusal.index].kernel, KernelKind::matmul);
}

TEST_F(Priced, GroupsThatNothingJoinsAreRefused) {
  machine.pools[0].tiers.clear();
  Refusal refusal = price(prefill(1, 2048));
  ASSERT_EQ(refusal.kind, Refusal::Kind::requirement);
  EXPECT_EQ(strategy.requirements[refusal.index].kind,
            Requirement::Kind::joins);
  layout = makeLayout(1);
  EXPECT_FALSE(price(prefill(1, 2048)));
}

TEST_F(Priced, FormatsWithoutAPeakAreRefused) {
  machine.pools[0].chip.peakFlops.clear();
  Refusal refusal = price(prefill(1, 2048));
  ASSERT_EQ(refusal.kind, Refusal::Kind::requirement);
  const Requirement &failed = strategy.requirements[refusal.index];
  EXPECT_EQ(failed.kind, Requirement::Kind::multiplies);
  EXPECT_EQ(program.kernels[failed.record.index].name, "layer/q_proj");
}
