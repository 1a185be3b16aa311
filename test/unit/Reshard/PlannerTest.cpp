//===- PlannerTest.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace autopar;
using namespace autopar::program;
using namespace autopar::reshard;
using namespace autopar::test;

namespace {

constexpr AxisId a = 0, b = 1, c = 2;

std::string plan(const ShardLayout &from, const ShardLayout &to,
                 const ReshardSpace &space) {
  Result<ReshardPlan> plan = planReshard(from, to, space);
  if (!plan)
    return plan.error().str();
  return textOf(plan->steps) + (plan->cheapest ? "" : " (plain)");
}

//===----------------------------------------------------------------------===//
// All pairs
//===----------------------------------------------------------------------===//

Price priceOf(const ReshardPlan &plan) {
  int moving = 0;
  std::vector<ReshardKind> kinds;
  for (const ReshardStep &step : plan.steps) {
    moving += step.kind != ReshardKind::all_slice;
    kinds.push_back(step.kind);
  }
  return {Fraction{plan.sent, plan.whole}, moving,
          static_cast<int>(plan.steps.size()), kinds};
}

/// What is wrong with `plan` from `from` to `to`: steps that are no step, data
/// that does not arrive, a price above `least`.
std::string faultOf(const ReshardPlan &plan, const ShardLayout &from,
                    const ShardLayout &to, const Price &least,
                    const BruteForce &brute) {
  const ShardLayout *now = &from;
  for (const ReshardStep &step : plan.steps) {
    if (!brute.stepsBetween(*now, step.result).count(step.kind))
      return "a step that its equation does not make";
    now = &step.result;
  }
  if (!(*now == to))
    return "ends at " + textOf(*now);
  if (!plan.cheapest)
    return "was not searched to the end";
  return priceOf(plan) == least ? "" : "is not the cheapest";
}

std::string simulate(const ReshardPlan &plan, const ShardLayout &from,
                     const ShardLayout &to, const ReshardSpace &space,
                     const std::vector<int64_t> &extents) {
  Devices devices(extents, space.axisSizes, from);
  for (const ReshardStep &step : plan.steps)
    if (std::string wrong = devices.run(step); !wrong.empty())
      return wrong;
  return devices.compare(to);
}

bool canBecome(const ShardLayout &from, const ShardLayout &to) {
  AxisSet have = setOf(from.partial);
  return std::all_of(to.partial.begin(), to.partial.end(),
                     [&](AxisId axis) { return have.count(axis) != 0; });
}

/// Checks every pair of layouts, on data where there are extents; returns how
/// many have a plan.
size_t checkAllPairs(const ReshardSpace &space,
                     const std::vector<int64_t> &extents = {}) {
  BruteForce brute(space);
  const std::vector<ShardLayout> &layouts = brute.layouts();
  size_t planned = 0;
  for (size_t i = 0; i < layouts.size(); ++i) {
    auto least = brute.pricesFrom(i, [](const ShardLayout &) { return true; });
    for (size_t j = 0; j < layouts.size(); ++j) {
      const ShardLayout &from = layouts[i], &to = layouts[j];
      Result<ReshardPlan> plan = planReshard(from, to, space);
      EXPECT_EQ(bool(plan), canBecome(from, to));
      EXPECT_EQ(bool(plan), least[j].has_value());
      if (!plan)
        continue;
      ++planned;
      std::string wrong = faultOf(*plan, from, to, *least[j], brute);
      if (wrong.empty() && !extents.empty())
        wrong = simulate(*plan, from, to, space, extents);
      EXPECT_EQ(wrong, "") << textOf(from) << " to " << textOf(to) << ": "
                           << textOf(plan->steps);
      if (!wrong.empty())
        return planned;
    }
  }
  return planned;
}

TEST(AllPairs, OfTwoByTwo) {
  EXPECT_EQ(checkAllPairs(makeSpace({2, 2}, 3), {4, 8, 4}), 573u);
}

TEST(AllPairs, OfTwoByTwoByTwo) {
  EXPECT_EQ(checkAllPairs(makeSpace({2, 2, 2}, 3), {5, 3, 4}), 20313u);
}

TEST(AllPairs, OfEvenBlocks) {
  EXPECT_EQ(checkAllPairs(makeSpace({2, 2, 2}, 2), {8, 8}), 5139u);
}

TEST(AllPairs, OfNominalSizes) {
  ReshardSpace space = makeSpace({2, 2, 2}, 3);
  space.nominal = true;
  EXPECT_EQ(checkAllPairs(space), 20313u);
}

TEST(AllPairs, OfUnequalSizes) {
  for (std::vector<int64_t> sizes :
       {std::vector<int64_t>{2, 3}, {4, 2}, {1, 3}, {8, 8}})
    EXPECT_EQ(checkAllPairs(makeSpace(sizes, 3), {5, 4, 3}), 573u);
  EXPECT_EQ(checkAllPairs(makeSpace({2, 4, 2}, 2), {5, 9}), 5139u);
  EXPECT_EQ(checkAllPairs(makeSpace({2, 1, 3}, 2), {6, 7}), 5139u);
}

/// The elements of a set have no place: only equations and prices.
TEST(AllPairs, OfSets) {
  for (bool nominal : {false, true}) {
    ReshardSpace space = makeSpace({2, 2, 2}, 2);
    space.nominal = nominal;
    space.dims[0].isSet = true;
    EXPECT_EQ(checkAllPairs(space), 3511u);
    space.dims[1].isSet = true;
    EXPECT_EQ(checkAllPairs(space), 2197u);
  }
}

/// Whether `axes` may split dimension `dim` on the way.
bool isOnTheWay(WaySplits way, const Axes &axes, const Axes &from,
                const Axes &to) {
  if (way == WaySplits::any || axes.empty())
    return true;
  AxisSet mine = setOf(axes), start = setOf(from), end = setOf(to);
  if (way == WaySplits::ends)
    return mine == start || mine == end;
  return std::includes(start.begin(), start.end(), mine.begin(), mine.end()) ||
         std::includes(end.begin(), end.end(), mine.begin(), mine.end());
}

TEST(AllPairs, OfSplitsThatAreNotForAll) {
  ReshardSpace space = makeSpace({2, 2, 2}, 3);
  space.nominal = true;
  space.dims[0].way = WaySplits::subsets;
  space.dims[1].way = WaySplits::ends;
  BruteForce brute(space);
  const std::vector<ShardLayout> &layouts = brute.layouts();
  for (size_t i = 0; i < layouts.size(); i += 3)
    for (size_t j = i % 5; j < layouts.size(); j += 5) {
      const ShardLayout &from = layouts[i], &to = layouts[j];
      if (!canBecome(from, to))
        continue;
      auto allowed = [&](const ShardLayout &layout) {
        for (size_t dim = 0; dim < 3; ++dim)
          if (!isOnTheWay(space.dims[dim].way, layout.dims[dim], from.dims[dim],
                          to.dims[dim]))
            return false;
        return true;
      };
      auto least = brute.pricesFrom(i, allowed)[j];
      Result<ReshardPlan> plan = planReshard(from, to, space);
      ASSERT_TRUE(plan && least) << textOf(from) << " to " << textOf(to);
      EXPECT_EQ(faultOf(*plan, from, to, *least, brute), "")
          << textOf(from) << " to " << textOf(to) << ": "
          << textOf(plan->steps);
    }
}

//===----------------------------------------------------------------------===//
// By hand
//===----------------------------------------------------------------------===//

TEST(Plan, OneStepWhereOneSuffices) {
  ReshardSpace two = makeSpace({8, 4}, 2);
  EXPECT_EQ(plan({{{a}, {}}, {}}, {{{a}, {}}, {}}, two), "");
  EXPECT_EQ(plan({{{a, b}, {}}, {}}, {{{}, {}}, {}}, two), "all_gather 0 a*b");
  EXPECT_EQ(plan({{{a, b}, {}}, {}}, {{{a}, {}}, {}}, two), "all_gather 0 b");
  EXPECT_EQ(plan({{{}, {}}, {}}, {{{}, {b, a}}, {}}, two), "all_slice 1 b*a");
  EXPECT_EQ(plan({{{b}, {}}, {a}}, {{{b}, {a}}, {}}, two),
            "reduce_scatter 1 a");
  EXPECT_EQ(plan({{{b}, {}}, {a}}, {{{b}, {}}, {}}, two), "all_reduce a");
  EXPECT_EQ(plan({{{}, {}}, {b, a}}, {{{}, {}}, {}}, two), "all_reduce a*b");
  EXPECT_EQ(plan({{{}, {}}, {b, a}}, {{{}, {}}, {b}}, two), "all_reduce a");
  EXPECT_EQ(plan({{{a}, {b}}, {}}, {{{}, {b, a}}, {}}, two),
            "all_to_all 0 1 a");
  EXPECT_EQ(plan({{{a, b}, {}}, {}}, {{{b, a}, {}}, {}}, two), "permute a*b");
}

TEST(Plan, SlicesFirst) {
  ReshardSpace two = makeSpace({8, 4}, 2);
  EXPECT_EQ(plan({{{}, {}}, {a}}, {{{}, {b}}, {}}, two),
            "all_slice 1 b; all_reduce a");
  // What a device lacks is all that it gets: 1/4 of the tensor, not 7/8.
  EXPECT_EQ(plan({{{a}, {}}, {}}, {{{b}, {}}, {}}, two),
            "all_slice 0 b; permute a*b; all_gather 0 a");
}

TEST(Plan, EqualAxesTakeEachOthersPlaces) {
  EXPECT_EQ(plan({{{a}, {b}}, {}}, {{{b}, {a}}, {}}, makeSpace({4, 4}, 2)),
            "permute a*b");
  EXPECT_EQ(plan({{{a}, {}}, {}}, {{{b}, {}}, {}}, makeSpace({4, 4}, 2)),
            "permute a*b");
  ReshardSpace nominal = makeSpace({2, 2}, 2);
  nominal.nominal = true;
  EXPECT_EQ(plan({{{a}, {}}, {}}, {{{b}, {}}, {}}, nominal),
            "all_gather 0 a; all_slice 0 b");
}

/// a and b, of 2 and 3 devices, make as many blocks as c, of 6.
TEST(Plan, AxesOfEqualProductTakeEachOthersPlaces) {
  EXPECT_EQ(plan({{{a, b}}, {}}, {{{c}}, {}}, makeSpace({2, 3, 6}, 1)),
            "permute a*b*c");
}

TEST(Plan, SetsHaveNoOrder) {
  ReshardSpace space = makeSpace({2, 2}, 2);
  space.dims[0].isSet = true;
  EXPECT_EQ(plan({{{a, b}, {}}, {}}, {{{b, a}, {}}, {}}, space), "");
  EXPECT_EQ(plan({{{a, b}, {}}, {}}, {{{b}, {}}, {}}, space), "all_gather 0 a");
  EXPECT_EQ(plan({{{a, b}, {}}, {}}, {{{}, {b, a}}, {}}, space),
            "all_to_all 0 1 b*a");
}

TEST(Plan, KeepsToSplitsThatDivide) {
  ReshardSpace space = makeSpace({8, 4}, 2);
  for (ReshardDim &dim : space.dims)
    dim.way = WaySplits::subsets;
  EXPECT_EQ(plan({{{a}, {}}, {}}, {{{b}, {}}, {}}, space),
            "all_gather 0 a; all_slice 0 b");
}

/// tp in four parts, beside two of dp and one of cp.
TEST(Plan, ManyAxes) {
  ReshardSpace space = makeSpace(std::vector<int64_t>(7, 2), 3);
  space.nominal = true;
  EXPECT_EQ(plan({{{0, 1, 2, 3}, {}, {4, 5, 6}}, {}},
                 {{{0, 1}, {6}, {2, 3, 4, 5}}, {}}, space),
            "all_to_all 2 1 g; all_to_all 2 0 e*f; all_to_all 0 2 c*d*e*f");
  EXPECT_EQ(plan({{{0, 1, 2}, {3}, {}}, {4, 5, 6}},
                 {{{0, 1, 4, 2}, {3, 5, 6}, {}}, {}}, space),
            "reduce_scatter 1 f*g; reduce_scatter 0 e; permute c*e");
}

TEST(Plan, TakesThePlainWayWhereThereAreTooMany) {
  ReshardSpace space = makeSpace(std::vector<int64_t>(20, 2), 3);
  ShardLayout from, to;
  from.dims.resize(3);
  to.dims.resize(3);
  for (AxisId axis = 0; axis < 20; ++axis) {
    from.dims[axis % 3].push_back(axis);
    to.dims[(axis + 1) % 3].insert(to.dims[(axis + 1) % 3].begin(), axis);
  }
  Result<ReshardPlan> found = planReshard(from, to, space);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->cheapest);
  EXPECT_EQ(found->steps.size(), 6u);
  EXPECT_EQ(found->steps.back().result, to);
}

