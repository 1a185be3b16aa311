//===- ProgramTest.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Program/CostProgram.h"
#include "autopar/Program/Workload.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::program;

static CostProgram makeProgram() {
  CostProgram program;
  program.model = "tiny";
  program.symbols = {"batch", "query", "context"};
  program.axes = {"dp", "tp"};
  program.layers = {{"model", 1}, {"decoder", 4}};
  Dim tokens = {{8, {0, 1}, 0}, {0}, SplitRule::any, 1};
  Dim cached = {{1, {2}, 4096}, {}, SplitRule::any, 1};
  Dim vocabulary = {{1000, {}, 0}, {0, 1}, SplitRule::pad, 64};
  Dim heads = {{2, {}, 0}, {1}, SplitRule::cap, 1};
  Kernel kernel;
  kernel.name = "decoder/attention";
  kernel.op = "attention";
  kernel.layer = 1;
  kernel.count = 4;
  kernel.kind = KernelKind::attention;
  kernel.flopClass = FlopClass::attention;
  kernel.flopFactor = 2;
  kernel.rows = {tokens};
  kernel.pairs = Pairs{tokens, cached, true, 128};
  Traffic traffic;
  traffic.role = Traffic::Role::kv_cache;
  traffic.shape = {cached, heads};
  kernel.traffic = {traffic};
  program.kernels = {kernel};
  program.collectives = {{"decoder/gather",
                          CollectiveKind::all_gather,
                          1,
                          4,
                          {0, 1},
                          {vocabulary},
                          ElementType::bf16}};
  program.residents = {{"cache",
                        Resident::Kind::kv_cache,
                        1,
                        4,
                        {cached, heads},
                        ElementType::fp8_e4m3,
                        0,
                        0}};
  program.activations = {{"x", 1, {tokens}, ElementType::f32, 2, 5}};
  return program;
}

TEST(Dims, CopiesShareUntilOneChanges) {
  Dims first = {{{8, {}, 0}, {}}, {{4, {}, 0}, {}}};
  const Dims &original = first;
  Dims second = first;
  const Dims &copy = second;
  EXPECT_EQ(original.begin(), copy.begin());
  second.front().extent.factor = 2;
  second.push_back({{3, {}, 0}, {}});
  EXPECT_EQ(original.size(), 2u);
  EXPECT_EQ(original.front().extent.factor, 8);
  EXPECT_EQ(copy.size(), 3u);
  EXPECT_EQ(copy.front().extent.factor, 2);
  EXPECT_FALSE(original == copy);
  first.insert(first.end(), copy.begin() + 2, copy.end());
  first.front().extent.factor = 2;
  EXPECT_TRUE(original == copy);
  first.clear();
  EXPECT_TRUE(first.empty() && original.begin() == original.end());
}

TEST(ProgramJson, WritesDimensionsAsTheIrDoes) {
  auto root = nlohmann::json::parse(toJson(makeProgram()));
  EXPECT_EQ(root["schema"], "autopar.program/1");
  EXPECT_EQ(root["kernels"][0]["rows"], "[batch*query*8 by dp any]");
  EXPECT_EQ(root["kernels"][0]["columns"], "[]");
  EXPECT_EQ(root["kernels"][0]["pairs"]["context"], "min(context, 4096)");
  EXPECT_EQ(root["kernels"][0]["traffic"][0]["shape"],
            "[min(context, 4096), 2 by tp cap]");
  EXPECT_EQ(root["collectives"][0]["shape"], "[1000 by dp*tp pad 64]");
  EXPECT_EQ(root["collectives"][0]["layer"], "decoder");
  EXPECT_EQ(root["residents"][0]["paged_dim"], 0);
  EXPECT_EQ(root["activations"][0]["type"], "fp32");
}

TEST(ProgramJson, IsDeterministic) {
  EXPECT_EQ(toJson(makeProgram()), toJson(makeProgram()));
  CostProgram other = makeProgram();
  other.kernels[0].count = 5;
  EXPECT_NE(toJson(makeProgram()), toJson(other));
}

TEST(Names, AreThoseOfTheSchemas) {
  EXPECT_EQ(nameOf(KernelKind::grouped_matmul), "grouped_matmul");
  EXPECT_EQ(nameOf(FlopClass::logits), "logits");
  EXPECT_EQ(nameOf(CollectiveKind::reduce_scatter), "reduce_scatter");
  EXPECT_EQ(nameOf(SplitRule::cap), "cap");
  EXPECT_EQ(nameOf(Phase::decode), "decode");
}

/// Sequences that `axes` split, with collectives over each of `joined`.
static CostProgram splitBy(std::vector<AxisId> axes,
                           const std::vector<std::vector<AxisId>> &joined) {
  CostProgram program;
  program.symbols = {"batch", "context"};
  program.axes = {"dp", "tp"};
  Resident cache;
  cache.kind = Resident::Kind::kv_cache;
  cache.shape = {{{1, {0}}, std::move(axes)}, {{1, {1}}, {}}};
  program.residents.push_back(cache);
  for (const std::vector<AxisId> &over : joined) {
    Collective collective;
    collective.axes = over;
    program.collectives.push_back(collective);
  }
  return program;
}

TEST(CostProgram, ReplicasThatCollectivesJoinStepTogether) {
  EXPECT_EQ(splitBy({0}, {{1}}).sequenceAxes(), (std::vector<AxisId>{0}));
  // Sums of each replica are its own.
  EXPECT_TRUE(splitBy({0}, {{1}}).lockStepAxes().empty());
  // Experts of all are not.
  EXPECT_EQ(splitBy({0}, {{1}, {0, 1}}).lockStepAxes(),
            (std::vector<AxisId>{0}));
  EXPECT_EQ(splitBy({0, 1}, {{1}}).lockStepAxes(), (std::vector<AxisId>{1}));
  EXPECT_TRUE(splitBy({}, {{0}, {1}}).lockStepAxes().empty());
}
