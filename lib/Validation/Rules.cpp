//===- Rules.cpp ----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Validation/Rules.h"

#include "Repairs.h"
#include "Series.h"

#include "autopar/Support/Text.h"
#include "autopar/Validation/Names.h"

#include <algorithm>
#include <cstdio>
#include <tuple>

using namespace autopar;
using namespace autopar::validation;

/// "0.62": two digits behind the point are enough for a reason.
static std::string rounded(double value) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.2f", value);
  return text;
}

/// Milliseconds of a request, as far as they are measured.
static double requestMs(const ServingRow &row) {
  return row.ttftMs.value_or(0) +
         double(row.outputTokens) * row.tpotMs.value_or(0);
}

namespace {

/// Goes through the exclusions in their order.
class Judge {
public:
  Judge(const std::vector<ServingRow> &rows,
        std::vector<RowJudgement> &judgements, const CapacityOf &capacityOf)
      : rows(rows), judgements(judgements), capacityOf(capacityOf),
        asked(rows.size()), capacities(rows.size()) {}

  void apply(const Rule &rule);

private:
  /// Why `rule` excludes `row`; "" where it does not.
  using Reason = std::string (Judge::*)(size_t row, const Rule &rule);
  std::string decodeWorkers(size_t row, const Rule &rule);
  std::string total(size_t row, const Rule &rule);
  std::string otherConcurrency(size_t row, const Rule &rule);
  std::string speculation(size_t row, const Rule &rule);
  std::string abovePeak(size_t row, const Rule &rule);
  std::string schedulerCap(size_t row, const Rule &rule);
  std::string copy(size_t row, const Rule &rule);
  std::string allExperts(size_t row, const Rule &rule);
  void nonMonotone(const Rule &rule);

  const std::optional<RowCapacity> &capacity(size_t row);

  const std::vector<ServingRow> &rows;
  std::vector<RowJudgement> &judgements;
  const CapacityOf &capacityOf;
  std::vector<bool> asked;
  std::vector<std::optional<RowCapacity>> capacities;
  /// What tells runs apart, to the first row that has it.
  std::map<std::string, size_t> firstOf;
};

} // namespace

const std::optional<RowCapacity> &Judge::capacity(size_t row) {
  if (!asked[row] && capacityOf)
    capacities[row] = capacityOf(rows[row]);
  asked[row] = true;
  return capacities[row];
}

void RowJudgement::exclude(const Rule &rule, std::string why) {
  excludedBy = rule.name;
  reason = std::move(why);
  apart = rule.kind == Rule::Kind::apart;
}

std::string Judge::decodeWorkers(size_t row, const Rule &) {
  bool unstated = rows[row].decode && !rows[row].decode->workers;
  return unstated ? "the number of decode workers is not stated" : "";
}

std::string Judge::total(size_t row, const Rule &rule) {
  int64_t tp = rows[row].degrees.tp;
  if (double(tp) <=
      std::min(rule.number("max_tp_on_nodes"), rule.number("max_tp_on_racks")))
    return "";
  const std::optional<RowCapacity> &known = capacity(row);
  int64_t node = known ? known->devicesPerNode : int64_t(rule.number("node"));
  bool isRack = double(node) > rule.number("node");
  if (double(tp) <= rule.number(isRack ? "max_tp_on_racks" : "max_tp_on_nodes"))
    return "";
  return "tp " + formatInteger(tp) + " on nodes of " + formatInteger(node) +
         " devices: a total of a disaggregated deployment";
}

std::string Judge::otherConcurrency(size_t row, const Rule &) {
  auto stated = rows[row].sourceFields.find("silicon_concurrency");
  std::string own = std::to_string(rows[row].concurrency);
  if (stated == rows[row].sourceFields.end() || stated->second == own)
    return "";
  return "the source states concurrency " + shorten(stated->second) +
         ", the row " + own;
}

std::string Judge::speculation(size_t row, const Rule &rule) {
  const std::string &trusted = rule.text("trusted_source");
  if (rows[row].source.compare(0, trusted.size(), trusted) == 0)
    return "";
  auto measured = rows[row].sourceFields.find("measured");
  bool dated = measured != rows[row].sourceFields.end();
  if (dated && measured->second < rule.text("since"))
    return "";
  if (!capacity(row) || !capacity(row)->hasPredictionHead)
    return "";
  return "the model has a prediction head, and the row, " +
         (dated ? "of " + shorten(measured->second.substr(0, 10))
                : std::string("without a date")) +
         ", does not say whether it is used";
}

void Judge::nonMonotone(const Rule &rule) {
  std::map<std::string, std::vector<size_t>> series;
  for (size_t row = 0; row < rows.size(); ++row)
    if (!rows[row].decode && judgements[row].counts() && rows[row].tpotMs)
      series[seriesKey(rows[row])].push_back(row);
  for (auto &[key, members] : series) {
    std::sort(members.begin(), members.end(), [&](size_t a, size_t b) {
      return std::tie(rows[a].concurrency, *rows[a].tpotMs, a) <
             std::tie(rows[b].concurrency, *rows[b].tpotMs, b);
    });
    std::vector<double> times;
    for (size_t row : members)
      times.push_back(*rows[row].tpotMs);
    std::vector<bool> kept = longestChain(times, rule.number("tolerance"));
    for (size_t i = 0; i < members.size(); ++i)
      if (!kept[i])
        judgements[members[i]].exclude(
            rule, "TPOT " + rounded(times[i]) +
                      " ms is out of line with the other " +
                      formatInteger(int64_t(members.size()) - 1) +
                      " concurrencies of its series");
  }
}