TEST(Plan, RefusesWhatDoesNotFit) {
  ReshardSpace space = makeSpace({2, 2}, 1);
  EXPECT_EQ(plan({{{}}, {a}}, {{{}}, {b}}, space),
            "makes a partial sum over axis 1 of whole values");
  EXPECT_EQ(plan({{{a}}, {a}}, {{{}}, {}}, space), "axis 0 appears twice");
  EXPECT_EQ(plan({{{}}, {}}, {{{7}}, {}}, space), "axis 7 of a mesh of 2");
  EXPECT_EQ(plan({{{}, {}}, {}}, {{{}}, {}}, space),
            "a layout of rank 2, expected 1");
  EXPECT_EQ(plan({{{}}, {}}, {{{}}, {}}, makeSpace({2, 0}, 1)),
            "an axis of size 0, expected at least 1");
  EXPECT_EQ(plan({{{}}, {}}, {{{}}, {}}, makeSpace({1 << 20, 1 << 20}, 1)),
            "a mesh of 1099511627776 devices, expected at most 1073741824");
  EXPECT_EQ(
      plan({{{}}, {}}, {{{}}, {}}, makeSpace(std::vector<int64_t>(65, 1), 1)),
      "a mesh of 65 axes, expected at most 64");
}

} // namespace
