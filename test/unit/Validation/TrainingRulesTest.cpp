//===- TrainingRulesTest.cpp - Which runs of training count -------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"

#include "autopar/Support/File.h"
#include "autopar/Validation/TrainingRules.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::validation;
using namespace autopar::test;

namespace {

/// "rule: reason", "" where the row counts.
std::string judge(const TrainingRow &row,
                  const RuleSet &rules = defaultRules()) {
  RowJudgement judgement = judgeTraining({row}, rules).front();
  return judgement.counts() ? ""
                            : judgement.excludedBy + ": " + judgement.reason +
                                  (judgement.apart ? " (apart)" : "");
}

std::string judge(const std::string &changes) {
  return judge(plainTraining(changes));
}

} // namespace

TEST(TrainingRules, APlainRowCounts) { EXPECT_EQ(judge(""), ""); }

TEST(TrainingRules, WhatIsNotStated) {
  EXPECT_EQ(judge(R"("arch": null)"),
            "architecture-unstated: the architecture is not stated");
  EXPECT_EQ(judge(R"("mbs": null)"),
            "micro-batch-unstated: the micro-batch is not stated (apart)");
  EXPECT_EQ(judge(R"("gbs": null, "n_gpus": null)"),
            "batch-unstated: the global batch, the number of devices are not "
            "stated");
  EXPECT_EQ(judge(R"("tp": null)"), "degrees-unstated: tp is not stated");
  EXPECT_EQ(judge(R"("iter_time_s": null)"),
            "time-unstated: neither a time nor a peak of memory is stated");
  EXPECT_EQ(judge(R"("iter_time_s": null, "peak_gib": 70)"), "");
}

TEST(TrainingRules, OtherTasks) {
  EXPECT_EQ(judge(R"("task": "lora")"), "fine-tuning: the task is \"lora\"");
  EXPECT_EQ(judge(R"("task": "pre-training")"), "");
  EXPECT_EQ(judge(R"("task": "Pretraining")"), "");
}

TEST(TrainingRules, ReportedApart) {
  EXPECT_EQ(judge(R"("arch": {"hidden": 2048, "heads": 15})"),
            "odd-head-size: a head of 136.5 is no multiple of 8 (apart)");
  EXPECT_EQ(judge(R"("arch": {"hidden": 2048, "heads": 15, "head_dim": 64})"),
            "");
  EXPECT_EQ(judge(R"("zero": 3, "source": "Someone et al. 2021")"),
            "zero-3-of-2021: ZeRO stage 3 of 2021 (apart)");
  EXPECT_EQ(judge(R"("zero": 1, "source": "Someone et al. 2021")"), "");
  EXPECT_EQ(judge(R"("precision": "float8 rowwise")"),
            "fp8-rowwise: precision \"float8 rowwise\" (apart)");
  EXPECT_EQ(judge(R"("cp": 4, "seq": 131072)"),
            "long-context-parallel: cp 4 at 131,072 tokens (apart)");
  EXPECT_EQ(judge(R"("cp": 2, "seq": 131072)"), "");
  EXPECT_EQ(judge(R"("cp": 4, "seq": 131072, "iter_time_s": null,
                     "peak_gib": 70)"),
            "");
  EXPECT_EQ(judge(R"("precision": "NVFP4")"),
            "nvfp4: precision \"NVFP4\" (apart)");
}

TEST(TrainingRules, TheFirstIsTheReason) {
  EXPECT_EQ(judge(R"("mbs": null, "task": "lora", "precision": "NVFP4")"),
            "micro-batch-unstated: the micro-batch is not stated (apart)");
  RuleSet rules = defaultRules();
  for (Rule &rule : rules.rules)
    rule.enabled = rule.name != "micro-batch-unstated";
  EXPECT_EQ(judge(plainTraining(R"("mbs": null, "task": "lora")"), rules),
            "fine-tuning: the task is \"lora\"");
  EXPECT_EQ(judge(plainTraining(R"("arch": null, "tp": null)"), noRules()), "");
}

TEST(TrainingRules, MemoryThatContradicts) {
  EXPECT_EQ(judge(R"("iter_time_s": null, "activations_pct_of_baseline": 60)"),
            "paper-formula: the memory of a formula, which nobody measured");
  TrainingRow small = plainTraining(R"("peak_gib": 65)");
  TrainingRow large = plainTraining(R"("id": "l", "mbs": 4, "peak_gib": 56)");
  TrainingRow other = plainTraining(R"("mbs": 4, "peak_gib": 56, "tp": 4)");
  auto judgements = judgeTraining({small, large, other}, defaultRules());
  EXPECT_EQ(judgements[0].excludedBy, "smaller-needs-more");
  EXPECT_EQ(judgements[0].reason,
            "65 GiB, and l, of a micro-batch of 4, has 56 GiB");
  EXPECT_TRUE(judgements[1].counts());
  EXPECT_TRUE(judgements[2].counts());
}

//===----------------------------------------------------------------------===//
// Measured rows
//===----------------------------------------------------------------------===//

static std::map<std::string, size_t> countsOf(const std::string &file) {
  Result<DataTable> table = readTable(sharedData(file));
  EXPECT_TRUE(table) << table.error().str();
  TrainingRows read = *readTrainingRows(*table);
  EXPECT_TRUE(read.unreadable.empty());
  std::map<std::string, size_t> counts;
  for (const RowJudgement &judgement : judgeTraining(read.rows, defaultRules()))
    ++counts[judgement.excludedBy];
  return counts;
}

TEST(TrainingRules, MeasuredRows) {
  if (!fileExists(sharedData("measured/training.json")))
    GTEST_SKIP() << "no measured rows beside the repository";
  using Counts = std::map<std::string, size_t>;
  EXPECT_EQ(countsOf("measured/training.json"),
            (Counts{{"", 323},
                    {"architecture-unstated", 33},
                    {"micro-batch-unstated", 22},
                    {"fine-tuning", 4},
                    {"odd-head-size", 2},
                    {"zero-3-of-2021", 3},
                    {"fp8-rowwise", 2},
                    {"nvfp4", 4}}));
  EXPECT_EQ(
      countsOf("measured/memory.json"),
      (Counts{{"", 42}, {"paper-formula", 12}, {"smaller-needs-more", 1}}));
}
