//===- IntervalTest.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"

#include "autopar/Cost/Interval.h"
#include "autopar/Cost/Sensitivity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::runtime;
using namespace autopar::test;

namespace {

/// Matrix products with a curve, all-reduces with another, and a runtime that
/// adds something of each kind.
struct Deployment {
  Deployment() {
    KernelCurve curve;
    curve.floorUs = 2.1;
    curve.computeEfficiency = 0.7;
    curve.memoryEfficiency = 0.8;
    curve.exponent = 3;
    curve.path = "chips.h100-sxm.kernels.matmul.bf16";
    machine.pools[0].chip.kernels[KernelKind::matmul]["bf16"] = curve;
    addShapes(machine.pools[0].chip);
    machine.pools[0].tiers[0].curves[CollectiveKind::all_reduce][8] = {
        20, {12.5, 20.1, 37.7}, {"measured", "calls"}};
    runtime.memoryUtilization.value = 0.9;
    runtime.contextBytes.value = 1e9;
    runtime.communicationBytes.value = 4567.5;
    runtime.hostTimeUs.value = 250.3;
    runtime.kernelFloorUs.value = 1.7;
    runtime.mergesSharedInput = runtime.fusesElementwise = true;
    strategy = compile(program, {true, true});
    layout.axes = {{1, 8}};
    layout.devices = 8;
  }

  CostProgram program = makeDecoder();
  Machine machine = makeMachine();
  Runtime runtime = makeRuntime();
  Strategy strategy;
  Layout layout;
};

std::vector<NodeId> outputsOf(const TotalNodes &total) {
  return {total.stepPs, total.totalBytes, total.kvCapacityTokens};
}

/// Draws boxes, and plans in them.
class Boxes {
public:
  Boxes(const Deployment &deployment)
      : figures(bindFigures(deployment.strategy, deployment.machine.pools[0],
                            deployment.runtime, std::nullopt)) {
    for (const FigureUse &use : deployment.strategy.figures) {
      isFixed.push_back(use.kind == FigureUse::Kind::exponent ||
                        use.kind == FigureUse::Kind::kv_block_tokens);
      isRate.push_back(use.kind == FigureUse::Kind::memory_bandwidth ||
                       use.kind == FigureUse::Kind::peak ||
                       use.kind == FigureUse::Kind::compute_efficiency ||
                       use.kind == FigureUse::Kind::memory_efficiency);
    }
  }

  Box draw() {
    Box box;
    for (size_t i = 0; i < symbolCount; ++i) {
      double low = std::floor(real(1, 200));
      box.symbols[i] = {low, low + std::floor(real(0, 50))};
    }
    // A context holds the new tokens.
    box.symbols[2] = {box.symbols[1].high, box.symbols[1].high + 300};
    for (size_t i = 0; i < figures.size(); ++i) {
      double value = figures[i].value;
      double wide = isFixed[i] ? 0 : real(0, 0.05);
      box.figures.push_back({value * (1 - wide), value * (1 + wide)});
    }
    return box;
  }
  /// A plan of `box`; sets the figures of `pricer`.
  GroupValues pick(const Box &box, Pricer &pricer) {
    GroupValues point{};
    for (size_t i = 0; i < symbolCount; ++i)
      point[i] = std::floor(real(box.symbols[i].low, box.symbols[i].high + 1));
    for (size_t i = 0; i < box.figures.size(); ++i)
      pricer.setFigure(static_cast<uint32_t>(i),
                       real(box.figures[i].low, box.figures[i].high));
    return point;
  }

  std::vector<BoundFigure> figures;
  std::vector<bool> isFixed, isRate;

private:
  double real(double low, double high) {
    return low < high
               ? std::uniform_real_distribution<double>(low, high)(random)
               : low;
  }
  std::mt19937_64 random{7};
};

} // namespace

