//===- Rules.h - The rows that count ----------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Rows are repaired and excluded by their own columns, by other rows of their
// series, and by the capacity of the machine; never by the error of a
// prediction.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_VALIDATION_RULES_H
#define AUTOPAR_VALIDATION_RULES_H

#include "autopar/Validation/RuleSet.h"
#include "autopar/Validation/ServingRow.h"

#include <functional>

namespace autopar::validation {

/// The outcome of the rules for a row.
struct RowJudgement {
  /// Names of the rules that repaired it.
  std::vector<std::string> repairs;
  /// A repair guessed: the row is reported apart.
  bool ambiguous = false;
  /// The first rule that excludes it, "" where none does; and why, with the
  /// numbers of the row.
  std::string excludedBy, reason;
  /// Whether that rule has its errors reported apart.
  bool apart = false;

  bool counts() const { return excludedBy.empty(); }
  void exclude(const Rule &rule, std::string why);
};

/// Asked at most once per row, after its repairs. Nothing where it is not
/// known: rules that need it then leave the row alone.
using CapacityOf =
    std::function<std::optional<RowCapacity>(const ServingRow &)>;

/// Repairs `rows` and judges each.
std::vector<RowJudgement> judgeRows(std::vector<ServingRow> &rows,
                                    const RuleSet &rules,
                                    const CapacityOf &capacityOf);

struct RuleCount {
  std::string name, what;
  Rule::Kind kind;
  size_t rows = 0;
};
/// Counts the rows that each enabled repair and exclusion applied to, in their
/// order.
std::vector<RuleCount> countByRule(const std::vector<RowJudgement> &judgements,
                                   const RuleSet &rules,
                                   Rule::Rows of = Rule::Rows::served);

/// Whether requests queue: TTFT is long, and a good part of a request's time.
bool isSaturated(double ttftMs, double tpotMs, int64_t outputTokens,
                 const RuleSet &rules);
/// Whether the row's TTFT is compared.
bool ttftCounts(const ServingRow &row, const RuleSet &rules);
/// Whether it is compared that the row is saturated or not.
bool saturationCounts(const ServingRow &row, const RowCapacity &capacity,
                      const RuleSet &rules);

/// Relative differences of TPOT between repeats of one configuration, per
/// pair.
struct NoiseFloor {
  size_t configurations = 0, pairs = 0;
  double median = 0, p90 = 0;
};
/// The noise floor over the rows that count, without copies; with or without
/// distinction of versions of a runtime.
NoiseFloor noiseFloor(const std::vector<ServingRow> &rows,
                      const std::vector<RowJudgement> &judgements,
                      bool tellVersionsApart);

} // namespace autopar::validation

#endif // AUTOPAR_VALIDATION_RULES_H
