//===- Rounds.cpp - Series whose requests came all at once ----------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Series.h"

#include <algorithm>
#include <map>

using namespace autopar;
using namespace autopar::validation;

/// Growth of the TTFT of a series from the least of its concurrencies, c0, to
/// each larger one. Where all requests come at once, a prompt waits for half of
/// the others in the mean, so that TTFT is proportional to c + 1, and
/// (TTFT(c) / TTFT(c0) - 1) (c0 + 1) / (c - c0) is 1; it is 2 where one step
/// has all prompts, and none is done before the others. Where clients send one
/// request after the other, prompts spread, and it is less.
static std::vector<double>
growthsOf(const std::map<int64_t, double> &ttftByConcurrency) {
  auto [least, first] = *ttftByConcurrency.begin();
  std::vector<double> growths;
  for (auto [concurrency, ttft] : ttftByConcurrency)
    if (concurrency > least)
      growths.push_back((ttft / first - 1) * double(least + 1) /
                        double(concurrency - least));
  return growths;
}

void autopar::validation::findOneWaves(std::vector<ServingRow> &rows,
                                       std::vector<RowJudgement> &judgements,
                                       const RuleSet &rules) {
  const Rule &rule = rules.get("one-wave");
  if (!rule.enabled)
    return;
  std::map<std::string, std::vector<size_t>> series;
  for (size_t row = 0; row < rows.size(); ++row)
    if (judgements[row].counts() && !rows[row].decode && !rows[row].rounds)
      series[seriesKey(rows[row])].push_back(row);
  for (const auto &[key, members] : series) {
    std::map<int64_t, double> ttftByConcurrency;
    for (size_t row : members) {
      const ServingRow &served = rows[row];
      if (served.ttftMs && served.tpotMs &&
          !isSaturated(*served.ttftMs, *served.tpotMs, served.outputTokens,
                       rules))
        ttftByConcurrency.emplace(served.concurrency, *served.ttftMs);
    }
    if (double(ttftByConcurrency.size()) < rule.number("min_rows"))
      continue;
    std::vector<double> growths = growthsOf(ttftByConcurrency);
    auto [least, most] = std::minmax_element(growths.begin(), growths.end());
    if (*least < rule.number("min_growth") || *most > rule.number("max_growth"))
      continue;
    for (size_t row : members) {
      rows[row].rounds = 1;
      judgements[row].repairs.push_back(rule.name);
    }
  }
}
