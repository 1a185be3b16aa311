//===- TrainingRules.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Validation/TrainingRules.h"

#include "TrainingKeys.h"

#include "autopar/Support/Text.h"
#include "autopar/Support/Words.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::validation;

/// Why `rule` excludes `row`; "" where it does not.
using Reason = std::string (*)(const TrainingRow &row, const Rule &rule);

/// "a, b are not stated"; "" where nothing is missing.
static std::string
unstated(std::initializer_list<std::pair<const char *, bool>> stated) {
  std::vector<std::string> missing;
  for (const auto &[what, isStated] : stated)
    if (!isStated)
      missing.emplace_back(what);
  return missing.empty()
             ? ""
             : join(missing, ", ") + (missing.size() > 1 ? " are" : " is") +
                   " not stated";
}

static std::string formula(const TrainingRow &row, const Rule &) {
  return row.isComputed && !row.peakGiB && !row.iterationSeconds
             ? "the memory of a formula, which nobody measured"
             : "";
}

static std::string architecture(const TrainingRow &row, const Rule &) {
  return unstated({{"the architecture", row.architecture.has_value()}});
}

static std::string microbatch(const TrainingRow &row, const Rule &) {
  return unstated({{"the micro-batch", row.microbatch.has_value()}});
}

/// "Pre-training" and "pretraining" are one task.
static std::string lettersOf(const std::string &text) {
  return join(wordsOf(lower(text), " -_"), "");
}

static std::string fineTuning(const TrainingRow &row, const Rule &rule) {
  return row.task.empty() || lettersOf(row.task) == lettersOf(rule.text("task"))
             ? ""
             : "the task is \"" + shorten(row.task) + "\"";
}

static std::string batch(const TrainingRow &row, const Rule &) {
  return unstated({{"the global batch", row.globalBatch.has_value()},
                   {"the sequence length", row.sequenceTokens.has_value()},
                   {"the number of devices", row.devices.has_value()}});
}

static std::string degrees(const TrainingRow &row, const Rule &) {
  return unstated({{"tp", row.tp.has_value()}, {"pp", row.pp.has_value()}});
}

static std::string headSize(const TrainingRow &row, const Rule &rule) {
  TrainedArchitecture sizes = row.architecture.value_or(TrainedArchitecture());
  if (!sizes.headSize && (!sizes.hidden || !sizes.heads))
    return "";
  double size = sizes.headSize ? double(*sizes.headSize)
                               : double(*sizes.hidden) / double(*sizes.heads);
  double blocks = size / rule.number("multiple");
  return blocks == std::floor(blocks)
             ? ""
             : "a head of " + formatNumber(std::round(size * 10) / 10) +
                   " is no multiple of " +
                   formatNumber(rule.number("multiple"));
}

static std::string firstZero(const TrainingRow &row, const Rule &rule) {
  bool applies = row.zeroStage &&
                 double(*row.zeroStage) == rule.number("stage") &&
                 row.source.find(rule.text("source")) != std::string::npos;
  return applies ? "ZeRO stage " + std::to_string(*row.zeroStage) + " of " +
                       rule.text("source")
                 : "";
}

static std::string format(const TrainingRow &row, const Rule &rule) {
  bool applies = lower(row.precision).find(lower(rule.text("precision"))) !=
                 std::string::npos;
  return applies ? "precision \"" + shorten(row.precision) + "\"" : "";
}

static std::string longContext(const TrainingRow &row, const Rule &rule) {
  int64_t cp = row.cp.value_or(1), tokens = row.sequenceTokens.value_or(0);
  bool applies = double(cp) >= rule.number("min_cp") &&
                 double(tokens) > rule.number("above_tokens");
  return applies ? "cp " + formatInteger(cp) + " at " + formatInteger(tokens) +
                       " tokens"
                 : "";
}

static std::string time(const TrainingRow &row, const Rule &) {
  return row.iterationSeconds || row.peakGiB
             ? ""
             : "neither a time nor a peak of memory is stated";
}

static Reason reasonOf(const std::string &rule) {
  static const std::map<std::string, Reason> reasons = {
      {"paper-formula", formula},
      {"architecture-unstated", architecture},
      {"micro-batch-unstated", microbatch},
      {"fine-tuning", fineTuning},
      {"batch-unstated", batch},
      {"degrees-unstated", degrees},
      {"odd-head-size", headSize},
      {"zero-3-of-2021", firstZero},
      {"fp8-rowwise", format},
      {"long-context-parallel", longContext},
      {"nvfp4", format},
      {"time-unstated", time},
  };
  return reasons.at(rule);
}

/// Rows whose plan needs less memory with a larger micro-batch.
static void smallerNeedsMore(const std::vector<TrainingRow> &rows,
                             const Rule &rule,
                             std::vector<RowJudgement> &judgements) {
  std::map<std::string, std::vector<size_t>> plans;
  for (size_t i = 0; i < rows.size(); ++i)
    if (judgements[i].counts() && rows[i].peakGiB && rows[i].microbatch)
      plans[planKey(rows[i], Microbatches::together)].push_back(i);
  for (const auto &[key, members] : plans)
    for (size_t i : members) {
      auto larger = std::find_if(members.begin(), members.end(), [&](size_t j) {
        return *rows[j].microbatch > *rows[i].microbatch &&
               *rows[j].peakGiB < *rows[i].peakGiB;
      });
      if (larger != members.end())
        judgements[i].exclude(
            rule, formatNumber(*rows[i].peakGiB) + " GiB, and " +
                      shorten(rows[*larger].id) + ", of a micro-batch of " +
                      formatInteger(*rows[*larger].microbatch) + ", has " +
                      formatNumber(*rows[*larger].peakGiB) + " GiB");
    }
}

static bool isPeak(const TrainingRow &row) {
  return row.peakGiB && !row.iterationSeconds;
}

std::vector<RowJudgement>
autopar::validation::judgeTraining(const std::vector<TrainingRow> &rows,
                                   const RuleSet &rules) {
  std::vector<RowJudgement> judgements(rows.size());
  for (const Rule &rule : rules.rules) {
    if (!rule.excludes(Rule::Rows::trained))
      continue;
    if (rule.name == "smaller-needs-more") {
      smallerNeedsMore(rows, rule, judgements);
      continue;
    }
    Reason reasonFor = reasonOf(rule.name);
    // Rows that are reported separately concern times: peaks of memory depend
    // on no kernel.
    bool ofTimes = rule.kind == Rule::Kind::apart;
    for (size_t i = 0; i < rows.size(); ++i)
      if (judgements[i].counts() && !(ofTimes && isPeak(rows[i])))
        if (std::string why = reasonFor(rows[i], rule); !why.empty())
          judgements[i].exclude(rule, std::move(why));
  }
  return judgements;
}
