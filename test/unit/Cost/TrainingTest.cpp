//===- TrainingTest.cpp - Sections, and what overlaps ---------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TrainingFixtures.h"

#include "autopar/Cost/Exact.h"
#include "autopar/Cost/Interval.h"
#include "autopar/Cost/PipelineTimes.h"
#include "autopar/Cost/Sensitivity.h"

#include <gtest/gtest.h>

#include <random>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::runtime;
using namespace autopar::schedule;
using namespace autopar::test;

static Layout layoutOf(int64_t tensorParallel, int64_t dataParallel) {
  Layout layout;
  layout.axes = {{1, tensorParallel}, {tensorParallel, dataParallel}};
  layout.devices = tensorParallel * dataParallel;
  return layout;
}

/// All that is said of training.
static std::vector<NodeId> nodesOf(const TotalNodes &total) {
  std::vector<NodeId> nodes = {total.weightGradientPs,
                               total.gradientBytes,
                               total.optimizerBytes,
                               total.savedBytes,
                               total.stepPs,
                               total.totalBytes,
                               total.flops,
                               total.launches};
  for (const SectionNodes &section : total.sections)
    for (NodeId SectionNodes::*part :
         {&SectionNodes::computePs, &SectionNodes::memoryPs,
          &SectionNodes::floorPs, &SectionNodes::communicationPs,
          &SectionNodes::gatherPs, &SectionNodes::reductionPs,
          &SectionNodes::flops})
      nodes.push_back(section.*part);
  return nodes;
}

//===----------------------------------------------------------------------===//
// Sections
//===----------------------------------------------------------------------===//

/// Forwards alone are one section, which is the whole.
TEST(Sections, OfInferenceAreForwards) {
  Strategy strategy = compile(makeDecoder(), {true, true});
  const TotalNodes &total = strategy.total;
  const SectionNodes &forward = total.sections[0];
  EXPECT_EQ(forward.computePs, total.computePs);
  EXPECT_EQ(forward.memoryPs, total.memoryPs);
  EXPECT_EQ(forward.floorPs, total.floorPs);
  EXPECT_EQ(forward.communicationPs, total.communicationPs);
  EXPECT_EQ(forward.flops, total.flops);
  for (NodeId none : {total.sections[1].computePs, total.sections[2].floorPs,
                      total.gradientBytes, total.savedBytes})
    EXPECT_TRUE(strategy.graph.isConstant(none, 0));
}

/// A step has all passes of forwards and backwards, and one of the optimizer.
TEST(Sections, AddUpToTheStep) {
  CostProgram program = makeTrained();
  Strategy strategy = compile(program, {}, Counting::parts);
  Machine machine = makeMachine(2);
  Runtime runtime = makeRuntime();
  ExactValues values(strategy, machine, runtime);
  Layout layout = layoutOf(2, 4);
  layout.passes = 5;
  layout.part = PartCounts(program);
  std::vector<uint32_t> order = *layersInOrder(program);
  addPlaces(program, order, 0, order.size() + 2, false, layout.part);
  ASSERT_FALSE(values.evaluate(layout, train(8, 512)));
  auto whole = [&](NodeId node) { return *values.whole(node).int64(); };
  const TotalNodes &total = strategy.total;
  std::array<int64_t, sectionCount> times = {};
  for (size_t i = 0; i < sectionCount; ++i) {
    const SectionNodes &section = total.sections[i];
    times[i] = whole(section.computePs) + whole(section.memoryPs) +
               whole(section.floorPs) + whole(section.communicationPs) +
               whole(section.gatherPs) + whole(section.reductionPs);
    EXPECT_GT(times[i], 0);
  }
  EXPECT_EQ(whole(total.stepPs), 5 * (times[0] + times[1]) + times[2]);
  EXPECT_EQ(whole(total.sections[1].flops), 2 * whole(total.sections[0].flops));
  // All reductions and gathers of weights are the optimizer's here.
  EXPECT_GT(whole(total.sections[2].reductionPs), 0);
  EXPECT_GT(whole(total.sections[2].gatherPs), 0);
  EXPECT_EQ(whole(total.sections[2].communicationPs), 0);
  EXPECT_EQ(whole(total.sections[1].reductionPs), 0);
}

/// Iterations, whose kernels run for hours; not steps of inference.
TEST(Sections, OfTrainingRunAtWhatChipsKeepUp) {
  Strategy strategy = compile(makeTrained({8192}), {});
  Machine machine = makeMachine(2);
  Runtime runtime = makeRuntime();
  auto computePs = [&] {
    ExactValues values(strategy, machine, runtime);
    EXPECT_FALSE(values.evaluate(layoutOf(2, 4), train(64, 2048)));
    return *values.whole(strategy.total.sections[0].computePs).int64();
  };
  int64_t atPeak = computePs();
  Figure half;
  half.value = 0.5;
  machine.pools.front().chip.sustainedCompute = half;
  EXPECT_NEAR(double(computePs()), 2.0 * double(atPeak), 16);
  runtime.ideal = true;
  EXPECT_EQ(computePs(), atPeak);
  Strategy decodes = compile(makeDecoder(), {});
  EXPECT_TRUE(std::none_of(
      decodes.figures.begin(), decodes.figures.end(), [](const FigureUse &use) {
        return use.kind == FigureUse::Kind::sustained_compute;
      }));
}

