//===- LargestReadTest.cpp - The replica that reads most ------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LargestRead.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace autopar;

/// Of two counts of Poisson's law with mean 1: the sum of 1 - P(at most k)^2.
TEST(LargestReadTest, CountsOfPoissonsLaw) {
  ReplicaReads reads{2, 0, 100, true};
  EXPECT_NEAR(reads.largest(2), 1.5237, 1e-3);
  // Dealt evenly: P(1 or more) + P(3 or more) + P(5 or more) + ...
  EXPECT_NEAR(reads.largestOfEven(2), 1.2454, 1e-3);
}

/// Of one that has room for one, half of the steps read; what waits is that of
/// a queue in discrete time, m^2 / (2 * (1 - m)) = 1/4 of a prompt.
TEST(LargestReadTest, WhatHasNoRoomWaits) {
  ReplicaReads reads{1, 0, 1, true};
  EXPECT_NEAR(reads.largest(0.5), 0.5, 1e-3);
  Unread unread = reads.unread(0.5);
  EXPECT_NEAR(unread.steps, 0.5, 2e-3);
  EXPECT_NEAR(unread.share, 2 * std::log(2.0) - 1, 2e-3);
  EXPECT_EQ(reads.unread(0).steps, 0);
}

/// The largest of none, one and many; no more than there is room for.
TEST(LargestReadTest, LengthsThatDiffer) {
  LengthLaw law{0, 1, 0.36};
  double infinity = HUGE_VAL;
  EXPECT_NEAR(law.longest(1, infinity), 1, 5e-3);
  // Of two normal ones 1/sqrt(pi) deviations above the mean; of log-normal
  // ones 2 * N(deviation / sqrt(2)), exactly.
  double deviation = std::sqrt(std::log1p(0.36));
  EXPECT_NEAR(law.longest(2, infinity), std::erfc(-deviation / 2), 5e-3);
  EXPECT_LT(law.longest(8, 1.5), 1.5);
  EXPECT_GT(law.longest(8, 1.5), 1.4);
  // The room is left where nothing comes.
  EXPECT_NEAR(LengthLaw({1, 1, 0.36}).idleSquare(3), 9, 1e-2);
}

/// Full replicas all read as much; very many have as many each.
TEST(LargestReadTest, ManyAreEven) {
  for (double variation : {0.0, 0.36}) {
    ReplicaReads reads{8, variation, 2, true};
    EXPECT_NEAR(reads.largest(15.9), 2, 1e-2) << variation;
    EXPECT_EQ(reads.largest(1e6), 2) << variation;
    EXPECT_DOUBLE_EQ(reads.largestToRead(8e6), 1e6) << variation;
  }
}
