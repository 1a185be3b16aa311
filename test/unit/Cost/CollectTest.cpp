//===- CollectTest.cpp - Tapes of some nodes of a graph -------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"
#include "TapeRunner.h"

#include "autopar/Cost/Exact.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::runtime;
using namespace autopar::schedule;
using namespace autopar::test;

static std::vector<double> run(const CostProgram &program,
                               const Strategy &strategy, const Tape &tape,
                               const Workload &workload) {
  Machine machine = makeMeasuredMachine();
  Runtime runtime = makeBusyRuntime();
  TapeRunner runner(tape, machine, runtime);
  runner.lay(makeLayout(8));
  return runner.runScalar(pointOf(workload));
}

/// Whatever else is wanted, a node has the same bits.
TEST(Collect, ValuesStandAlone) {
  std::mt19937_64 random(1);
  for (const CostProgram &program :
       {makeBorderedDecoder(), makeExperts(8, 8, {1, 2, 3, 4, 5, 6, 7, 8})}) {
    Strategy strategy = compile(program, {true, true});
    Workload workload = prefill(3, 777);
    std::vector<double> all =
        run(program, strategy, collectAll(strategy), workload);
    for (int round = 0; round < 100; ++round) {
      std::vector<NodeId> wanted;
      for (uint64_t i = 0; i <= random() % 5; ++i)
        wanted.push_back(static_cast<NodeId>(random() % all.size()));
      std::vector<double> some =
          run(program, strategy, collect(strategy, wanted), workload);
      for (size_t i = 0; i < wanted.size(); ++i)
        ASSERT_EQ(some[i], all[wanted[i]]) << "node " << wanted[i];
    }
  }
}

/// Constants have quotients, which sums and products must not lose.
TEST(Collect, KeepsQuotientsOfConstants) {
  Strategy strategy;
  Graph &graph = strategy.graph;
  auto number = [&](int64_t value) {
    return Expr(graph, graph.constant(value));
  };
  Expr blocks = ceilDiv(number(250), number(64));
  Expr padded = blocks * 64;
  Expr sum =
      padded * number(3) + floorDiv(number(7), number(2)) * blocks - number(5);
  Expr devices(graph, graph.leaf(Op::axis, 0, Rank::layout, true, true));
  Expr local = ceilDiv(padded, devices) * blocks + devices;
  CostProgram program = makeDecoder();
  Tape tape = collect(strategy, {padded.node(), sum.node(), local.node()});
  EXPECT_EQ(run(program, strategy, tape, decode(1, 8)),
            (std::vector<double>{256, 256 * 3 + 3 * 4 - 5, 32 * 4 + 8}));
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Temporaries of these extents, each split by a rule that may refuse.
static CostProgram makeSplits(const std::vector<int64_t> &extents,
                              SplitRule rule) {
  CostProgram program;
  program.model = "splits";
  program.symbols = {"batch", "query", "context"};
  program.axes = {"tp"};
  program.layers = {{"model", 1}};
  for (int64_t extent : extents)
    program.activations.push_back(
        {"x", 0, {split(extent, rule)}, ElementType::bf16, 0, 1});
  return program;
}

/// One check of the greatest common divisor for all that divide by the same
/// devices, which refuses where any of them does.
TEST(Collect, MergedChecksRefuseWhatSingleOnesDo) {
  std::mt19937_64 random(2);
  Machine machine = makeMachine(4);
  Runtime runtime = makeRuntime();
  for (SplitRule rule : {SplitRule::plain, SplitRule::cap})
    for (int round = 0; round < 100; ++round) {
      std::vector<int64_t> extents;
      for (uint64_t i = 0; i <= random() % 4; ++i)
        extents.push_back(static_cast<int64_t>(12 * (1 + random() % 16)));
      CostProgram program = makeSplits(extents, rule);
      Strategy strategy = compile(program, {});
      Tape tape = collect(strategy, {strategy.total.activationBytes});
      if (rule == SplitRule::plain) {
        EXPECT_EQ(tape.checks.size(), 1u);
      }
      Pricer pricer(tape, machine, runtime);
      ExactValues exact(strategy, machine, runtime);
      for (int64_t devices = 1; devices <= 32; ++devices) {
        auto refuses = [&](int64_t extent) {
          return extent % devices != 0 &&
                 (rule == SplitRule::plain || devices % extent != 0);
        };
        bool any = std::any_of(extents.begin(), extents.end(), refuses);
        Layout layout = makeLayout(devices);
        Refusal refusal = pricer.lay(layout);
        EXPECT_EQ(bool(refusal), any) << devices;
        EXPECT_EQ(bool(exact.evaluate(layout, decode(1, 8))), any) << devices;
        double bytes = 0;
        if (!refusal) {
          EXPECT_FALSE(pricer.price(pointOf(decode(1, 8)), &bytes));
          EXPECT_EQ(bytes, exact.real(strategy.total.activationBytes));
        }
      }
    }
}

/// Whatever the machine: what cannot be split cannot be split anywhere.
TEST(Collect, ChecksSplitsAlone) {
  CostProgram program = makeDecoder();
  Strategy strategy = compile(program, {});
  Tape tape = collect(strategy, {strategy.total.weightBytes}, Checks::splits);
  Machine machine = makeMachine();
  machine.pools[0].tiers.clear();
  machine.pools[0].chip.peakFlops.clear();
  Runtime runtime = makeRuntime();
  Pricer pricer(tape, machine, runtime);
  EXPECT_FALSE(pricer.lay(makeLayout(8)));
  Refusal refusal = pricer.lay(makeLayout(5));
  ASSERT_EQ(refusal.kind, Refusal::Kind::requirement);
  EXPECT_LT(strategy.requirements[refusal.index].kind,
            Requirement::Kind::joins);
}

/// What a layout fixes picks the grid: no sooner is there a ratio.
TEST(Collect, RatiosOfFixedShapesWaitForTheirGrid) {
  Graph graph;
  NodeId x = graph.make(Op::octave, graph.constant(8));
  NodeId ratio = graph.make(Op::shape_ratio, x, graph.constant(0), 0);
  EXPECT_EQ(graph[x].rank, Rank::constant);
  EXPECT_EQ(graph[ratio].rank, Rank::point);
}
