//===- CountsTest.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Cost/Counts.h"

#include "Fixtures.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace autopar;
using namespace autopar::test;

static Pairs makePairs(bool causal, int64_t window = 0, int64_t chunk = 0) {
  Pairs pairs;
  pairs.causal = causal;
  pairs.window = window;
  pairs.chunk = chunk;
  return pairs;
}

/// Asks of every query and every key whether the one sees the other.
static int64_t countByLoop(int64_t query, int64_t context, const Pairs &pairs) {
  int64_t count = 0;
  for (int64_t p = context - query; p < context; ++p) {
    int64_t keys = 0;
    for (int64_t key = 0; key < context; ++key) {
      bool sees = !pairs.causal || key <= p;
      if (pairs.chunk)
        sees &= key / pairs.chunk == p / pairs.chunk;
      keys += sees;
    }
    count += pairs.window ? std::min(keys, pairs.window) : keys;
  }
  return count;
}

TEST(CountPairs, EqualsALoop) {
  for (int64_t context : {1, 2, 7, 16, 33})
    for (int64_t query = 1; query <= context; ++query)
      for (int64_t size = 0; size <= context + 2; ++size)
        for (bool causal : {true, false})
          for (const Pairs &pairs :
               {makePairs(causal, size, 0), makePairs(causal, 0, size)})
            EXPECT_EQ(*countPairs(query, context, pairs).int64(),
                      countByLoop(query, context, pairs))
                << query << " " << context << " " << pairs.window << " "
                << pairs.chunk << " " << causal;
}

TEST(CountPairs, CountsByHand) {
  Pairs causal = makePairs(true);
  // 2048*2048 - 2048*2047/2.
  EXPECT_EQ(*countPairs(2048, 2048, causal).int64(), 2'098'176);
  EXPECT_EQ(*countPairs(1, 2048, causal).int64(), 2048);
  EXPECT_EQ(*countPairs(1, 2048, makePairs(true, 128)).int64(), 128);
  // 1+2+3+4, then 4 keys for each of the other four.
  EXPECT_EQ(*countPairs(8, 8, makePairs(true, 4)).int64(), 26);
  // Chunks 0-3, 4-7, 8-9: 4, then 1+2+3+4, then 1+2.
  EXPECT_EQ(*countPairs(7, 10, makePairs(true, 0, 4)).int64(), 17);
  // 4, then 4*4, then 2*2.
  EXPECT_EQ(*countPairs(7, 10, makePairs(false, 0, 4)).int64(), 24);
  // No loops: a context of 2^40 takes no time.
  int64_t far = int64_t(1) << 40;
  EXPECT_EQ(*countPairs(2, far, causal).int64(), 2 * far - 1);
  EXPECT_FALSE(countPairs(far, far, causal).int64());
  EXPECT_EQ(*countPairs(far, far, makePairs(true, 0, 2)).int64(), far / 2 * 3);
}

TEST(ExpectedExperts, CountsByHand) {
  EXPECT_DOUBLE_EQ(expectedExperts(8, 2, 0), 0);
  EXPECT_NEAR(expectedExperts(8, 2, 1), 2, 1e-12);
  // 8 * (1 - (3/4)^2).
  EXPECT_NEAR(expectedExperts(8, 2, 2), 3.5, 1e-12);
  EXPECT_NEAR(expectedExperts(256, 8, 4), 256 * (1 - std::pow(31. / 32, 4)),
              1e-9);
  EXPECT_DOUBLE_EQ(expectedExperts(8, 8, 3), 8);
  EXPECT_DOUBLE_EQ(expectedExperts(8, 2, 1e9), 8);
}

namespace {
struct CountsTest : testing::Test {
  CostProgram program = makeDecoder();
};
} // namespace

