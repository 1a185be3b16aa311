//===- Scoring.cpp - Comparison of rows -----------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Series.h"

#include "autopar/Validation/Names.h"
#include "autopar/Validation/Rules.h"
#include "autopar/Validation/Statistics.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::validation;

bool autopar::validation::isSaturated(double ttftMs, double tpotMs,
                                      int64_t outputTokens,
                                      const RuleSet &rules) {
  const Rule &rule = rules.get("ttft");
  double requestMs = ttftMs + double(outputTokens) * tpotMs;
  return ttftMs > rule.number("saturated_ms") &&
         ttftMs > rule.number("saturated_share") * requestMs;
}

bool autopar::validation::ttftCounts(const ServingRow &row,
                                     const RuleSet &rules) {
  const Rule &rule = rules.get("ttft");
  if (!row.ttftMs || !rule.enabled)
    return row.ttftMs.has_value();
  return double(row.outputTokens) >= rule.number("min_output_tokens") &&
         !isSaturated(*row.ttftMs, row.tpotMs.value_or(0), row.outputTokens,
                      rules);
}

/// The day on which a version of a runtime was measured while it compiled.
static bool isColdStart(const ServingRow &row, const Rule &rule) {
  const std::string &day = rule.text("cold_date");
  auto measured = row.sourceFields.find("measured");
  return measured != row.sourceFields.end() && !day.empty() &&
         measured->second.compare(0, day.size(), day) == 0 &&
         resolveRuntime(row.runtime).name == rule.text("cold_runtime") &&
         row.system.compare(0, rule.text("cold_system").size(),
                            rule.text("cold_system")) == 0 &&
         row.precision == rule.text("cold_precision");
}

bool autopar::validation::saturationCounts(const ServingRow &row,
                                           const RowCapacity &capacity,
                                           const RuleSet &rules) {
  if (!row.ttftMs || !row.tpotMs || capacity.kvTokens <= 0)
    return false;
  const Rule &rule = rules.get("saturation");
  if (!rule.enabled)
    return true;
  double load = double(row.concurrency) *
                double(row.inputTokens + row.outputTokens) /
                double(capacity.kvTokens);
  return (load < rule.number("min_load") || load > rule.number("max_load")) &&
         !isColdStart(row, rule);
}

/// The container that ran, where the source names it: a version too.
static std::string imageOf(const ServingRow &row) {
  auto image = row.sourceFields.find("image");
  return image == row.sourceFields.end() ? "" : image->second + ";";
}

NoiseFloor
autopar::validation::noiseFloor(const std::vector<ServingRow> &rows,
                                const std::vector<RowJudgement> &judgements,
                                bool tellVersionsApart) {
  // Limit of repeats per configuration, all pairs of which are compared; no
  // table has more.
  constexpr size_t maxRepeats = 64;
  // No two runs are that near: one was copied, and perhaps rounded.
  constexpr double sameFigure = 1e-4;
  std::map<std::string, std::vector<double>> repeats;
  for (size_t row = 0; row < rows.size(); ++row)
    if (judgements[row].counts() && rows[row].tpotMs)
      repeats[configurationKey(rows[row], tellVersionsApart) +
              (tellVersionsApart ? imageOf(rows[row]) : "") +
              std::to_string(rows[row].concurrency)]
          .push_back(*rows[row].tpotMs);
  NoiseFloor noise;
  std::vector<double> differences;
  for (const auto &[key, times] : repeats) {
    noise.configurations += times.size() > 1;
    for (size_t i = 0; i < std::min(times.size(), maxRepeats); ++i)
      for (size_t j = 0; j < i; ++j) {
        double mean = (times[i] + times[j]) / 2;
        double difference = std::abs(times[i] - times[j]) / mean;
        if (difference > sameFigure)
          differences.push_back(difference);
      }
  }
  noise.pairs = differences.size();
  noise.median = quantile(differences, 0.5);
  noise.p90 = quantile(differences, 0.9);
  return noise;
}
