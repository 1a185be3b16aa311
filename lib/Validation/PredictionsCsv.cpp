//===- PredictionsCsv.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/Text.h"
#include "autopar/Validation/ValidationReport.h"

#include <cmath>

using namespace autopar;

/// `text` as a cell of CSV (RFC 4180).
static std::string quoted(const std::string &text) {
  bool isPlain = text.find_first_of(",\"\r\n") == std::string::npos &&
                 (text.empty() || (text.front() != ' ' && text.back() != ' '));
  if (isPlain)
    return text;
  std::string cell = "\"";
  for (char c : text)
    cell += c == '"' ? std::string("\"\"") : std::string(1, c);
  return cell + "\"";
}

static std::string numberCell(std::optional<double> value) {
  return value && std::isfinite(*value) ? formatNumber(*value) : "";
}

static std::string line(const PredictedRow &row) {
  auto predicted = [&](double ServingPrediction::*member) {
    return row.prediction ? std::optional<double>((*row.prediction).*member)
                          : std::nullopt;
  };
  std::optional<double> tpot = predicted(&ServingPrediction::tpotMs);
  std::optional<double> ttft = predicted(&ServingPrediction::ttftMs);
  auto error = [](std::optional<double> measured, std::optional<double> found) {
    return measured ? signedError({*measured, found}) : std::nullopt;
  };
  std::string repairs = join(row.judgement.repairs, " ");
  const std::string cells[] = {
      row.row.id,
      row.judgement.excludedBy.empty()
          ? ""
          : row.judgement.excludedBy + ": " + row.judgement.reason,
      numberCell(tpot),
      numberCell(ttft),
      numberCell(predicted(&ServingPrediction::outputTokensPerSecond)),
      numberCell(row.row.tpotMs),
      numberCell(row.row.ttftMs),
      numberCell(error(row.row.tpotMs, tpot)),
      numberCell(error(row.row.ttftMs, ttft)),
      row.prediction ? (row.prediction->saturated ? "1" : "0") : "",
      numberCell(predicted(&ServingPrediction::running)),
      repairs,
      row.prediction ? "" : row.notPredicted};
  std::string text;
  for (const std::string &cell : cells)
    text += (&cell == cells ? "" : ",") + quoted(cell);
  return text + "\n";
}

std::string autopar::predictionsCsv(const std::vector<PredictedRow> &rows) {
  std::string text = "id,excluded_reason,predicted_tpot_ms,predicted_ttft_ms,"
                     "predicted_output_tokens_per_s,measured_tpot_ms,"
                     "measured_ttft_ms,tpot_error,ttft_error,"
                     "predicted_saturated,predicted_running,repairs,"
                     "not_predicted\n";
  for (const PredictedRow &row : rows)
    text += line(row);
  return text;
}
