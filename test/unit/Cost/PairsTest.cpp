//===- PairsTest.cpp - (query, key) pairs of attention --------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"
#include "Run.h"

#include "autopar/Cost/Exact.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::runtime;
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
      if (pairs.window)
        sees &= pairs.causal ? key > p - pairs.window
                             : std::abs(p - key) <= pairs.window / 2;
      keys += sees;
    }
    count += keys;
  }
  return count;
}

/// As prices have them.
static double priced(int64_t query, int64_t context, const Pairs &pairs) {
  PairsRule rule{pairs.causal, static_cast<double>(pairs.window),
                 static_cast<double>(pairs.chunk)};
  return pairsOf(static_cast<double>(query), static_cast<double>(context),
                 rule);
}

/// As reports have them.
static Checked exact(int64_t queries, int64_t contexts, const Pairs &pairs) {
  Strategy strategy;
  Graph &graph = strategy.graph;
  auto leaf = [&](Symbol which) {
    return graph.leaf(Op::symbol, static_cast<uint32_t>(which), Rank::point,
                      true, false);
  };
  NodeId node = graph.make(Op::pairs, leaf(Symbol::query),
                           leaf(Symbol::context), graph.addPairs(pairs));
  CostProgram program;
  Machine machine = makeMachine();
  Runtime runtime = makeRuntime();
  ExactValues values(strategy, machine, runtime);
  EXPECT_FALSE(
      values.evaluate(makeLayout(1), {Phase::prefill, 1, queries, contexts}));
  return values.whole(node);
}

TEST(Pairs, EqualALoop) {
  for (int64_t keys : {1, 2, 7, 16, 33})
    for (int64_t queries = 1; queries <= keys; ++queries)
      for (int64_t size = 0; size <= keys + 2; ++size)
        for (bool causal : {true, false})
          for (const Pairs &pairs :
               {makePairs(causal, size, 0), makePairs(causal, 0, size)}) {
            int64_t expected = countByLoop(queries, keys, pairs);
            EXPECT_EQ(priced(queries, keys, pairs), expected)
                << queries << " " << keys << " " << pairs.window << " "
                << pairs.chunk << " " << causal;
            EXPECT_EQ(exact(queries, keys, pairs), Checked(expected));
          }
}

static int64_t count(int64_t queries, int64_t keys, const Pairs &pairs) {
  int64_t whole = exact(queries, keys, pairs).int64().value_or(-1);
  if (whole < int64_t(1) << 53)
    EXPECT_EQ(priced(queries, keys, pairs), whole);
  return whole;
}

TEST(Pairs, CountByHand) {
  Pairs causal = makePairs(true);
  // 2048*2048 - 2048*2047/2.
  EXPECT_EQ(count(2048, 2048, causal), 2'098'176);
  EXPECT_EQ(count(1, 2048, causal), 2048);
  EXPECT_EQ(count(1, 2048, makePairs(true, 128)), 128);
  // 1+2+3+4, then 4 keys for each of the other four.
  EXPECT_EQ(count(8, 8, makePairs(true, 4)), 26);
  // Two keys on either side: 3+4, then 5 for each, then 4+3.
  EXPECT_EQ(count(8, 8, makePairs(false, 4)), 34);
  EXPECT_EQ(count(3, 8, makePairs(false, 5)), 12);
  // Chunks 0-3, 4-7, 8-9: 4, then 1+2+3+4, then 1+2.
  EXPECT_EQ(count(7, 10, makePairs(true, 0, 4)), 17);
  // 4, then 4*4, then 2*2.
  EXPECT_EQ(count(7, 10, makePairs(false, 0, 4)), 24);
  // No loops: a context of 2^40 takes no time.
  int64_t far = int64_t(1) << 40;
  EXPECT_EQ(count(2, far, causal), 2 * far - 1);
  EXPECT_FALSE(exact(far, far, causal).int64());
  EXPECT_TRUE(exact(far, far, causal).valid());
  EXPECT_EQ(count(far, far, makePairs(true, 0, 2)), far / 2 * 3);
}

TEST(Pairs, TakeEmptyExtents) {
  EXPECT_EQ(count(0, 0, makePairs(true, 0)), 0);
  EXPECT_EQ(count(0, 0, makePairs(false, 4)), 0);
  EXPECT_EQ(count(0, 9, makePairs(true, 0)), 0);
  EXPECT_EQ(count(9, 0, makePairs(false, 0)), 0);
  EXPECT_EQ(count(9, 0, makePairs(false, 4)), 0);
  // Queries before the first key see none: 0+0+1+2.
  EXPECT_EQ(count(9, 0, makePairs(true, 0)), 0);
  EXPECT_EQ(count(4, 2, makePairs(true, 0)), 3);
  EXPECT_EQ(count(4, 2, makePairs(true, 1)), 2);
}