TEST_F(CountsTest, RoundsExpectedBytes) {
  Sizes sizes(program, makePlan(4), decode(2, 8));
  Traffic traffic;
  traffic.role = Traffic::Role::weight;
  traffic.shape = {number(8), number(3), split(4)};
  traffic.topK = 2;
  traffic.rows = {{{2, {batch, query}, 0}, {}, SplitRule::any, 1}};
  // 3.5 experts of 3 x 1 elements of 2 bytes.
  EXPECT_EQ(*countBytes(traffic, sizes).int64(), 21);
  // Over 4 devices, each holds a quarter of what is reached: 5.25 x 4 / 4.
  traffic.shape = {split(8), number(3), number(1)};
  EXPECT_EQ(*countBytes(traffic, sizes).int64(), 5);
}

TEST_F(CountsTest, SplitsByEachRule) {
  Sizes sizes(program, makePlan(8), prefill(3, 5));
  auto local = [&](const Dim &dim) { return *sizes.local(dim).int64(); };
  EXPECT_EQ(local(number(7)), 7);
  EXPECT_EQ(local(split(64)), 8);
  EXPECT_EQ(local(split(128256, SplitRule::pad, 64)), 16032);
  EXPECT_EQ(local(split(100, SplitRule::pad, 64)), 16);
  EXPECT_EQ(local(split(5, SplitRule::pad, 1)), 1);
  EXPECT_EQ(local(split(16, SplitRule::cap)), 2);
  EXPECT_EQ(local(split(8, SplitRule::cap)), 1);
  EXPECT_EQ(local(split(2, SplitRule::cap)), 1);
  EXPECT_EQ(local(split(9, SplitRule::any)), 2);
  EXPECT_EQ(local(split(1, SplitRule::any)), 1);
  EXPECT_EQ(local(symbol(query, 2)), 10);
  Dim routed = {{4, {batch, query}, 0}, {tp}, SplitRule::any, 1};
  EXPECT_EQ(local(routed), 8);
  EXPECT_FALSE(sizes.failed());
}

TEST_F(CountsTest, PadsToTheProductOfAwkwardAxes) {
  Sizes sizes(program, makePlan(6), prefill(1, 1));
  // 100 -> 128 -> 132 = 6 * 22.
  EXPECT_EQ(*sizes.local(split(100, SplitRule::pad, 64)).int64(), 22);
}

TEST_F(CountsTest, RefusesSplitsWithTheirNumbers) {
  std::string name = "layer/q_proj";
  for (SplitRule rule : {SplitRule::plain, SplitRule::cap}) {
    Sizes sizes(program, makePlan(8), prefill(1, 1));
    sizes.enter("kernel", name);
    sizes.local(split(12, rule));
    ASSERT_TRUE(sizes.failed());
    EXPECT_EQ(sizes.takeError().message.rfind(
                  "kernel 'layer/q_proj': 12 does not divide by tp = 8", 0),
              0u);
  }
  Sizes sizes(program, makePlan(8), prefill(1, 1));
  sizes.local(split(3, SplitRule::cap));
  EXPECT_EQ(sizes.takeError().note, "sizes that work: 1, 3, 6, 9, 12, 15, 18, "
                                    "21, 24, 27");
}

TEST_F(CountsTest, LimitsExtents) {
  Sizes sizes(program, makePlan(1), decode(1, 5000));
  Dim dim = symbol(context);
  dim.extent.limit = 4096;
  EXPECT_EQ(*sizes.local(dim).int64(), 4096);
  EXPECT_EQ(*sizes.localPaged({number(2), dim}, 1, 100).int64(), 2 * 4100);
  dim.extent.limit = 8192;
  EXPECT_EQ(*sizes.local(dim).int64(), 5000);
  // As many as each of the new tokens selects.
  dim.extent.limit = 2048;
  dim.extent.limitSymbols = {query};
  EXPECT_EQ(*sizes.local(dim).int64(), 2048);
  Sizes several(program, makePlan(1), prefill(1, 5000));
  EXPECT_EQ(*several.local(dim).int64(), 5000);
}