TEST(Interval, HoldsAllPlansOfABox) {
  Deployment deployment;
  Tape tape =
      collect(deployment.strategy, outputsOf(deployment.strategy.total));
  Pricer pricer(tape, deployment.machine, deployment.runtime);
  Enclosure enclosure(tape, deployment.machine, deployment.runtime);
  Boxes boxes(deployment);
  constexpr int boxCount = 10'000, planCount = 20;
  int outside = 0;
  for (int i = 0; i < boxCount; ++i) {
    Box box = boxes.draw();
    std::vector<Interval> bounds = enclosure.enclose(deployment.layout, box);
    for (int j = 0; j < planCount; ++j) {
      GroupValues point = boxes.pick(box, pricer);
      double outputs[3];
      ASSERT_FALSE(pricer.lay(deployment.layout));
      ASSERT_FALSE(pricer.price(point, outputs));
      for (int k = 0; k < 3; ++k)
        outside += !bounds[k].contains(outputs[k]);
    }
  }
  EXPECT_EQ(outside, 0);
}

TEST(Interval, OfOnePlanIsItsPrice) {
  Deployment deployment;
  Tape tape =
      collect(deployment.strategy, outputsOf(deployment.strategy.total));
  Pricer pricer(tape, deployment.machine, deployment.runtime);
  Enclosure enclosure(tape, deployment.machine, deployment.runtime);
  Boxes boxes(deployment);
  for (int i = 0; i < 100; ++i) {
    Box box = boxes.draw();
    for (Interval &figure : box.figures)
      figure.high = figure.low;
    for (Interval &symbol : box.symbols)
      symbol.high = symbol.low;
    GroupValues point = boxes.pick(box, pricer);
    double outputs[3];
    ASSERT_FALSE(pricer.lay(deployment.layout));
    ASSERT_FALSE(pricer.price(point, outputs));
    std::vector<Interval> bounds = enclosure.enclose(deployment.layout, box);
    for (int k = 0; k < 3; ++k) {
      EXPECT_EQ(bounds[k].low, outputs[k]);
      EXPECT_EQ(bounds[k].high, outputs[k]);
    }
  }
}

