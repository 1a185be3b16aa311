//===- PartsTest.cpp - What stages run adds up to the whole ---------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"

#include "autopar/Cost/Exact.h"
#include "autopar/Cost/StagePricer.h"

#include <gtest/gtest.h>

#include <random>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::runtime;
using namespace autopar::schedule;
using namespace autopar::test;

/// Three times two layers of kind 1 and one of kind 2, which runs kind 3 twice;
/// the weight of "table" is read by both parts of the model.
static CostProgram makeTiny() {
  CostProgram program;
  program.model = "tiny";
  program.layers = {{"model", 1, 0, 1},
                    {"near", 6, 2, 3},
                    {"far", 3, 4, 7},
                    {"inner", 6, 5, 6},
                    {"model", 1, 8, 9}};
  program.stack.layers = {{{{1, 1}}, {}, {}}, {{{2, 1}, {3, 2}}, {}, {}}};
  program.stack.runs = {{3, {{0, 2}, {1, 1}}}};
  program.stack.before = {{0, 1}};
  program.stack.after = {{4, 1}};
  for (uint32_t i = 0; i < program.layers.size(); ++i) {
    Kernel kernel;
    kernel.layer = i;
    // Twice in each layer.
    kernel.count = 2 * program.layers[i].count;
    program.kernels.push_back(kernel);
    Resident weight;
    weight.layer = i;
    weight.count = program.layers[i].count;
    program.residents.push_back(weight);
  }
  program.residents[0].name = "table";
  program.residents[0].readers = {4};
  program.activations = {{"ids", 0, {}, ElementType::i32, 0, 1},
                         {"hidden", 0, {}, ElementType::bf16, 1, 8},
                         {"inside", 3, {}, ElementType::bf16, 5, 6}};
  return program;
}

