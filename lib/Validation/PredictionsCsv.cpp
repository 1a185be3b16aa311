//===- PredictionsCsv.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Validation/PredictionsCsv.h"
#include "autopar/Support/CsvText.h"
#include "autopar/Support/Text.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::validation;

static std::string numberCell(std::optional<double> value) {
  return value && std::isfinite(*value) ? formatNumber(*value) : "";
}

static const char *const head[] = {"id",
                                   "excluded_reason",
                                   "predicted_tpot_ms",
                                   "predicted_ttft_ms",
                                   "predicted_output_tokens_per_s",
                                   "measured_tpot_ms",
                                   "measured_ttft_ms",
                                   "tpot_error",
                                   "ttft_error",
                                   "predicted_saturated",
                                   "predicted_running",
                                   "repairs",
                                   "not_predicted",
                                   "measured_output_tokens_per_s",
                                   "predicted_weights_gib",
                                   "predicted_activation_peak_gib",
                                   "predicted_non_torch_gib",
                                   "predicted_kv_pool_gib",
                                   "predicted_kv_tokens",
                                   "predicted_budget_gib",
                                   "training_runtime",
                                   "measured_iter_time_s",
                                   "predicted_iter_time_s",
                                   "measured_peak_gib",
                                   "predicted_peak_gib"};

namespace {

/// A line of CSV, cell by cell; cells that are not set are empty.
class Line {
public:
  void set(std::string_view column, std::string text) {
    auto *at = std::find(std::begin(head), std::end(head), column);
    cells[at - head] = std::move(text);
  }
  void set(std::string_view column, std::optional<double> number) {
    set(column, numberCell(number));
  }
  std::string str() const {
    std::string text;
    for (const std::string &cell : cells)
      text += (&cell == cells ? "" : ",") + csvCell(cell);
    return text + "\n";
  }

private:
  std::string cells[std::size(head)];
};

} // namespace

static std::string excludedReason(const RowJudgement &judgement) {
  return judgement.counts() ? ""
                            : judgement.excludedBy + ": " + judgement.reason;
}

static std::string line(const PredictedRow &row) {
  Line line;
  line.set("id", row.row.id);
  line.set("excluded_reason", excludedReason(row.judgement));
  line.set("measured_tpot_ms", row.row.tpotMs);
  line.set("measured_ttft_ms", row.row.ttftMs);
  line.set("repairs", join(row.judgement.repairs, " "));
  if (!row.prediction) {
    line.set("not_predicted", row.notPredicted);
    return line.str();
  }
  const ServingPrediction &prediction = *row.prediction;
  auto error = [](std::optional<double> measured, double found) {
    return measured ? signedError({*measured, found}) : std::nullopt;
  };
  line.set("predicted_tpot_ms", prediction.tpotMs);
  line.set("predicted_ttft_ms", prediction.ttftMs);
  line.set("predicted_output_tokens_per_s", prediction.outputTokensPerSecond);
  line.set("tpot_error", error(row.row.tpotMs, prediction.tpotMs));
  line.set("ttft_error", error(row.row.ttftMs, prediction.ttftMs));
  line.set("predicted_saturated",
           std::string(prediction.saturated ? "1" : "0"));
  line.set("predicted_running", prediction.running);
  return line.str();
}

static std::string line(const ThroughputRow &row) {
  Line line;
  line.set("id", row.row.id);
  line.set("measured_output_tokens_per_s", row.tokensPerSecond);
  line.set("predicted_output_tokens_per_s", row.predicted);
  line.set("not_predicted", row.notPredicted);
  return line.str();
}

static std::string line(const MemoryRow &row) {
  Line line;
  line.set("id", row.row.id);
  line.set("not_predicted", row.notPredicted);
  if (row.predicted) {
    line.set("predicted_weights_gib", row.predicted->weightsGiB);
    line.set("predicted_activation_peak_gib", row.predicted->temporariesGiB);
    line.set("predicted_non_torch_gib", row.predicted->runtimeGiB);
    line.set("predicted_kv_pool_gib", row.predicted->kvPoolGiB);
    line.set("predicted_kv_tokens", row.predicted->kvTokens);
    line.set("predicted_budget_gib", row.predicted->budgetGiB);
  }
  return line.str();
}

static std::string line(const TrainedRow &row) {
  Line line;
  line.set("id", row.row.id);
  line.set("excluded_reason", excludedReason(row.judgement));
  line.set("training_runtime", row.runtime);
  line.set("measured_iter_time_s", row.row.iterationSeconds);
  line.set("measured_peak_gib", row.row.peakGiB);
  line.set("not_predicted", row.notPredicted);
  if (row.prediction) {
    line.set("predicted_iter_time_s", row.prediction->iterationSeconds);
    line.set("predicted_peak_gib", row.prediction->peakGiB);
  }
  return line.str();
}

template <typename Row>
static std::string lines(const std::vector<Row> &rows) {
  std::string text;
  for (const Row &row : rows)
    text += line(row);
  return text;
}

std::string autopar::validation::predictionsCsv(
    const std::vector<PredictedRow> &rows,
    const std::vector<ThroughputRow> &throughput,
    const std::vector<MemoryRow> &memory,
    const std::vector<TrainedRow> &trained) {
  return join(head, ",") + "\n" + lines(rows) + lines(throughput) +
         lines(memory) + lines(trained);
}
