//===- ModelFactsTest.cpp - What follows from a model alone ---------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Evaluate/ModelFacts.h"

#include "../Cost/Fixtures.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::evaluation;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;
using namespace autopar::test;

namespace {

/// Three layers, hidden size 4, one KV head of width 1, a feed-forward of
/// width 8, ten words. Values have the numbers that `flow` gives them.
class Builder {
public:
  explicit Builder(ElementType cacheType) {
    program.model = "tiny";
    program.symbols = {"batch", "query", "context"};
    program.layers = {{"model", 1}, {"decoder", 3}};
    uint32_t table = add("embedding", KernelKind::gather, 0, {}, 1);
    weight("embed", table, {number(10), number(4)});
    weight("norm", add("rms_norm", KernelKind::elementwise, 1, {1}, 2),
           {number(4)});
    product("q", 4, 4, 2, 3);
    attention(cacheType);
    product("o", 4, 4, 5, 6);
    add("add", KernelKind::elementwise, 1, {1, 6}, 7);
    product("up", 4, 8, 7, 8);
    product("down", 8, 4, 8, 9);
    add("add", KernelKind::elementwise, 1, {7, 9}, 10);
    Kernel &logits =
        program.kernels[add("logits", KernelKind::matmul, 0, {10}, 11)];
    logits.flopClass = FlopClass::logits;
    logits.flopFactor = 2;
    logits.rows = {symbol(batch)};
    logits.columns = {number(10)};
    logits.contraction = {number(4)};
  }

  CostProgram program;

private:
  uint32_t add(const char *op, KernelKind kind, uint32_t layer,
               std::vector<uint32_t> reads, uint32_t writes) {
    Kernel &kernel = program.kernels.emplace_back();
    kernel.op = kernel.name = op;
    kernel.kind = kind;
    kernel.layer = layer;
    kernel.count = program.layers[layer].count;
    for (uint32_t value : reads)
      kernel.traffic.push_back(flow(value, false));
    kernel.traffic.push_back(flow(writes, true));
    return static_cast<uint32_t>(program.kernels.size() - 1);
  }

  static Traffic flow(uint32_t value, bool write) {
    Traffic traffic;
    traffic.write = write;
    traffic.value = value;
    traffic.shape = {symbol(batch), symbol(query), number(4)};
    return traffic;
  }

  Resident &weight(const char *name, uint32_t user, Dims shape) {
    Resident &resident = program.residents.emplace_back();
    resident.name = name;
    resident.layer = program.kernels[user].layer;
    resident.count = program.kernels[user].count;
    resident.shape = std::move(shape);
    resident.user = user;
    return resident;
  }

  void product(const char *name, int64_t in, int64_t out, uint32_t reads,
               uint32_t writes) {
    uint32_t index = add("linear", KernelKind::matmul, 1, {reads}, writes);
    Kernel &kernel = program.kernels[index];
    kernel.flopClass = FlopClass::linear;
    kernel.flopFactor = 2;
    kernel.rows = {symbol(batch), symbol(query)};
    kernel.columns = {number(out)};
    kernel.contraction = {number(in)};
    weight(name, index, {number(in), number(out)});
  }

  /// 16 FLOPs a pair; a cache of 2 elements a token.
  void attention(ElementType cacheType) {
    uint32_t index = add("attention", KernelKind::attention, 1, {3}, 5);
    Kernel &kernel = program.kernels[index];
    kernel.flopClass = FlopClass::attention;
    kernel.flopFactor = 4;
    kernel.rows = {symbol(batch)};
    kernel.columns = {number(4)};
    kernel.pairs = Pairs{symbol(query), symbol(context)};
    Resident &cache =
        weight("cache", index, {symbol(batch), symbol(context), number(2)});
    cache.kind = Resident::Kind::kv_cache;
    cache.type = cacheType;
  }
};

} // namespace

static ModelPrograms makeTiny() {
  ModelPrograms programs;
  programs.prefill = programs.decode = Builder(ElementType::bf16).program;
  programs.byKvFormat = {{"bf16", programs.prefill},
                         {"fp8", Builder(ElementType::fp8_e4m3).program}};
  return programs;
}

static const ModelReport::Part *find(const ModelReport &report,
                                     const std::string &name) {
  for (const ModelReport::Part &part : report.parts)
    if (part.name == name)
      return &part;
  return nullptr;
}