/// The program with a sum that ends each layer and a norm that begins it, which
/// runtimes launch as one; and a norm after the last.
static CostProgram makeBorderedTiny() {
  CostProgram program = makeTiny();
  program.kernels.clear();
  auto add = [&](uint32_t layer, int64_t count) {
    Kernel kernel;
    kernel.name = program.layers[layer].name;
    kernel.layer = layer;
    kernel.count = count;
    kernel.fusionGroup = program.kernels.size();
    program.kernels.push_back(kernel);
  };
  for (uint32_t layer : {1, 2}) {
    add(layer, program.layers[layer].count);
    add(layer, program.layers[layer].count);
  }
  add(3, 12);
  add(3, 12);
  add(4, 1);
  // near, near, far: three times. Within "inner", one follows the other.
  program.borders = {{1, 0, 3}, {1, 2, 3}, {3, 0, 2}, {3, 6, 1}, {5, 4, 6, 3}};
  program.stack.layers[0].ends = {0, 1};
  program.stack.layers[1].ends = {2, 3};
  program.stack.headAfter = 6;
  return program;
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

namespace {

/// How often a part runs each record of a program, in so many passes.
struct Part {
  Part(const CostProgram &program, const PartCounts &counts, int64_t passes)
      : program(program),
        strategy(compile(program, {false, true}, Counting::parts)),
        values(strategy, machine, runtime), passes(passes) {
    layout.part = counts;
    layout.passes = passes;
    EXPECT_FALSE(values.evaluate(layout, decode(1, 8)));
  }
  int64_t whole(NodeId node) const { return *values.whole(node).int64(); }

  std::vector<int64_t> kernels() const {
    std::vector<int64_t> counts;
    for (const KernelNodes &nodes : strategy.kernels)
      counts.push_back(whole(nodes.count) * passes);
    return counts;
  }
  std::vector<int64_t> weights() const {
    std::vector<int64_t> counts;
    for (const ResidentNodes &nodes : strategy.residents)
      counts.push_back(whole(nodes.count));
    return counts;
  }
  /// Launches that each border joins.
  std::vector<int64_t> borders() const {
    std::vector<int64_t> counts(program.borders.size());
    for (const LaunchNodes &launch : strategy.launches)
      if (launch.border)
        counts[*launch.border] += whole(launch.count) * passes;
    return counts;
  }

  const CostProgram &program;
  const Machine machine = makeMachine();
  const Runtime runtime = makeRuntime();
  Strategy strategy;
  ExactValues values;
  int64_t passes;
  Layout layout;
};

} // namespace

/// Layers 1 to 3 of nine: near, far, near. In three passes.
TEST(Parts, CountWhatAStageRuns) {
  CostProgram program = makeTiny();
  PartCounts counts(program);
  for (int i : {0, 1, 0})
    addKinds(program.stack.layers[i].kinds, counts.kinds);
  EXPECT_EQ(counts.kinds, (KindCounts{0, 2, 1, 2, 0}));
  Part stage(program, counts, 3);
  EXPECT_EQ(stage.kernels(), (std::vector<int64_t>{0, 12, 6, 12, 0}));
  EXPECT_EQ(stage.weights(), (std::vector<int64_t>{0, 2, 1, 2, 0}));
  // "hidden" and "inside", 2 bytes each; "ids" has 4, and ends before.
  EXPECT_EQ(stage.whole(stage.strategy.total.activationBytes), 4);
}

/// The last stage reads the table of the first: both have it.
TEST(Parts, CopyWhatSeveralStagesRead) {
  CostProgram program = makeTiny();
  PartCounts counts(program);
  addKinds(program.stack.after, counts.kinds);
  Part stage(program, counts, 1);
  EXPECT_EQ(stage.weights(), (std::vector<int64_t>{1, 0, 0, 0, 1}));
  EXPECT_EQ(stage.kernels(), (std::vector<int64_t>{0, 0, 0, 0, 2}));
}

/// Stages of one layer each, or of any, run each record as often as the
/// program.
TEST(Parts, CountsAddUp) {
  for (const CostProgram &program : {makeTiny(), makeBorderedTiny()})
    for (size_t size : {1, 2, 4, 11}) {
      std::vector<int64_t> kernels(program.kernels.size()),
          borders(program.borders.size());
      std::vector<uint32_t> order = *layersInOrder(program);
      for (size_t place = 0; place < order.size() + 2; place += size) {
        PartCounts counts(program);
        addPlaces(program, order, place,
                  std::min(place + size, order.size() + 2), true, counts);
        Part stage(program, counts, 1);
        for (size_t i = 0; i < kernels.size(); ++i) {
          EXPECT_GE(stage.kernels()[i], 0);
          kernels[i] += stage.kernels()[i];
        }
        for (size_t i = 0; i < borders.size(); ++i)
          borders[i] += stage.borders()[i];
      }
      for (size_t i = 0; i < kernels.size(); ++i)
        EXPECT_EQ(kernels[i], program.kernels[i].count);
      for (size_t i = 0; i < borders.size(); ++i)
        EXPECT_EQ(borders[i], program.borders[i].count);
    }
}

/// The second stage begins with the norm of a far layer, and with the sum that
/// the first ended with.
TEST(Parts, ARunBeforeABorderGoesWithWhatFollows) {
  CostProgram program = makeBorderedTiny();
  std::vector<uint32_t> order = *layersInOrder(program);
  PartCounts first(program), second(program), alone(program);
  addPlaces(program, order, 0, 3, true, first);
  addPlaces(program, order, 3, 4, true, second);
  addPlaces(program, order, 3, 4, false, alone);
  using Counts = std::vector<int64_t>;
  EXPECT_EQ(Part(program, first, 1).kernels(), (Counts{2, 1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(Part(program, first, 2).borders(), (Counts{2, 0, 0, 0, 0}));
  EXPECT_EQ(Part(program, second, 1).kernels(), (Counts{0, 1, 1, 0, 4, 4, 0}));
  EXPECT_EQ(Part(program, second, 1).borders(), (Counts{0, 1, 0, 0, 2}));
  EXPECT_EQ(Part(program, alone, 1).kernels(), (Counts{0, 0, 1, 1, 4, 4, 0}));
}

//===----------------------------------------------------------------------===//
// Prices
//===----------------------------------------------------------------------===//

/// What stages share out.
static std::vector<NodeId> sharedNodes(const TotalNodes &total) {
  return {total.parameters,    total.checkpointBytes, total.weightBytes,
          total.kvCacheBytes,  total.linearFlops,     total.attentionFlops,
          total.logitsFlops,   total.localFlops,      total.wireBytes,
          total.keptReadBytes, total.launches,        total.computePs,
          total.memoryPs,      total.communicationPs, total.floorPs};
}

namespace {

/// The shared numbers of a program, of all of it or of parts.
struct Shares {
  Shares(const CostProgram &program, const Runtime &runtime, Counting counting)
      : strategy(compile(program,
                         {runtime.mergesSharedInput, runtime.fusesElementwise},
                         counting)),
        wanted(sharedNodes(strategy.total)), tape(collect(strategy, wanted)),
        pricer(tape, machine, runtime), exact(strategy, machine, runtime) {}

  std::vector<double> price(const Layout &layout, const Workload &workload) {
    std::vector<double> values(wanted.size());
    EXPECT_FALSE(pricer.lay(layout));
    EXPECT_FALSE(pricer.price(pointOf(workload), values.data()));
    EXPECT_FALSE(exact.evaluate(layout, workload));
    for (size_t i = 0; i < wanted.size(); ++i)
      EXPECT_EQ(values[i], exact.real(wanted[i])) << i;
    return values;
  }

  const Machine machine = makeMeasuredMachine(4);
  Strategy strategy;
  std::vector<NodeId> wanted;
  Tape tape;
  Pricer pricer;
  ExactValues exact;
};

} // namespace

/// Bit for bit, wherever the layers are cut.
TEST(Parts, PricesAddUp) {
  std::mt19937_64 random(3);
  for (const CostProgram &program : {makeStack(), makeBorderedStack()})
    for (const Runtime &runtime : {makeRuntime(), makeBusyRuntime()}) {
      Shares whole(program, runtime, Counting::whole);
      Shares parts(program, runtime, Counting::parts);
      std::vector<uint32_t> order = *layersInOrder(program);
      for (int round = 0; round < 30; ++round) {
        Layout layout = makeLayout(int64_t(1) << random() % 4);
        Workload workload = round % 2 ? decode(1 + random() % 64, 4097)
                                      : prefill(1, 1 + random() % 2048);
        std::vector<double> expected = whole.price(layout, workload);
        std::vector<double> sum(expected.size());
        for (size_t begin = 0, end; begin < order.size() + 2; begin = end) {
          end = std::min(begin + 1 + random() % 40, order.size() + 2);
          layout.part = PartCounts(program);
          addPlaces(program, order, begin, end, runtime.fusesElementwise,
                    layout.part);
          std::vector<double> stage = parts.price(layout, workload);
          for (size_t i = 0; i < sum.size(); ++i)
            sum[i] += stage[i];
        }
        EXPECT_EQ(sum, expected);
      }
    }
}

/// Layers one by one, and what lies around them.
TEST(Parts, LayersAddUp) {
  Runtime runtime = makeBusyRuntime();
  for (const CostProgram &program : {makeStack(), makeBorderedStack()}) {
    Shares whole(program, runtime, Counting::whole);
    Strategy strategy = compile(program, {true, true}, Counting::parts);
    Tape tape = collectParts(strategy);
    StagePricer stages(program, tape, strategy.launching, whole.machine,
                       runtime, std::nullopt);
    std::vector<uint32_t> order = *layersInOrder(program);
    Workload workload = decode(16, 4097);
    PipelineShape shape;
    shape.stages = 4;
    EXPECT_FALSE(stages.price(order, makeLayout(4), workload, shape));
    LayerCost sum = stages.before.cost;
    sum.timePs += stages.after.cost.timePs;
    sum.memoryBytes += stages.after.cost.memoryBytes;
    for (size_t i = 0; i < order.size(); ++i) {
      sum.timePs += stages.layer(i).cost.timePs;
      sum.memoryBytes += stages.layer(i).cost.memoryBytes;
    }
    whole.price(makeLayout(4), workload);
    const TotalNodes &total = whole.strategy.total;
    auto value = [&](NodeId node) { return *whole.exact.whole(node).int64(); };
    EXPECT_EQ(sum.timePs, value(total.stepPs) - value(total.hostPs));
    EXPECT_EQ(sum.memoryBytes,
              value(total.weightBytes) + value(total.kvCacheBytes));
  }
}