/// In doubles, in lanes and exactly.
TEST(Sections, ArePricedAlike) {
  CostProgram program = makeTrained();
  Machine machine = makeMeasuredMachine(4);
  Runtime runtime = makeBusyRuntime();
  std::mt19937_64 random(5);
  for (Counting counting : {Counting::whole, Counting::parts}) {
    Strategy strategy = compile(program, {true, true}, counting);
    std::vector<NodeId> wanted = nodesOf(strategy.total);
    Tape tape = collect(strategy, wanted);
    Pricer pricer(tape, machine, runtime);
    ExactValues exact(strategy, machine, runtime);
    std::vector<uint32_t> order = *layersInOrder(program);
    for (int round = 0; round < 50; ++round) {
      Layout layout =
          layoutOf(int64_t(1) << random() % 3, int64_t(1) << random() % 3);
      layout.passes = layout.microbatches = 1 + random() % 64;
      layout.part = PartCounts(program);
      size_t begin = random() % order.size();
      addPlaces(program, order, begin,
                begin + 1 + random() % (order.size() + 1 - begin), true,
                layout.part);
      std::array<GroupValues, laneCount> points;
      std::vector<Workload> workloads;
      for (GroupValues &point : points) {
        workloads.push_back(
            train(16 * (1 + random() % 8), 64 + random() % 999));
        point = pointOf(workloads.back());
      }
      ASSERT_FALSE(pricer.lay(layout));
      std::vector<double> scalar(wanted.size()),
          lanes(wanted.size() * laneCount);
      ASSERT_FALSE(pricer.price(lanesOf(points), lanes.data()));
      for (size_t lane = 0; lane < laneCount; ++lane) {
        ASSERT_FALSE(pricer.price(points[lane], scalar.data()));
        ASSERT_FALSE(exact.evaluate(layout, workloads[lane]));
        for (size_t i = 0; i < wanted.size(); ++i) {
          EXPECT_EQ(scalar[i], exact.real(wanted[i])) << i;
          EXPECT_EQ(scalar[i], lanes[i * laneCount + lane]) << i;
        }
      }
    }
  }
}

/// Prices of plans in a box lie within its bounds, and a box of one is its
/// price.
TEST(Sections, AreEnclosed) {
  Machine machine = makeMeasuredMachine(4);
  Runtime runtime = makeRuntime();
  Strategy strategy = compile(makeTrained(), {});
  std::vector<NodeId> wanted = nodesOf(strategy.total);
  Tape tape = collect(strategy, wanted);
  Pricer pricer(tape, machine, runtime);
  Enclosure enclosure(tape, machine, runtime);
  Layout layout = layoutOf(2, 2);
  ASSERT_FALSE(pricer.lay(layout));
  Box box;
  for (const BoundFigure &figure : pricer.figures())
    box.figures.push_back({figure.value, figure.value});
  std::vector<double> prices(wanted.size());
  for (int64_t width : {0, 6}) {
    box.symbols = {{4.0, 4.0 + double(width)}, {512, 512}, {512, 512}, {}, {}};
    std::vector<Interval> bounds = enclosure.enclose(layout, box);
    for (int64_t sequences = 4; sequences <= 4 + width; sequences += 2) {
      ASSERT_FALSE(pricer.price(pointOf(train(sequences, 512)), prices.data()));
      for (size_t i = 0; i < wanted.size(); ++i) {
        EXPECT_TRUE(bounds[i].contains(prices[i])) << i;
        EXPECT_TRUE(width > 0 || bounds[i].low == bounds[i].high) << i;
      }
    }
  }
}

/// Of 1 % more bandwidth, the optimizer takes 1 % less.
TEST(Sections, HaveSlopes) {
  Machine machine = makeMachine(4);
  Runtime runtime = makeRuntime();
  Strategy strategy = compile(makeTrained(), {});
  Sensitivity sensitivity(strategy, machine, runtime, std::nullopt);
  Workload workload = train(8, 512);
  GroupValues point = pointOf(workload);
  sensitivity.lay(layoutOf(2, 2), point);
  NodeId memory = strategy.total.sections[size_t(Section::optimizer)].memoryPs;
  std::vector<Slope> slopes = sensitivity.slopes(memory);
  std::vector<double> figures;
  for (const BoundFigure &figure : sensitivity.figures())
    figures.push_back(figure.value);
  double value = sensitivity.evaluate(figures, machine)[memory];
  EXPECT_GT(value, 0);
  for (size_t i = 0; i < strategy.figures.size(); ++i)
    if (strategy.figures[i].kind == FigureUse::Kind::memory_bandwidth)
      EXPECT_NEAR(slopes[i].above, -value, 1e-6 * value);
}