// Each figure goes one way: the ends of a box are those of two of its corners.
TEST(Interval, EndsAreCornersThatSlopesPick) {
  Deployment deployment;
  const TotalNodes &total = deployment.strategy.total;
  Tape tape = collect(deployment.strategy, outputsOf(total));
  Pricer pricer(tape, deployment.machine, deployment.runtime);
  Enclosure enclosure(tape, deployment.machine, deployment.runtime);
  Boxes boxes(deployment);
  for (int i = 0; i < 50; ++i) {
    Box box = boxes.draw();
    GroupValues point{};
    for (size_t k = 0; k < symbolCount; ++k) {
      box.symbols[k].high = box.symbols[k].low;
      point[k] = box.symbols[k].low;
    }
    std::vector<Interval> bounds = enclosure.enclose(deployment.layout, box);
    Sensitivity sensitivity(deployment.strategy, deployment.machine,
                            deployment.runtime, std::nullopt);
    sensitivity.lay(deployment.layout, point);
    std::vector<NodeId> nodes = outputsOf(total);
    for (size_t k = 0; k < nodes.size(); ++k) {
      std::vector<Slope> slopes = sensitivity.slopes(nodes[k]);
      for (bool high : {false, true}) {
        for (uint32_t f = 0; f < box.figures.size(); ++f) {
          double slope = slopes[f].above + slopes[f].below;
          // What does not bind at the middle may at a corner: faster is less
          // time, and larger steps leave less for caches.
          bool isCapacity = nodes[k] == total.kvCapacityTokens;
          bool rises =
              slope > 0 || (slope == 0 && boxes.isRate[f] == isCapacity);
          pricer.setFigure(f, rises == high ? box.figures[f].high
                                            : box.figures[f].low);
        }
        double outputs[3];
        ASSERT_FALSE(pricer.lay(deployment.layout));
        ASSERT_FALSE(pricer.price(point, outputs));
        EXPECT_EQ(outputs[k], high ? bounds[k].high : bounds[k].low)
            << "output " << k;
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Slopes
//===----------------------------------------------------------------------===//

TEST(Sensitivity, AgreesWithCentralDifferences) {
  Deployment deployment;
  for (Workload workload :
       {decode(8, 4096), decode(300, 100), prefill(2, 999), prefill(1, 1)}) {
    Sensitivity sensitivity(deployment.strategy, deployment.machine,
                            deployment.runtime, std::nullopt);
    sensitivity.lay(deployment.layout, pointOf(workload));
    std::vector<double> values;
    for (const BoundFigure &figure : sensitivity.figures())
      values.push_back(figure.value);
    constexpr double step = 1e-4;
    for (NodeId output : outputsOf(deployment.strategy.total)) {
      std::vector<Slope> slopes = sensitivity.slopes(output);
      auto at = [&](size_t i, double factor) {
        std::vector<double> moved = values;
        moved[i] *= factor;
        return sensitivity.evaluate(moved, deployment.machine)[output];
      };
      double scale = std::fabs(at(0, 1));
      for (size_t i = 0; i < values.size(); ++i) {
        // An exponent is one of a few; a peak that is missing is no number.
        if (deployment.strategy.figures[i].kind == FigureUse::Kind::exponent ||
            !std::isfinite(values[i]) || slopes[i].above != slopes[i].below)
          continue;
        double expected = (at(i, 1 + step) - at(i, 1 - step)) / (2 * step);
        EXPECT_NEAR(slopes[i].above, expected, 1e-6 * scale) << i;
      }
    }
  }
}

TEST(Sensitivity, OfLinksToo) {
  Deployment deployment;
  Sensitivity sensitivity(deployment.strategy, deployment.machine,
                          deployment.runtime, std::nullopt);
  sensitivity.lay(deployment.layout, pointOf(prefill(1, 100)));
  std::vector<double> values;
  for (const BoundFigure &figure : sensitivity.figures())
    values.push_back(figure.value);
  NodeId output = deployment.strategy.total.stepPs;
  std::vector<Slope> slopes = sensitivity.slopes(output);
  constexpr double step = 1e-4;
  for (size_t i = 0; i < sensitivity.linkFigures().size(); ++i) {
    LinkFigure link = sensitivity.linkFigures()[i];
    double value =
        (deployment.machine.pools[0].tiers[link.tier].*link.figure).value;
    auto at = [&](double factor) {
      Machine machine =
          withLinkFigure(deployment.machine, link, value * factor);
      return sensitivity.evaluate(values, machine)[output];
    };
    double expected = (at(1 + step) - at(1 - step)) / (2 * step);
    EXPECT_NEAR(slopes[values.size() + i].above, expected, 1e-6 * at(1)) << i;
  }
}

// A floor of the runtime that is the curve's: more of either raises it, less
// of one alone does not lower it.
TEST(Sensitivity, ListsBothSidesOfAKink) {
  Deployment deployment;
  deployment.runtime.kernelFloorUs.value = 2.1;
  Sensitivity sensitivity(deployment.strategy, deployment.machine,
                          deployment.runtime, std::nullopt);
  sensitivity.lay(deployment.layout, pointOf(decode(8, 4096)));
  std::vector<Slope> slopes =
      sensitivity.slopes(deployment.strategy.total.stepPs);
  int kinks = 0;
  for (size_t i = 0; i < deployment.strategy.figures.size(); ++i)
    if (deployment.strategy.figures[i].kind == FigureUse::Kind::curve_floor &&
        slopes[i].above != slopes[i].below) {
      EXPECT_GT(slopes[i].above, 0);
      EXPECT_NEAR(slopes[i].below, 0, 1e-3);
      ++kinks;
    }
  EXPECT_EQ(kinks, 1);
}
