//===- FrontierTest.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Search/Frontier.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <random>

using namespace autopar;
using namespace autopar::search;

namespace {

Candidate candidate(double timeUs, double tokensPerS, uint32_t sizes = 0) {
  Candidate one;
  one.cost = one.timeUs = timeUs;
  one.tokensPerS = tokensPerS;
  one.sizes = sizes;
  return one;
}

TEST(FrontierTest, KeepsWhatIsBetterInOne) {
  Frontier frontier;
  EXPECT_TRUE(frontier.add(candidate(10, 100)));
  EXPECT_TRUE(frontier.add(candidate(20, 200)));
  EXPECT_TRUE(frontier.add(candidate(5, 50)));
  EXPECT_FALSE(frontier.add(candidate(11, 99)));
  ASSERT_EQ(frontier.all().size(), 3u);
  EXPECT_EQ(frontier.all()[0].timeUs, 5);
  EXPECT_EQ(frontier.all()[2].timeUs, 20);
}

TEST(FrontierTest, DropsWhatIsBeaten) {
  Frontier frontier;
  for (int i = 1; i <= 5; ++i)
    frontier.add(candidate(10 * i, 100 * i));
  EXPECT_TRUE(frontier.add(candidate(20, 400)));
  ASSERT_EQ(frontier.all().size(), 3u);
  EXPECT_EQ(frontier.all()[1].tokensPerS, 400);
  EXPECT_EQ(frontier.all()[2].tokensPerS, 500);
}

TEST(FrontierTest, OfEqualsTheFirstInTheSpaceStays) {
  for (bool isFirstAdded : {true, false}) {
    Frontier frontier;
    frontier.add(candidate(10, 100, isFirstAdded ? 1 : 2));
    frontier.add(candidate(10, 100, isFirstAdded ? 2 : 1));
    ASSERT_EQ(frontier.all().size(), 1u);
    EXPECT_EQ(frontier.all()[0].sizes, 1u);
  }
}

TEST(FrontierTest, DoesNotDependOnOrder) {
  std::mt19937 random(7);
  std::vector<Candidate> all;
  for (uint32_t i = 0; i < 300; ++i)
    all.push_back(candidate(1 + random() % 40, 1 + random() % 40, i));
  auto isBeaten = [&](const Candidate &one) {
    return std::any_of(all.begin(), all.end(), [&](const Candidate &other) {
      bool isAsGood =
          other.timeUs <= one.timeUs && other.tokensPerS >= one.tokensPerS;
      bool isBetter =
          other.timeUs < one.timeUs || other.tokensPerS > one.tokensPerS;
      return isAsGood && (isBetter || other.sizes < one.sizes);
    });
  };
  std::vector<uint32_t> expected;
  for (const Candidate &one : all)
    if (!isBeaten(one))
      expected.push_back(one.sizes);
  for (int round = 0; round < 5; ++round) {
    std::shuffle(all.begin(), all.end(), random);
    Frontier left, right;
    for (size_t i = 0; i < all.size(); ++i)
      (i % 3 ? left : right).add(all[i]);
    left.add(right);
    std::vector<uint32_t> found;
    for (const Candidate &one : left.all())
      found.push_back(one.sizes);
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, expected);
  }
}

} // namespace
