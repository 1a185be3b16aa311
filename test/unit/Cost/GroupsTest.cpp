//===- GroupsTest.cpp - Steps of prompts beside sequences that decode -----===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"

#include "autopar/Cost/Exact.h"

#include <gtest/gtest.h>

#include <functional>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::runtime;
using namespace autopar::test;

namespace {

/// Llama-3.3-70B on 8 devices, whose steps have up to two groups.
struct Groups : testing::Test {
  using Values = std::vector<int64_t>;
  using Columns = std::function<std::vector<NodeId>(const Strategy &)>;

  Values valuesOf(const std::vector<Workload> &groups, const Columns &columns) {
    Strategy strategy = compile(program, {true, true}, Counting::whole,
                                std::vector<Phase>(groups.size()));
    ExactValues exact(strategy, machine, runtime);
    EXPECT_FALSE(exact.evaluate(makeLayout(8), groups));
    Values values;
    for (NodeId node : columns(strategy))
      values.push_back(exact.whole(node).int64().value_or(-1));
    return values;
  }

  CostProgram program = makeDecoder();
  Machine machine = makeMeasuredMachine();
  Runtime runtime = makeBusyRuntime();
};

} // namespace

static std::vector<NodeId> counted(const Strategy &strategy) {
  const TotalNodes &total = strategy.total;
  return {total.parameters,      total.weightBytes,    total.kvCacheBytes,
          total.linearFlops,     total.attentionFlops, total.squareFlops,
          total.logitsFlops,     total.localFlops,     total.wireBytes,
          total.activationBytes, total.keptReadBytes,  total.launches};
}

static std::vector<NodeId> all(const Strategy &strategy) {
  std::vector<NodeId> nodes = counted(strategy);
  const TotalNodes &total = strategy.total;
  for (NodeId node :
       {total.computePs, total.memoryPs, total.communicationPs, total.floorPs,
        total.hostPs, total.stepPs, total.kvCapacityTokens, total.totalBytes})
    nodes.push_back(node);
  return nodes;
}

TEST_F(Groups, AnEmptyOneIsNotThere) {
  Workload none = prefill(0, 100);
  for (const Workload &step : {decode(64, 4096), prefill(2, 1500)}) {
    EXPECT_EQ(valuesOf({step, none}, all), valuesOf({step}, all));
    EXPECT_EQ(valuesOf({none, step}, counted), valuesOf({step}, counted));
  }
}

TEST_F(Groups, EqualOnesAreOne) {
  Workload half = decode(32, 4096);
  EXPECT_EQ(valuesOf({half, half}, counted),
            valuesOf({decode(64, 4096)}, counted));
}

/// 63 sequences at 4,096 tokens each decode beside a prompt of 1,000. Q and
/// score pairs: 63 * 4096 + 1000 * 1001 / 2.
TEST_F(Groups, ProductsShareRowsAndAttentionIsApart) {
  auto columns = [](const Strategy &strategy) -> std::vector<NodeId> {
    return {strategy.total.linearFlops, strategy.total.attentionFlops,
            strategy.total.kvCacheBytes};
  };
  std::vector<Workload> mixed = {decode(63, 4096), prefill(1, 1000)};
  Values values = valuesOf(mixed, columns);
  // 2 FLOPs a parameter of the layers, of 1,063 tokens.
  Values one = valuesOf({decode(1, 4096)}, columns);
  EXPECT_EQ(values[0], one[0] * 1063);
  // Scores and values, 64 heads of 128, 80 layers.
  EXPECT_EQ(values[1], int64_t(4) * 64 * 128 * 80 * (63 * 4096 + 500500));
  // Keys and values of one head a device, blocks of 16 tokens.
  EXPECT_EQ(values[2], int64_t(2) * 2 * 128 * 80 * (63 * 4096 + 1008));
}

/// Weights are read once: a mixed step takes less than its halves, and no less
/// than either.
TEST_F(Groups, AMixedStepSharesReads) {
  auto step = [](const Strategy &strategy) -> std::vector<NodeId> {
    return {strategy.total.stepPs};
  };
  Workload decoding = decode(63, 4096), prompt = prefill(1, 1000);
  int64_t mixed = valuesOf({decoding, prompt}, step)[0],
          first = valuesOf({decoding}, step)[0],
          second = valuesOf({prompt}, step)[0];
  EXPECT_LT(mixed, first + second);
  EXPECT_GT(mixed, std::max(first, second));
}
