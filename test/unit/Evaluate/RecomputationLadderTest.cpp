//===- RecomputationLadderTest.cpp ----------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Evaluate/RecomputationLadder.h"

#include "gtest/gtest.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::evaluation;
using namespace autopar::program;

using Kind = Recomputation::Kind;

namespace {

/// A stage of eight layers that each save 10 bytes. Norms save 1 of them for 1
/// us, activations 2 for 4, networks 4 for 40; products keep 5 for 50, every
/// second one 3 for 70; all but 1 for 100.
class Machine {
public:
  explicit Machine(int64_t budget) : budget(budget) {}

  std::optional<PricedRecomputation> price(const Recomputation &what) {
    asked.push_back(what.str());
    int64_t layers = what.layersOfStage > 0 ? what.layersOfStage : 8;
    auto [bytes, timeUs] = ofLayer(what);
    return PricedRecomputation{what, 80 - layers * bytes - budget,
                               1000 + static_cast<double>(layers) * timeUs};
  }

  std::string choose() {
    std::optional<RecomputationChoice> choice = chooseRecomputation(
        *price({}), parts, 8,
        [&](const Recomputation &what) { return price(what); });
    tried.clear();
    for (const PricedRecomputation &one : choice->tried) {
      EXPECT_FALSE(one.fits());
      tried.push_back(one.what.str());
    }
    return choice->chosen.what.str();
  }

  int64_t budget;
  std::vector<LayerPart> parts = {layerParts.begin(), layerParts.end()};
  std::vector<std::string> asked, tried;

private:
  static std::pair<int64_t, double> ofLayer(const Recomputation &what) {
    std::pair<int64_t, double> sum;
    auto add = [&](int64_t bytes, double timeUs) {
      sum.first += bytes;
      sum.second += timeUs;
    };
    if (what.kind == Kind::full)
      add(9, 100);
    if (what.kind == Kind::save_products)
      what.every == 1 ? add(5, 50) : add(7, 70);
    for (LayerPart part : what.parts) {
      if (part == LayerPart::norms)
        add(1, 1);
      if (part == LayerPart::mlp_activation)
        add(2, 4);
      if (part == LayerPart::mlp)
        add(4, 40);
      if (part == LayerPart::attention_core)
        add(0, 30);
    }
    return sum;
  }
};

using Names = std::vector<std::string>;

} // namespace

TEST(RecomputationLadder, NothingWhereItFits) {
  Machine machine(80);
  EXPECT_EQ(machine.choose(), "none");
  EXPECT_EQ(machine.asked, Names{"none"});
  EXPECT_TRUE(machine.tried.empty());
}

/// Most bytes a second first; attention's core saves nothing.
TEST(RecomputationLadder, ListsGrow) {
  Machine norms(72), two(56), three(24);
  EXPECT_EQ(norms.choose(), "norms");
  EXPECT_EQ(two.choose(), "norms+mlp_activation");
  EXPECT_EQ(two.tried.front(), "none");
  EXPECT_EQ(two.tried[1], "norms");
  EXPECT_EQ(three.choose(), "norms+mlp_activation+mlp");
}

TEST(RecomputationLadder, PartsThatAreNotThereAreNotPriced) {
  Machine machine(41);
  machine.parts = {LayerPart::norms, LayerPart::mlp};
  EXPECT_EQ(machine.choose(), "norms+mlp");
  EXPECT_EQ(
      std::count(machine.asked.begin(), machine.asked.end(), "mlp_activation"),
      0);
}

/// 3 layers save 27 bytes for 300 us, products 40 for 400.
TEST(RecomputationLadder, FewLayersWhereThatIsLess) {
  Machine machine(53);
  EXPECT_EQ(machine.choose(), "full:3");
  EXPECT_EQ(machine.tried,
            (Names{"none", "norms", "norms+mlp_activation", "full:2"}));
}

TEST(RecomputationLadder, AllWhereNothingFits) {
  Machine least(8), nothing(7);
  EXPECT_EQ(least.choose(), "full");
  EXPECT_EQ(nothing.choose(), "full");
}

TEST(RecomputationLadder, WhatCannotBePricedEndsIt) {
  PricedRecomputation none{{}, 1, 0};
  EXPECT_FALSE(
      chooseRecomputation(none, {LayerPart::norms}, 8,
                          [](const Recomputation &) { return std::nullopt; }));
}
