//===- TrainingSectionsTest.cpp - Errors of predicted training ------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"

#include "autopar/Validation/PredictionsCsv.h"
#include "autopar/Validation/TrainingRules.h"
#include "autopar/Validation/ValidationReport.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::validation;
using namespace autopar::test;

namespace {

/// A plain row with `changes`, judged; nothing is predicted of 0 seconds.
TrainedRow trained(const std::string &changes, double predictedSeconds = 0,
                   double predictedGiB = 0) {
  TrainedRow row;
  row.row = plainTraining(changes);
  row.judgement = judgeTraining({row.row}, defaultRules()).front();
  if (predictedSeconds > 0)
    row.prediction = {predictedSeconds, predictedGiB};
  else
    row.notPredicted = "nobody knows";
  return row;
}

const char *const expertSizes =
    R"("arch": {"hidden": 2048, "heads": 16, "experts": 8})";

ValidationReport reportOf(const std::vector<TrainedRow> &rows) {
  RuleSet rules = defaultRules();
  ValidationReport report = makeValidationReport({"t.json"}, {}, {}, rules);
  addTraining(report, rows, rules);
  return report;
}

} // namespace

TEST(TrainingSections, DenseExpertsPeaksAndApart) {
  std::vector<TrainedRow> rows = {
      trained("", 5),
      trained(R"("tp": 1)"),
      trained(expertSizes, 3),
      trained(R"("precision": "NVFP4")", 8),
      trained(R"("tp": null)"),
      trained(R"("iter_time_s": null, "peak_gib": 50)", 1, 55)};
  ValidationReport report = reportOf(rows);
  TrainingCounts counts = report.training;
  EXPECT_EQ(counts.rows, 6u);
  EXPECT_EQ(counts.dense, 2u);
  EXPECT_EQ(counts.moe, 1u);
  EXPECT_EQ(counts.peaks, 1u);
  EXPECT_EQ(counts.apart, 1u);
  EXPECT_EQ(counts.excluded, 1u);
  std::vector<ErrorSection> sections = trainingSections(rows, defaultRules());
  ASSERT_EQ(sections.size(), 4u);
  EXPECT_EQ(sections[0].name, "iteration_dense");
  EXPECT_EQ(sections[0].all.rows, 2u);
  EXPECT_EQ(sections[0].all.n, 1u);
  EXPECT_DOUBLE_EQ(sections[0].all.median, 0.25);
  ASSERT_EQ(sections[0].tables.size(), 4u);
  EXPECT_EQ(sections[0].tables[2].by, "format");
  EXPECT_EQ(sections[0].tables[2].groups[0].key, "bf16");
  EXPECT_EQ(sections[0].tables[3].groups[0].key, "stated");
  EXPECT_EQ(sections[1].name, "iteration_moe");
  EXPECT_DOUBLE_EQ(sections[1].all.bias, -0.25);
  EXPECT_EQ(sections[2].name, "training_peak");
  EXPECT_NEAR(sections[2].all.median, 0.1, 1e-12);
  EXPECT_EQ(sections[3].name, "iteration_nvfp4");
  EXPECT_EQ(sections[3].all.mape, 1);
}

/// Of three plans, 4 s, 5 s and 4.1 s: the first and the last are too close.
TEST(TrainingSections, OrderOfPlans) {
  std::vector<TrainedRow> rows = {trained("", 4),
                                  trained(R"("tp": 4, "iter_time_s": 5)", 6),
                                  trained(R"("tp": 8, "iter_time_s": 4.1)", 7),
                                  trained(R"("tp": 1, "iter_time_s": 8)")};
  std::vector<PlanOrder> orders = planOrders(rows);
  ASSERT_EQ(orders.size(), 1u);
  EXPECT_EQ(orders[0].kind, "dense");
  EXPECT_EQ(orders[0].pairs, 5u);
  EXPECT_EQ(orders[0].predicted, 2u);
  EXPECT_EQ(orders[0].right, 1u);
}

TEST(TrainingSections, WhatIsNoPairOfPlans) {
  EXPECT_TRUE(
      planOrders({trained(""), trained(R"("iter_time_s": 5)")}).empty());
  // Other machines and formats; twice the batch in twice the time.
  EXPECT_TRUE(planOrders({trained(""),
                          trained(R"("hardware": "B200", "iter_time_s": 2)"),
                          trained(R"("precision": "fp8", "iter_time_s": 3)"),
                          trained(R"("gbs": 128, "iter_time_s": 8)")})
                  .empty());
  EXPECT_EQ(planOrders({trained(expertSizes),
                        trained(std::string(expertSizes) +
                                R"(, "ep": 2, "iter_time_s": 5)")})
                .front()
                .kind,
            "MoE");
}

TEST(TrainingSections, ReportsSayWhatCounts) {
  ValidationReport report =
      reportOf({trained("", 5), trained(R"("tp": 4, "iter_time_s": 8)", 9),
                trained(R"("mbs": null)")});
  std::string text = validationText(report);
  for (const char *part :
       {"3 rows of training; 2 of dense models and 0 of models with experts "
        "count, 0 peaks of memory; 1 reported apart, 0 excluded",
        "micro-batch-unstated   1  reported apart",
        "Iteration time, dense models",
        "Iteration time, apart: micro-batch-unstated",
        "dense: of 1 pair more than 10 % apart, 1 predicted, 100.0 % in the "
        "right order",
        "1 row: nobody knows"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  EXPECT_EQ(text.find("TPOT"), std::string::npos) << text;
  std::string json = validationJson(report);
  EXPECT_NE(json.find("\"right\": 1"), std::string::npos) << json;
}

TEST(TrainingSections, Csv) {
  std::string csv = predictionsCsv(
      {}, {}, {}, {trained("", 5, 40), trained(R"("tp": null, "id": "x")")});
  EXPECT_NE(csv.find(",measured_iter_time_s,predicted_iter_time_s,"
                     "measured_peak_gib,predicted_peak_gib\n"),
            std::string::npos)
      << csv;
  EXPECT_NE(csv.find("\nr,,"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",4,5,,40\n"), std::string::npos) << csv;
  EXPECT_NE(csv.find("\nx,degrees-unstated: tp is not stated,"),
            std::string::npos)
      << csv;
}