std::string Judge::abovePeak(size_t row, const Rule &rule) {
  const std::optional<RowCapacity> &known = capacity(row);
  double seconds = requestMs(rows[row]) / 1000;
  if (!known || known->peakFlops <= 0 || !rows[row].tpotMs)
    return "";
  double flops =
      known->promptFlops + double(rows[row].outputTokens) * known->decodeFlops;
  double share =
      double(rows[row].concurrency) * flops / seconds / known->peakFlops;
  if (share <= rule.number("max_share_of_peak"))
    return "";
  return "implies " + rounded(share) + " of the dense peak";
}

std::string Judge::schedulerCap(size_t row, const Rule &rule) {
  const ServingRow &served = rows[row];
  if (!served.ttftMs || !served.tpotMs)
    return "";
  double share =
      double(served.outputTokens) * *served.tpotMs / requestMs(served);
  if (share >= rule.number("min_running") || !capacity(row))
    return "";
  double running = share * double(served.concurrency);
  double room = double(capacity(row)->kvTokens) /
                (running * double(served.inputTokens + served.outputTokens));
  if (room <= rule.number("kv_room"))
    return "";
  return "only " + rounded(running) + " of " +
         formatInteger(served.concurrency) +
         " requests run, though the KV cache has room for " + rounded(room) +
         "x as many";
}

/// Files name a run's model, version and formats in their own words, and round
/// its figures; no two runs have equal ones.
std::string Judge::copy(size_t row, const Rule &) {
  const ServingRow &served = rows[row];
  if (!served.ttftMs || !served.tpotMs)
    return "";
  char figures[96];
  std::snprintf(figures, sizeof(figures),
                "\x1f%.4g\x1f%.4g\x1f%lld\x1f%lld\x1f", *served.ttftMs,
                *served.tpotMs, static_cast<long long>(served.inputTokens),
                static_cast<long long>(served.outputTokens));
  std::string key =
      served.system + figures + std::to_string(served.concurrency);
  auto [first, isNew] = firstOf.emplace(std::move(key), row);
  return isNew ? "" : "a copy of " + shorten(rows[first->second].id);
}

std::string Judge::allExperts(size_t row, const Rule &rule) {
  const ServingRow &served = rows[row];
  bool met = served.source.find(rule.text("source")) != std::string::npos &&
             resolveRuntime(served.runtime).name == rule.text("runtime") &&
             served.runtimeVersion == rule.text("version");
  return met ? rule.text("runtime") + " " + rule.text("version") +
                   " was seen to read all experts every step"
             : "";
}

void Judge::apply(const Rule &rule) {
  static const std::map<std::string, Reason> reasons = {
      {"tp-is-a-total", &Judge::total},
      {"concurrency-differs", &Judge::otherConcurrency},
      {"speculation-unstated", &Judge::speculation},
      {"above-peak", &Judge::abovePeak},
      {"scheduler-cap", &Judge::schedulerCap},
      {"exact-copy", &Judge::copy},
      {"reads-all-experts", &Judge::allExperts},
  };
  if (rule.name == "non-monotone")
    return nonMonotone(rule);
  bool ofPools = rule.name == "decode-workers-unstated";
  Reason reasonOf = ofPools ? &Judge::decodeWorkers : reasons.at(rule.name);
  for (size_t row = 0; row < rows.size(); ++row) {
    if (!judgements[row].counts() || ofPools != rows[row].decode.has_value())
      continue;
    std::string reason = (this->*reasonOf)(row, rule);
    if (!reason.empty())
      judgements[row].exclude(rule, std::move(reason));
  }
}

std::vector<RowJudgement>
autopar::validation::judgeRows(std::vector<ServingRow> &rows,
                               const RuleSet &rules,
                               const CapacityOf &capacityOf) {
  std::vector<RowJudgement> judgements(rows.size());
  const Repairs repairs(rows, rules);
  for (size_t row = 0; row < rows.size(); ++row)
    repairs.apply(rows[row], judgements[row]);
  Judge judge(rows, judgements, capacityOf);
  for (const Rule &rule : rules.rules)
    if (rule.excludes(Rule::Rows::served))
      judge.apply(rule);
  findOneWaves(rows, judgements, rules);
  return judgements;
}

std::vector<RuleCount>
autopar::validation::countByRule(const std::vector<RowJudgement> &judgements,
                                 const RuleSet &rules, Rule::Rows of) {
  std::vector<RuleCount> counts;
  for (const Rule &rule : rules.rules) {
    if (!rule.enabled || rule.kind == Rule::Kind::score || rule.of != of)
      continue;
    RuleCount count{rule.name, rule.what, rule.kind};
    for (const RowJudgement &judgement : judgements) {
      const auto &repairs = judgement.repairs;
      count.rows += judgement.excludedBy == rule.name ||
                    std::count(repairs.begin(), repairs.end(), rule.name) > 0;
    }
    counts.push_back(std::move(count));
  }
  return counts;
}
