//===- RulesTest.cpp - Which rows count, and why --------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"

#include "autopar/Validation/Rules.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::validation;
using namespace autopar::test;

namespace {

ServedDegrees degrees(int64_t tp, int64_t dp, int64_t expertTp, int64_t ep,
                      bool stated = true) {
  ServedDegrees result;
  result.tp = tp;
  result.attentionDp = dp;
  result.expertTp = expertTp;
  result.ep = ep;
  result.attentionDpStated = stated;
  return result;
}

/// What the repairs make of `given`, and their names.
void expectRepaired(ServedDegrees given, ServedDegrees expected,
                    const std::vector<std::string> &names) {
  std::vector<ServingRow> rows = {plainRow()};
  rows[0].degrees = given;
  std::vector<RowJudgement> judged = judgeRows(rows, defaultRules(), nullptr);
  EXPECT_TRUE(rows[0].degrees == expected)
      << rows[0].degrees.tp << " " << rows[0].degrees.attentionDp << " "
      << rows[0].degrees.expertTp << " " << rows[0].degrees.ep;
  EXPECT_EQ(judged[0].repairs, names);
}

TEST(Repairs, ProductOfDegrees) {
  std::vector<std::string> name = {"product-of-degrees"};
  expectRepaired(degrees(64, 1, 8, 8), degrees(8, 1, 1, 8), name);
  expectRepaired(degrees(1, 64, 8, 8), degrees(1, 8, 1, 8), name);
  expectRepaired(degrees(16, 1, 4, 4), degrees(4, 1, 1, 4), name);
  expectRepaired(degrees(4, 1, 2, 2), degrees(4, 1, 2, 2), {});
  expectRepaired(degrees(8, 1, 8, 8), degrees(8, 1, 8, 8), {});
}

/// A row of a source, with its degrees.
ServingRow rowOf(std::string source, const ServedDegrees &degrees) {
  ServingRow row = plainRow();
  row.source = std::move(source);
  row.degrees = degrees;
  return row;
}

TEST(Repairs, ProductOfTwosWhereItsSourceHasProducts) {
  std::vector<ServingRow> rows = {rowOf("a.csv; id=1", degrees(4, 1, 2, 2)),
                                  rowOf("a.csv; id=2", degrees(64, 1, 8, 8)),
                                  rowOf("a.csv; id=3", degrees(1, 4, 2, 2)),
                                  rowOf("b.csv; id=1", degrees(4, 1, 2, 2))};
  std::vector<RowJudgement> judged = judgeRows(rows, defaultRules(), nullptr);
  std::vector<std::string> name = {"product-of-twos"};
  EXPECT_TRUE(rows[0].degrees == degrees(2, 1, 1, 2));
  EXPECT_EQ(judged[0].repairs, name);
  EXPECT_TRUE(rows[2].degrees == degrees(1, 2, 1, 2));
  EXPECT_EQ(judged[2].repairs, name);
  EXPECT_TRUE(rows[3].degrees == degrees(4, 1, 2, 2));
  EXPECT_TRUE(judged[3].repairs.empty());
}

/// What becomes of pools of `given` on a rack.
ServingRow repairedPools(const ServedDegrees &given, const char *runtime,
                         const char *system) {
  std::vector<ServingRow> rows = {plainRow()};
  rows[0].runtime = runtime;
  rows[0].system = system;
  rows[0].prefill = ServedPool{degrees(1, 4, 4, 1), 1, std::nullopt};
  rows[0].decode = ServedPool{given, 2, std::nullopt};
  judgeRows(rows, defaultRules(), nullptr);
  return rows[0];
}

TEST(Repairs, AttentionDpOfPools) {
  ServingRow tray = repairedPools(degrees(1, 4, 4, 1), "sglang", "gb200");
  EXPECT_TRUE(tray.prefill->degrees == degrees(4, 1, 4, 1));
  EXPECT_TRUE(tray.decode->degrees == degrees(4, 1, 4, 1));
  ServingRow rack = repairedPools(degrees(1, 32, 32, 1), "sglang", "gb200");
  EXPECT_TRUE(rack.decode->degrees == degrees(1, 32, 1, 32));
  for (ServedDegrees other :
       {degrees(4, 1, 4, 1), degrees(1, 8, 1, 8), degrees(2, 4, 4, 1)})
    EXPECT_TRUE(repairedPools(other, "sglang", "gb200").decode->degrees ==
                other);
  ServingRow node = repairedPools(degrees(1, 4, 4, 1), "sglang", "b200_sxm");
  EXPECT_TRUE(node.decode->degrees == degrees(1, 4, 4, 1));
  ServingRow engine = repairedPools(degrees(1, 4, 4, 1), "trtllm", "gb200");
  EXPECT_TRUE(engine.decode->degrees == degrees(1, 4, 4, 1));
}

TEST(Repairs, AttentionDpUnstated) {
  std::vector<std::string> name = {"attention-dp-unstated"};
  expectRepaired(degrees(1, 1, 4, 1, false), degrees(1, 4, 4, 1), name);
  expectRepaired(degrees(8, 1, 1, 8, false), degrees(8, 1, 1, 8), name);
  // A dense model, whose expert degrees are not stated.
  expectRepaired(degrees(8, 1, 1, 1, false), degrees(8, 1, 1, 1), name);
  expectRepaired(degrees(64, 1, 8, 8, false), degrees(8, 1, 1, 8),
                 {"product-of-degrees", "attention-dp-unstated"});
}

TEST(Repairs, TpEqualsDpIsAGuess) {
  expectRepaired(degrees(4, 4, 1, 16), degrees(1, 4, 1, 4), {"tp-equals-dp"});
  std::vector<ServingRow> rows = {plainRow()};
  rows[0].degrees = degrees(4, 4, 1, 16);
  EXPECT_TRUE(judgeRows(rows, defaultRules(), nullptr)[0].ambiguous);
}

TEST(Repairs, NoneMeansNone) {
  std::vector<ServingRow> rows = {plainRow()};
  rows[0].degrees = degrees(64, 1, 8, 8);
  RowJudgement judged = judgeRows(rows, noRules(), nullptr)[0];
  EXPECT_TRUE(judged.counts());
  EXPECT_EQ(rows[0].degrees.tp, 64);
}

/// "rule: reason" of each row, "" where it counts.
std::vector<std::string> judged(std::vector<ServingRow> rows,
                                RowCapacity capacity = {0, 0, 0, 0, 8, false},
                                const RuleSet &rules = defaultRules()) {
  std::vector<std::string> texts;
  for (const RowJudgement &one :
       judgeRows(rows, rules, [&](const ServingRow &) { return capacity; }))
    texts.push_back(one.counts() ? "" : one.excludedBy + ": " + one.reason);
  return texts;
}

std::string judgedAlone(const ServingRow &row, RowCapacity capacity = {}) {
  return judged({row}, capacity)[0];
}

TEST(Exclusions, TotalsOfDeployments) {
  ServingRow row = plainRow();
  row.degrees = degrees(16, 1, 16, 1);
  RowCapacity node;
  node.devicesPerNode = 8;
  EXPECT_EQ(judgedAlone(row, node),
            "tp-is-a-total: tp 16 on nodes of 8 devices: a total of a "
            "disaggregated deployment");
  node.devicesPerNode = 72;
  EXPECT_EQ(judgedAlone(row, node), "");
  row.degrees.tp = 24;
  EXPECT_EQ(judgedAlone(row, node).substr(0, 20), "tp-is-a-total: tp 24");
  std::vector<ServingRow> rows = {row};
  EXPECT_EQ(judgeRows(rows, defaultRules(), nullptr)[0].excludedBy,
            "tp-is-a-total");
}

TEST(Exclusions, ConcurrencyOfTheSource) {
  ServingRow row = plainRow("r", 8);
  row.sourceFields = {{"silicon_concurrency", "16"}};
  EXPECT_EQ(judgedAlone(row), "concurrency-differs: the source states "
                              "concurrency 16, the row 8");
  row.sourceFields = {{"silicon_concurrency", "8"}};
  EXPECT_EQ(judgedAlone(row), "");
}

TEST(Exclusions, SpeculationUnstated) {
  ServingRow row = plainRow();
  RowCapacity head;
  head.hasPredictionHead = true;
  EXPECT_EQ(judgedAlone(row, head),
            "speculation-unstated: the model has a prediction head, and the "
            "row, without a date, does not say whether it is used");
  EXPECT_EQ(judgedAlone(row), "");
  row.sourceFields = {{"measured", "2026-01-01T00:00:00.000Z"}};
  EXPECT_EQ(judgedAlone(row, head).substr(0, 84),
            "speculation-unstated: the model has a prediction head, and the "
            "row, of 2026-01-01, d");
  row.sourceFields = {{"measured", "2025-12-31T00:00:00.000Z"}};
  EXPECT_EQ(judgedAlone(row, head), "");
  row.sourceFields = {};
  row.source = "db-dump/2026-04-27; config_id=375";
  EXPECT_EQ(judgedAlone(row, head), "");
}

TEST(Exclusions, LongestChainOfASeries) {
  // 30 at 4 breaks 10, 11, 12; 10.9 at 32 is within 10 % of 12.
  std::vector<std::string> found =
      judged({plainRow("a", 1, 10), plainRow("b", 2, 11), plainRow("c", 4, 30),
              plainRow("d", 16, 12), plainRow("e", 32, 10.9)});
  EXPECT_EQ(found,
            (std::vector<std::string>{
                "", "",
                "non-monotone: TPOT 30.00 ms is out of line with the other 4 "
                "concurrencies of its series",
                "", ""}));
}

TEST(Exclusions, SeriesDifferInAllButConcurrency) {
  ServingRow other = plainRow("b", 16, 5);
  EXPECT_NE(judged({plainRow("a", 8, 10), other})[1], "");
  other.inputTokens = 999;
  EXPECT_EQ(judged({plainRow("a", 8, 10), other})[1], "");
  // The source counts, but for what is the row's own.
  ServingRow first = plainRow("a", 8, 10), second = plainRow("b", 16, 5);
  first.source = "x; silicon_concurrency=8; run_id=1";
  second.source = "x; silicon_concurrency=16; run_id=2";
  EXPECT_NE(judged({first, second})[1], "");
  second.source = "y; silicon_concurrency=16; run_id=2";
  EXPECT_EQ(judged({first, second})[1], "");
}

TEST(Exclusions, LongSeriesTakeNoTime) {
  std::vector<ServingRow> rows;
  for (int i = 0; i < 50'000; ++i)
    rows.push_back(plainRow("r", 1 + i, 1 + (i * 7919) % 50'021));
  RuleSet rules = defaultRules();
  EXPECT_EQ(judged(rows, {}, rules).size(), rows.size());
}

TEST(Exclusions, AbovePeak) {
  // 8 x (1e12 + 1000 x 1e9) FLOPs in 0.1 + 10 s: 1.584e12 FLOP/s.
  RowCapacity capacity;
  capacity.promptFlops = 1e12;
  capacity.decodeFlops = 1e9;
  capacity.peakFlops = 2e12;
  EXPECT_EQ(judgedAlone(plainRow(), capacity),
            "above-peak: implies 0.79 of the dense peak");
  capacity.peakFlops = 3e12;
  EXPECT_EQ(judgedAlone(plainRow(), capacity), "");
}

TEST(Exclusions, SchedulerCap) {
  // Of 10 + 10 s a request runs half: 4 of 8, with 2,000 tokens each.
  ServingRow row = plainRow("r", 8, 10, 10'000);
  RowCapacity capacity;
  capacity.kvTokens = 12'001;
  EXPECT_EQ(judgedAlone(row, capacity),
            "scheduler-cap: only 4.00 of 8 requests run, though the KV cache "
            "has room for 1.50x as many");
  capacity.kvTokens = 12'000;
  EXPECT_EQ(judgedAlone(row, capacity), "");
  row.ttftMs = 6'000; // 10 of 16 s: 0.625.
  capacity.kvTokens = 1'000'000;
  EXPECT_EQ(judgedAlone(row, capacity), "");
}

TEST(Repairs, BatchOfOneRank) {
  ServingRow row = plainRow("r", 32);
  row.degrees = degrees(1, 8, 1, 8);
  row.sourceFields = {{"silicon_concurrency", "256"}};
  std::vector<ServingRow> rows = {row, row, row};
  rows[1].degrees.attentionDp = 4; // 4 x 32 is not 256.
  rows[2].sourceFields.clear();
  std::vector<RowJudgement> found = judgeRows(rows, defaultRules(), nullptr);
  EXPECT_EQ(rows[0].concurrency, 256);
  EXPECT_EQ(found[0].repairs, std::vector<std::string>{"batch-of-rank"});
  EXPECT_EQ(rows[1].concurrency, 32);
  EXPECT_EQ(found[1].excludedBy, "concurrency-differs");
  EXPECT_EQ(rows[2].concurrency, 32);
}

/// Rows of one series: (concurrency, TTFT in ms).
std::vector<ServingRow>
seriesOf(const std::vector<std::pair<int64_t, double>> &points) {
  std::vector<ServingRow> rows;
  for (auto [concurrency, ttftMs] : points)
    rows.push_back(plainRow("c" + std::to_string(concurrency), concurrency,
                            double(concurrency), ttftMs));
  return rows;
}

TEST(Repairs, OneWaveWhereTtftGrowsWithConcurrency) {
  auto roundsOf = [](std::vector<ServingRow> rows) {
    judgeRows(rows, defaultRules(), nullptr);
    return rows[0].rounds;
  };
  // All at once: (100 / 20 - 1) * 2 / 8 and (320 / 20 - 1) * 2 / 30 are 1.
  EXPECT_EQ(roundsOf(seriesOf({{1, 20}, {9, 100}, {31, 320}})), 1);
  // Spread: (40 / 20 - 1) * 2 / 8 is 0.25, (95 / 20 - 1) * 2 / 30 too.
  EXPECT_EQ(roundsOf(seriesOf({{1, 20}, {9, 40}, {31, 95}})), std::nullopt);
  // In one step: (180 / 20 - 1) * 2 / 8 is 2.
  EXPECT_EQ(roundsOf(seriesOf({{1, 20}, {9, 180}, {31, 320}})), 1);
  // A queue: (400 / 20 - 1) * 2 / 8 is 4.75.
  EXPECT_EQ(roundsOf(seriesOf({{1, 20}, {9, 400}, {31, 900}})), std::nullopt);
  // Two points tell nothing, and those that queue do not count.
  EXPECT_EQ(roundsOf(seriesOf({{1, 20}, {9, 100}})), std::nullopt);
  EXPECT_EQ(roundsOf(seriesOf({{1, 20}, {2, 30}, {3, 60'000}})), std::nullopt);
  // What a row states holds.
  std::vector<ServingRow> stated = seriesOf({{1, 20}, {9, 100}, {31, 320}});
  for (ServingRow &row : stated)
    row.rounds = 5;
  EXPECT_EQ(roundsOf(stated), 5);
}

TEST(Exclusions, ExactCopies) {
  ServingRow copy = plainRow("b");
  EXPECT_EQ(judged({plainRow("a"), copy})[1], "exact-copy: a copy of a");
  copy.sourceFields = {{"measured", "2025-01-01"}};
  EXPECT_EQ(judged({plainRow("a"), copy})[1], "exact-copy: a copy of a");
  // Another file may give the run another name, and round it.
  copy.model = "llama-of-the-other-file";
  copy.runtimeVersion = "0.8.1";
  copy.ttftMs = 100.01;
  EXPECT_EQ(judged({plainRow("a"), copy})[1], "exact-copy: a copy of a");
  copy.ttftMs = 100.2;
  EXPECT_EQ(judged({plainRow("a"), copy})[1], "");
  copy = plainRow("b", 16);
  EXPECT_EQ(judged({plainRow("a"), copy})[1], "");
}

TEST(Exclusions, OneEngineIsReportedApart) {
  ServingRow row = plainRow();
  row.source = "source_file=/x/aic-auto-gap-analysis/y.csv";
  row.runtimeVersion = "0.12.0";
  std::vector<ServingRow> rows = {row};
  RowJudgement found = judgeRows(rows, defaultRules(), nullptr)[0];
  EXPECT_EQ(found.excludedBy, "reads-all-experts");
  EXPECT_TRUE(found.apart);
  rows[0].runtimeVersion = "0.12.1";
  EXPECT_TRUE(judgeRows(rows, defaultRules(), nullptr)[0].counts());
}

TEST(Exclusions, DisaggregatedRowsStateTheirWorkers) {
  ServingRow row = plainRow();
  row.decode = ServedPool();
  EXPECT_EQ(judgedAlone(row), "decode-workers-unstated: the number of decode "
                              "workers is not stated");
  row.decode->workers = 2;
  row.degrees.tp = 99;
  EXPECT_EQ(judgedAlone(row), "");
}

TEST(Exclusions, FirstRuleWinsAndIsCounted) {
  ServingRow row = plainRow();
  row.degrees.tp = 9;
  row.degrees.attentionDpStated = false;
  row.sourceFields = {{"silicon_concurrency", "9"}};
  std::vector<ServingRow> rows = {row, plainRow()};
  RuleSet rules = defaultRules();
  std::vector<RowJudgement> found = judgeRows(rows, rules, nullptr);
  size_t counted = 0;
  for (const RuleCount &count : countByRule(found, rules)) {
    bool met =
        count.name == "tp-is-a-total" || count.name == "attention-dp-unstated";
    EXPECT_EQ(count.rows, met ? 1u : 0u) << count.name;
    ++counted;
  }
  EXPECT_EQ(counted, 16u);
  EXPECT_TRUE(countByRule(found, noRules()).empty());
}

TEST(Scoring, Ttft) {
  RuleSet rules = defaultRules();
  EXPECT_TRUE(ttftCounts(plainRow(), rules));
  // 4 of 14 s.
  EXPECT_FALSE(ttftCounts(plainRow("r", 8, 10, 4000), rules));
  // 2.9 of 12.9 s; 4 of 44 s.
  EXPECT_TRUE(ttftCounts(plainRow("r", 8, 10, 2900), rules));
  EXPECT_TRUE(ttftCounts(plainRow("r", 8, 40, 4000), rules));
  ServingRow row = plainRow();
  row.outputTokens = 999;
  EXPECT_FALSE(ttftCounts(row, rules));
}

TEST(Scoring, SaturationAwayFromTheEdge) {
  // 8 requests of 2,000 tokens.
  RuleSet rules = defaultRules();
  RowCapacity capacity;
  for (auto [tokens, counts] :
       {std::pair(20'100, true), std::pair(19'900, false),
        std::pair(12'400, false), std::pair(12'200, true)}) {
    capacity.kvTokens = tokens;
    EXPECT_EQ(saturationCounts(plainRow(), capacity, rules), counts) << tokens;
  }
  ServingRow cold = plainRow();
  cold.runtime = "sglang";
  cold.system = "b200_sxm";
  cold.precision = "fp4";
  cold.sourceFields = {{"measured", "2025-11-10T00:00:00.000Z"}};
  EXPECT_FALSE(saturationCounts(cold, capacity, rules));
}

TEST(Scoring, NoiseFloorOfRepeats) {
  // 10, 11, 12 differ by 2/21, 2/23 and 2/11 of their means.
  std::vector<ServingRow> rows = {plainRow("a", 8, 10), plainRow("b", 8, 11),
                                  plainRow("c", 8, 12), plainRow("d", 9, 12)};
  NoiseFloor noise = noiseFloor(rows, std::vector<RowJudgement>(4), true);
  EXPECT_EQ(noise.configurations, 1u);
  EXPECT_EQ(noise.pairs, 3u);
  EXPECT_DOUBLE_EQ(noise.median, 2.0 / 21);
  EXPECT_DOUBLE_EQ(noise.p90, 2.0 / 21 + 0.8 * (2.0 / 11 - 2.0 / 21));
  rows[2].runtimeVersion = "2";
  EXPECT_EQ(noiseFloor(rows, std::vector<RowJudgement>(4), true).pairs, 1u);
  EXPECT_EQ(noiseFloor(rows, std::vector<RowJudgement>(4), false).pairs, 3u);
}

} // namespace
