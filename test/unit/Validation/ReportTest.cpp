//===- ReportTest.cpp - What validate has to say --------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"

#include "autopar/Validation/PredictionsCsv.h"
#include "autopar/Validation/ValidationReport.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

using namespace autopar;
using namespace autopar::validation;
using namespace autopar::test;
using json = nlohmann::json;

namespace {

PredictedRow predicted(ServingRow row, double tpotMs, double ttftMs = 110) {
  PredictedRow result;
  result.row = std::move(row);
  result.prediction = ServingPrediction();
  result.prediction->tpotMs = tpotMs;
  result.prediction->ttftMs = ttftMs;
  result.prediction->outputTokensPerSecond = 800;
  result.prediction->running = 7.5;
  result.prediction->termsMs = {
      {"host", 1}, {"attention", tpotMs / 2}, {"head", 0.5}};
  return result;
}

/// Two rows that count, one of an unknown model, and one of each that is
/// reported apart.
std::vector<PredictedRow> someRows() {
  std::vector<PredictedRow> rows = {predicted(plainRow("good", 8, 10), 11),
                                    predicted(plainRow("bad", 32, 20), 10)};
  rows[1].isMoe = true;
  PredictedRow unknown;
  unknown.row = plainRow("unknown, \"x\"", 8, 10);
  unknown.row.model = "gpt-9";
  unknown.notPredicted = "no model is called \"gpt-9\"";
  rows.push_back(unknown);
  PredictedRow split = predicted(plainRow("split", 8, 10), 12);
  split.row.decode = ServedPool();
  split.row.decode->workers = 1;
  PredictedRow guessed = predicted(plainRow("guessed", 8, 10), 13);
  guessed.judgement.ambiguous = true;
  guessed.judgement.repairs = {"tp-equals-dp"};
  PredictedRow apart = predicted(plainRow("apart", 8, 10), 14);
  apart.judgement.excludedBy = "reads-all-experts";
  apart.judgement.reason = "vllm 0.12.0";
  apart.judgement.apart = true;
  for (PredictedRow *row : {&split, &guessed, &apart})
    rows.push_back(*row);
  return rows;
}

ValidationReport someReport() {
  return makeValidationReport({"t.csv"}, someRows(),
                              {{"t.csv:9", "isl: expected a number", ""}},
                              defaultRules());
}

const ErrorSection &section(const ValidationReport &report,
                            const std::string &name) {
  for (const ErrorSection &one : report.sections)
    if (one.name == name)
      return one;
  ADD_FAILURE() << "no section " << name;
  return report.sections.front();
}

TEST(ValidationReport, Counts) {
  ValidationReport report = someReport();
  EXPECT_EQ(report.rows, 7u);
  EXPECT_EQ(report.aggregated, 5u);
  EXPECT_EQ(report.disaggregated, 1u);
  EXPECT_EQ(report.counting, 5u);
  ASSERT_EQ(report.notPredicted.size(), 1u);
  EXPECT_EQ(report.notPredicted[0].first, "no model is called \"gpt-9\"");
}

TEST(ValidationReport, SectionsHoldTheirRows) {
  ValidationReport report = someReport();
  const ErrorSection &tpot = section(report, "tpot");
  EXPECT_EQ(tpot.all.rows, 3u);
  EXPECT_EQ(tpot.all.n, 2u);
  EXPECT_NEAR(tpot.all.mape, 0.3, 1e-12); // +10 %, -50 %
  EXPECT_NEAR(tpot.all.bias, -0.2, 1e-12);
  ASSERT_EQ(tpot.tables.size(), 7u);
  EXPECT_EQ(tpot.tables[0].by, "kind");
  EXPECT_EQ(tpot.tables[0].groups[0].key, "MoE");
  EXPECT_NEAR(tpot.tables[0].groups[0].figures.mape, 0.5, 1e-12);
  EXPECT_EQ(tpot.tables[1].groups[0].key, "gpt-9");
  EXPECT_EQ(section(report, "ttft").all.n, 2u);
  EXPECT_NEAR(section(report, "ttft").all.mape, 0.1, 1e-12);
  EXPECT_NEAR(section(report, "tpot_disaggregated").all.mape, 0.2, 1e-12);
  EXPECT_NEAR(section(report, "tpot_ambiguous").all.mape, 0.3, 1e-12);
  EXPECT_NEAR(section(report, "tpot_apart").all.mape, 0.4, 1e-12);
}

TEST(ValidationReport, WorstRowNamesItsLargestTerm) {
  std::vector<WorstRow> worst =
      makeValidationReport({}, someRows(), {}, noRules(), 1).worst;
  ASSERT_EQ(worst.size(), 1u);
  EXPECT_EQ(worst[0].id, "bad");
  EXPECT_EQ(worst[0].error, -0.5);
  EXPECT_EQ(worst[0].suspect, "attention");
  EXPECT_EQ(worst[0].suspectMs, 5);
}

TEST(ValidationReport, Saturation) {
  // 8 requests of 2,000 tokens in a cache of 100,000 tokens.
  RowCapacity capacity;
  capacity.kvTokens = 100'000;
  std::vector<PredictedRow> rows = {predicted(plainRow("a", 8, 10), 10),
                                    predicted(plainRow("b", 8, 10, 9000), 10),
                                    predicted(plainRow("c", 8, 10, 9000), 10),
                                    predicted(plainRow("d", 8, 10), 10)};
  for (PredictedRow &row : rows)
    row.capacity = capacity;
  rows[2].prediction->saturated = rows[3].prediction->saturated = true;
  SaturationFigures figures =
      makeValidationReport({}, rows, {}, defaultRules()).saturation;
  EXPECT_EQ(figures.rows, 4u);
  EXPECT_EQ(figures.both, 1u);
  EXPECT_EQ(figures.onlyMeasured, 1u);
  EXPECT_EQ(figures.onlyPredicted, 1u);
}

TEST(ValidationReport, OfNothing) {
  ValidationReport report = makeValidationReport({}, {}, {}, noRules());
  EXPECT_NE(validationText(report).find("No rules"), std::string::npos);
  EXPECT_TRUE(json::accept(validationJson(report)));
}

TEST(ValidationText, IsReadable) {
  std::string text = validationText(someReport());
  for (const char *part :
       {"t.csv: 7 rows, 5 aggregated, 1 disaggregated, 1 unreadable; 5 count\n"
        "  ! t.csv:9: isl: expected a number\n",
        "  reads-all-experts        1  reported apart\n",
        "Not predicted\n  1 row: no model is called \"gpt-9\"\n",
        "rows  predicted  MAPE %  median %  p90 %  bias %  in 10 %  in 20 %  "
        "in "
        "30 %\n  all                3          2    30.0      30.0   46.0   "
        "-20.0  "
        "   50.0     50.0     50.0\n  by kind\n    MoE              1",
        "\n    gpt-9            1          0\n", "attention 5.00 ms\n",
        "  one version: no repeats\n"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

/// Every key of `value` must be described in `given`, a part of `root`, and
/// every required key of it be in `value`.
void check(const json &value, const json &root, const json &given,
           const std::string &path) {
  const json &schema = given.contains("$ref")
                           ? root.at(json::json_pointer(
                                 given["$ref"].get<std::string>().substr(1)))
                           : given;
  ASSERT_TRUE(schema.contains("description")) << path;
  if (value.is_array())
    for (const json &element : value)
      check(element, root, schema.at("items"), path + "[]");
  if (!value.is_object())
    return;
  for (const json &key : schema.at("required"))
    EXPECT_TRUE(value.contains(key)) << path << "." << key;
  for (const auto &[key, member] : value.items()) {
    ASSERT_TRUE(schema.at("properties").contains(key)) << path << "." << key;
    check(member, root, schema["properties"][key], path + "." + key);
  }
}

TEST(ValidationJson, AgreesWithTheSchema) {
  std::ifstream file(AUTOPAR_SOURCE_DIR
                     "/lib/Validation/schema/validation.schema.json");
  ASSERT_TRUE(file);
  json schema = json::parse(file);
  ValidationReport given = someReport();
  TrainedRow trained;
  trained.row = plainTraining();
  trained.assumed = {"nothing"};
  TrainedRow other = trained;
  other.row = plainTraining(R"("tp": 4, "iter_time_s": 5)");
  addTraining(given, {trained, other}, defaultRules());
  json report = json::parse(validationJson(given));
  check(report, schema, schema, "");
  EXPECT_EQ(report["training"]["order"].size(), 1u);
  EXPECT_EQ(report["schema"], schema["properties"]["schema"]["const"]);
  EXPECT_NEAR(report["sections"][0]["all"]["coverage_percent"], 66.67, 0.01);
  EXPECT_TRUE(
      report["sections"][0]["tables"][1]["groups"][0]["p90_percent"].is_null());
}

TEST(PredictionsCsv, ReadsBack) {
  Result<DataTable> table = parseCsvTable(predictionsCsv(someRows()), "p.csv");
  ASSERT_TRUE(table) << table.error().str();
  ASSERT_EQ(table->rows().size(), 6u);
  auto cell = [&](size_t row, const char *column) {
    return std::string(table->cell(table->rows()[row], column));
  };
  EXPECT_EQ(cell(0, "predicted_tpot_ms"), "11");
  EXPECT_EQ(cell(0, "measured_ttft_ms"), "100");
  EXPECT_EQ(cell(0, "predicted_output_tokens_per_s"), "800");
  EXPECT_EQ(cell(0, "predicted_running"), "7.5");
  EXPECT_EQ(cell(1, "tpot_error"), "-0.5");
  EXPECT_EQ(cell(2, "id"), "unknown, \"x\"");
  EXPECT_EQ(cell(2, "predicted_tpot_ms"), "");
  EXPECT_EQ(cell(2, "not_predicted"), "no model is called \"gpt-9\"");
  EXPECT_EQ(cell(4, "repairs"), "tp-equals-dp");
  // A prediction also where a rule excludes the row.
  EXPECT_EQ(cell(5, "excluded_reason"), "reads-all-experts: vllm 0.12.0");
  EXPECT_EQ(cell(5, "predicted_tpot_ms"), "14");
}

} // namespace
