//===- ExpertPlacerTest.cpp -----------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Placement/ExpertPlacer.h"

#include "gtest/gtest.h"

using namespace autopar;
using namespace autopar::placement;

static const LoadProfile loads = {4, {{0, {4, 3, 2, 1}}, {3, {1, 1, 1, 1}}}};

/// 4 and 1 beside 3 and 2; with two copies more of 4 and 3 on each: 5 of each.
TEST(ExpertPlacer, FollowsDevices) {
  ExpertPlacer placer(loads, PlacementPolicy::balanced);
  EXPECT_EQ(*placer.imbalances(4, 2, 1), (std::vector<double>{1, 1}));
  EXPECT_EQ(*placer.imbalances(4, 4, 1), (std::vector<double>{1.6, 1}));
  EXPECT_EQ(*placer.imbalances(4, 1, 1), (std::vector<double>{1, 1}));
  ExpertPlacer block(loads, PlacementPolicy::block);
  EXPECT_EQ(*block.imbalances(4, 2, 1), (std::vector<double>{1.4, 1}));
}

TEST(ExpertPlacer, RefusesSlotsThatLieUnevenly) {
  ExpertPlacer placer(loads, PlacementPolicy::balanced);
  EXPECT_EQ(placer.imbalances(4, 3, 1).error().message,
            "4 slots of experts do not lie on 3 devices");
  EXPECT_FALSE(placer.imbalances(2, 2, 1));
}
