//===- PrefillChunksTest.cpp - The steps of a prefill ---------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Program/Workload.h"

#include "gtest/gtest.h"

#include <tuple>

using namespace autopar;
using namespace autopar::program;

using Row = std::tuple<int64_t, int64_t, int64_t, int64_t>;

static Workload prefill(int64_t batch, int64_t query, int64_t context) {
  Workload workload;
  workload.batch = batch;
  workload.query = query;
  workload.context = context;
  return workload;
}

/// Count, sequences, new tokens and context of each.
static std::vector<Row> rows(const std::vector<PrefillChunk> &chunks) {
  std::vector<Row> all;
  for (const PrefillChunk &chunk : chunks)
    all.push_back(
        {chunk.count, chunk.step.batch, chunk.step.query, chunk.step.context});
  return all;
}

TEST(PrefillChunks, OneStepWhereAllFits) {
  EXPECT_EQ(rows(prefillChunks(prefill(4, 2048, 2048), 1, 8192, true)),
            (std::vector<Row>{{1, 4, 2048, 2048}}));
  // Each of two replicas has four.
  EXPECT_EQ(rows(prefillChunks(prefill(8, 2048, 2048), 2, 8192, true)),
            (std::vector<Row>{{1, 8, 2048, 2048}}));
}

TEST(PrefillChunks, WholePromptsTogether) {
  // 8192 holds two of 3000; five are two steps of two and one of one.
  EXPECT_EQ(rows(prefillChunks(prefill(5, 3000, 3000), 1, 8192, true)),
            (std::vector<Row>{{2, 2, 3000, 3000}, {1, 1, 3000, 3000}}));
}

TEST(PrefillChunks, LongPromptsInChunks) {
  EXPECT_EQ(rows(prefillChunks(prefill(3, 20000, 20000), 1, 8192, true)),
            (std::vector<Row>{
                {3, 1, 8192, 8192}, {3, 1, 8192, 16384}, {3, 1, 3616, 20000}}));
}

TEST(PrefillChunks, BehindWhatIsCached) {
  EXPECT_EQ(rows(prefillChunks(prefill(1, 10000, 12000), 1, 8192, true)),
            (std::vector<Row>{{1, 1, 8192, 10192}, {1, 1, 1808, 12000}}));
}

TEST(PrefillChunks, ReplicasTakeTurns) {
  // Five prompts on four replicas: four at once, then one.
  EXPECT_EQ(rows(prefillChunks(prefill(5, 10000, 10000), 4, 8192, true)),
            (std::vector<Row>{{1, 4, 8192, 8192},
                              {1, 4, 1808, 10000},
                              {1, 1, 8192, 8192},
                              {1, 1, 1808, 10000}}));
}

/// Of a model that keeps nothing, prompts are computed whole.
TEST(PrefillChunks, WhatKeepsNothingIsNotCut) {
  EXPECT_EQ(rows(prefillChunks(prefill(3, 20000, 20000), 1, 8192, false)),
            (std::vector<Row>{{3, 1, 20000, 20000}}));
}

TEST(PrefillChunks, OnlyTheFirstEncodes) {
  Workload workload = prefill(1, 10000, 10000);
  workload.encoderTokens = workload.crossTokens = 1500;
  std::vector<PrefillChunk> chunks = prefillChunks(workload, 1, 8192, true);
  ASSERT_EQ(chunks.size(), 2u);
  EXPECT_EQ(chunks[0].step.encoderTokens, 1500);
  EXPECT_EQ(chunks[1].step.encoderTokens, 0);
  EXPECT_EQ(chunks[1].step.crossTokens, 1500);
}

TEST(PrefillChunks, DecodingIsOneStep) {
  Workload workload = prefill(100000, 1, 4096);
  workload.phase = Phase::decode;
  EXPECT_EQ(prefillChunks(workload, 1, 8192, true).size(), 1u);
}

/// Tokens are neither lost nor computed twice.
TEST(PrefillChunks, TokensAddUp) {
  for (int64_t batch : {1, 3, 17})
    for (int64_t query : {1, 100, 8192, 8193, 50000})
      for (int64_t replicas : {1, 2, 8})
        for (int64_t budget : {1, 512, 8192}) {
          int64_t tokens = 0;
          for (const PrefillChunk &chunk : prefillChunks(
                   prefill(batch, query, query + 7), replicas, budget, true))
            tokens += chunk.count * chunk.step.tokens();
          EXPECT_EQ(tokens, batch * query);
        }
}