//===----------------------------------------------------------------------===//
// Overlap
//===----------------------------------------------------------------------===//

static TrainingTimes makeTimes() {
  TrainingTimes times;
  // Kernels, communication, dispatch, inputs, gathers, reductions.
  times.of(Section::forward) = {100, 40, 20, 0, 70, 0};
  times.of(Section::backward) = {200, 50, 30, 60, 70, 150};
  times.of(Section::optimizer) = {10, 3, 0, 0, 50, 90};
  times.weightGradientPs = 100;
  return times;
}

TEST(Overlap, HidesWhatKernelsLeaveRoomFor) {
  Runtime runtime = makeRuntime();
  TrainingTimes all = makeTimes();
  EXPECT_EQ(exposedOf(all, runtime).of(Section::backward).allPs(),
            all.of(Section::backward).allPs());
  runtime.training = makeTrainingFigures();
  TrainingTimes exposed = exposedOf(all, runtime);
  // 70 of 100 of the forward, so that 30 are left for the updated weights.
  EXPECT_EQ(exposed.of(Section::forward).gatherPs, 0);
  EXPECT_EQ(exposed.of(Section::optimizer).gatherPs, 20);
  // 60 of the 100 that make gradients of weights.
  EXPECT_EQ(exposed.of(Section::backward).inputPs, 0);
  // 70 of the 140 that leaves of the backward, 70 of which hide reductions.
  EXPECT_EQ(exposed.of(Section::backward).gatherPs, 0);
  EXPECT_EQ(exposed.of(Section::backward).reductionPs, 80);
  EXPECT_EQ(exposed.of(Section::optimizer).reductionPs, 90);
  EXPECT_EQ(exposed.of(Section::forward).communicationPs, 40);
  EXPECT_EQ(exposed.of(Section::optimizer).communicationPs, 3);
  EXPECT_EQ(exposed.of(Section::backward).kernelsPs, 200);
  EXPECT_EQ(exposed.of(Section::backward).dispatchPs, 30);
  runtime.training->hiddenCommunication.value = 0.25;
  runtime.training->hiddenDispatch.value = 0.5;
  exposed = exposedOf(all, runtime);
  EXPECT_EQ(exposed.of(Section::forward).dispatchPs, 10);
  EXPECT_EQ(exposed.of(Section::forward).communicationPs, 30);
  EXPECT_EQ(exposed.of(Section::backward).communicationPs, 38);
  EXPECT_EQ(exposed.of(Section::optimizer).communicationPs, 3);
}

/// Sums of inputs that products of the backward leave no room for are hidden as
/// other communication is; without the rule, all of them.
TEST(Overlap, HidesInputsBesideProducts) {
  Runtime runtime = makeRuntime();
  runtime.training = makeTrainingFigures();
  TrainingTimes all = makeTimes();
  all.weightGradientPs = 20;
  runtime.training->hiddenCommunication.value = 0.5;
  EXPECT_EQ(exposedOf(all, runtime).of(Section::backward).inputPs, 20);
  runtime.training->overlapsInputs.value = 0;
  EXPECT_EQ(exposedOf(all, runtime).of(Section::backward).inputPs, 30);
}

/// A quarter of what runs beside kernels makes those longer, and does not take
/// room from others.
TEST(Overlap, SlowsKernelsThatSomethingRunsBeside) {
  Runtime runtime = makeRuntime();
  runtime.training = makeTrainingFigures();
  runtime.training->contention.value = 0.25;
  TrainingTimes exposed = exposedOf(makeTimes(), runtime);
  EXPECT_EQ(exposed.of(Section::forward).gatherPs, 17);
  EXPECT_EQ(exposed.of(Section::optimizer).gatherPs, 20 + 7);
  EXPECT_EQ(exposed.of(Section::backward).inputPs, 15);
  EXPECT_EQ(exposed.of(Section::backward).gatherPs, 17);
  EXPECT_EQ(exposed.of(Section::backward).reductionPs, 80 + 17);
  EXPECT_EQ(exposed.of(Section::forward).communicationPs, 40);
}

/// Exposed is never more than all, and never less than what kernels leave.
TEST(Overlap, HasBounds) {
  std::mt19937_64 random(9);
  Runtime runtime = makeRuntime();
  runtime.training = makeTrainingFigures();
  for (int round = 0; round < 1000; ++round) {
    TrainingTimes all;
    Picoseconds weights = 0;
    for (SectionTimes &section : all.sections) {
      section = {int64_t(random() % 1000), int64_t(random() % 1000), 0, 0,
                 int64_t(random() % 1000), int64_t(random() % 1000)};
      weights += section.gatherPs + section.reductionPs;
    }
    TrainingTimes exposed = exposedOf(all, runtime);
    Picoseconds left = 0;
    for (const SectionTimes &section : exposed.sections)
      left += section.gatherPs + section.reductionPs;
    EXPECT_LE(left, weights);
    EXPECT_GE(left, weights - all.of(Section::forward).kernelsPs -
                        all.of(Section::backward).kernelsPs);
  }
}
