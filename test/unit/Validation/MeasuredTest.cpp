//===- MeasuredTest.cpp - The default rules on measured rows --------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"

#include "autopar/Support/File.h"
#include "autopar/Validation/Rules.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::validation;
using namespace autopar::test;

namespace {

/// What of a model decides whether a row counts: active parameters, bytes of
/// the weights and of a token of KV cache, and whether it has a prediction
/// head. Coarse, as the rules are.
struct CoarseModel {
  double activeParameters, weightBytes, tokenBytes;
  bool hasPredictionHead;
};

CoarseModel modelOf(const std::string &name) {
  auto has = [&](const char *part) {
    return name.find(part) != std::string::npos;
  };
  if (has("DeepSeek"))
    return {37.55e9, 690e9, 70'272, true};
  if (has("Qwen3.5"))
    return {17e9, 400e9, 30'000, true};
  if (has("Qwen3-235B"))
    return {22.2e9, 235e9, 192'512, false};
  if (has("gpt-oss"))
    return {5.1e9, 65e9, 73'728, false};
  if (has("70B"))
    return {70.6e9, 70.6e9, 163'840, false};
  return {8.03e9, 8.03e9, 131'072, false};
}

std::optional<RowCapacity> coarseCapacity(const ServingRow &row) {
  CoarseModel model = modelOf(row.model);
  bool isBlackwell = row.system[0] == 'b' || row.system[0] == 'g';
  double memory = isBlackwell ? 180e9 : row.system == "h200_sxm" ? 141e9 : 80e9;
  bool isFp8 =
      row.precision == "fp8" || row.model.find("-FP8") != std::string::npos;
  double peak = isBlackwell ? 2.25e15 : 0.9894e15;
  peak *= row.precision == "fp4" ? (isBlackwell ? 4 : 2) : isFp8 ? 2 : 1;
  double devices = double(row.degrees.devices());
  RowCapacity capacity;
  capacity.kvTokens =
      int64_t((0.9 * memory * devices - model.weightBytes) / model.tokenBytes);
  capacity.decodeFlops = 2 * model.activeParameters;
  capacity.promptFlops = double(row.inputTokens) * capacity.decodeFlops;
  capacity.peakFlops = peak * devices;
  capacity.devicesPerNode = row.system == "gb200" ? 72 : 8;
  capacity.hasPredictionHead = model.hasPredictionHead;
  return capacity;
}

class MeasuredRows : public testing::Test {
protected:
  void SetUp() override {
    std::string path = sharedData("measured/serving.csv");
    if (!fileExists(path))
      GTEST_SKIP() << "no measured rows beside the repository";
    Result<DataTable> table = readTable(path);
    ASSERT_TRUE(table) << table.error().str();
    rows = readServingRows(*table)->rows;
    judgements = judgeRows(rows, defaultRules(), coarseCapacity);
  }

  std::vector<ServingRow> rows;
  std::vector<RowJudgement> judgements;
};

TEST_F(MeasuredRows, CountsByRule) {
  const std::map<std::string, size_t> expected = {
      {"product-of-degrees", 145},
      {"product-of-twos", 17},
      {"attention-dp-unstated", 291},
      {"tp-equals-dp", 0},
      {"attention-dp-of-pools", 12},
      {"decode-workers-unstated", 414},
      {"tp-is-a-total", 31},
      {"batch-of-rank", 48},
      {"concurrency-differs", 11},
      {"speculation-unstated", 345},
      {"non-monotone", 3},
      {"above-peak", 3},
      {"scheduler-cap", 6},
      {"one-wave", 9},
      {"exact-copy", 52},
      {"reads-all-experts", 39}};
  for (const RuleCount &count : countByRule(judgements, defaultRules()))
    EXPECT_EQ(count.rows, expected.at(count.name)) << count.name;
  size_t aggregated = 0, disaggregated = 0;
  for (size_t row = 0; row < rows.size(); ++row)
    if (judgements[row].counts())
      ++(rows[row].decode ? disaggregated : aggregated);
  EXPECT_EQ(aggregated, 937u);
  EXPECT_EQ(disaggregated, 124u);
}

/// One of a build without a number, and two deployments of pools on a rack, of
/// which earlier rows say other degrees than later ones.
TEST_F(MeasuredRows, RepeatsThatAreNoCopies) {
  EXPECT_EQ(noiseFloor(rows, judgements, true).pairs, 0u);
  NoiseFloor any = noiseFloor(rows, judgements, false);
  EXPECT_EQ(any.pairs, 3u);
  EXPECT_NEAR(any.median, 0.182, 0.001);
}

} // namespace