static Checked parametersOf(const ModelReport &report, const char *part) {
  const ModelReport::Part *found = find(report, part);
  return found ? found->parameters : Checked(-1);
}

TEST(CountModel, TellsPartsByTheFlowOfValues) {
  Result<ModelReport> report = countModel(makeTiny(), {}, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->parameters, Checked(340));
  EXPECT_EQ(report->checkpointBytes, Checked(680));
  EXPECT_EQ(parametersOf(*report, "embedding"), Checked(40));
  EXPECT_EQ(parametersOf(*report, "norms"), Checked(3 * 4));
  EXPECT_EQ(parametersOf(*report, "attention"), Checked(3 * (16 + 16)));
  EXPECT_EQ(parametersOf(*report, "feed_forward"), Checked(3 * (32 + 32)));
  // The head is the embedding's table.
  EXPECT_EQ(report->parts.size(), 4u);
}

TEST(CountModel, RunsInParallelStayApart) {
  ModelPrograms programs = makeTiny();
  // The feed-forward reads what the queries read.
  for (Kernel &kernel : programs.prefill.kernels)
    if (kernel.traffic.front().value == 7 && kernel.kind == KernelKind::matmul)
      kernel.traffic.front().value = 2;
  Result<ModelReport> report = countModel(programs, {}, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(parametersOf(*report, "attention"), Checked(96));
  EXPECT_EQ(parametersOf(*report, "feed_forward"), Checked(192));
}

TEST(CountModel, CountsExpertsAndWhatIsOnlyStored) {
  ModelPrograms programs = makeTiny();
  Resident extra;
  extra.shape = {number(8), number(5)};
  extra.topK = 2;
  programs.prefill.residents.push_back(extra);
  extra.topK = 0;
  extra.stored = true;
  programs.prefill.residents.push_back(extra);
  Result<ModelReport> report = countModel(programs, {}, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->parameters, Checked(340 + 40));
  EXPECT_EQ(report->activeParameters, Checked(340 + 10));
  EXPECT_EQ(report->storedOnlyParameters, Checked(40));
  EXPECT_EQ(report->checkpointBytes, Checked(2 * (340 + 40 + 40)));
  EXPECT_EQ(parametersOf(*report, "stored_only"), Checked(40));
}

TEST(CountModel, CountsCachesByFormat) {
  Result<ModelReport> report = countModel(makeTiny(), {5}, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->kvFormats, (std::vector<std::string>{"bf16", "fp8"}));
  ASSERT_EQ(report->caches.size(), 1u);
  EXPECT_EQ(report->caches[0].op, "attention");
  EXPECT_EQ(report->caches[0].layers, 3);
  EXPECT_EQ(report->caches[0].bytesPerToken[0], Checked(3 * 2 * 2));
  EXPECT_EQ(report->caches[0].bytesPerToken[1], Checked(3 * 2));
  ASSERT_EQ(report->cacheSizes.size(), 1u);
  EXPECT_EQ(report->cacheSizes[0].bytes[0], Checked(60));
}

TEST(CountModel, CountsFlopsByContext) {
  Result<ModelReport> report = countModel(makeTiny(), {}, {2});
  ASSERT_TRUE(report);
  ASSERT_EQ(report->flops.size(), 1u);
  const ModelReport::FlopsAt &at = report->flops[0];
  // 2 tokens * 3 layers * 2 * 96 weights; 3 pairs * 3 layers * 16.
  EXPECT_EQ(at.prefill.linear, Checked(1152));
  EXPECT_EQ(at.prefill.attention, Checked(144));
  EXPECT_EQ(at.prefill.logits, Checked(80));
  ASSERT_TRUE(at.decode);
  EXPECT_EQ(at.decode->linear, Checked(576));
  EXPECT_EQ(at.decode->attention, Checked(96));
  EXPECT_EQ(at.decode->total(), Checked(576 + 96 + 80));
}

TEST(CountModel, RefusesWhatDoesNotFit) {
  ModelPrograms programs = makeTiny();
  Resident huge;
  huge.shape = std::vector<Dim>(3, number(int64_t(1) << 62));
  programs.prefill.residents.push_back(huge);
  Result<ModelReport> report = countModel(programs, {}, {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message,
            "a number of 'tiny' does not fit in 127 bits");
}
