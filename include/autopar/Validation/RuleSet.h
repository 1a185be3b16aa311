//===- RuleSet.h - Rules of which rows count, as data -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_VALIDATION_RULESET_H
#define AUTOPAR_VALIDATION_RULESET_H

#include "autopar/Support/Result.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace autopar::validation {

/// A rule with a stable name, its purpose, and its parameters.
struct Rule {
  std::string name, what;
  enum class Kind {
    /// Reads a row as it was meant.
    repair,
    /// Takes a row out of the tables of errors.
    exclude,
    /// Takes it out, and its errors are reported apart.
    apart,
    /// Says which of a row's figures are compared.
    score,
  } kind = Kind::exclude;
  bool enabled = true;
  std::map<std::string, double> numbers = {};
  std::map<std::string, std::string> texts = {};
  /// The kind of rows that it applies to.
  enum class Rows { served, trained } of = Rows::served;

  double number(const char *key) const { return numbers.at(key); }
  const std::string &text(const char *key) const { return texts.at(key); }
  /// Whether it may take rows of that kind out.
  bool excludes(Rows rows) const {
    return enabled && of == rows &&
           (kind == Kind::exclude || kind == Kind::apart);
  }
};

/// Rules in the order in which they are applied.
struct RuleSet {
  std::vector<Rule> rules;

  /// The rule of that name, which is one of ours.
  const Rule &get(std::string_view name) const;
};

/// All repairs and exclusions, as they were written before any error of a
/// prediction was looked at; but for `product-of-twos` and
/// `attention-dp-of-pools`, which errors led to, and configurations of the
/// benchmarks told.
RuleSet defaultRules();
/// None of them applies; figures are compared as ever.
RuleSet noRules();

/// A file of schema `autopar.rules/1`, which changes the default:
///   {"schema": "autopar.rules/1",
///    "rules": {"non-monotone": {"tolerance": 0.2},
///              "scheduler-cap": {"enabled": false}}}
Result<RuleSet> readRuleSet(const std::string &path);
Result<RuleSet> parseRuleSet(std::string_view text, const std::string &name);
/// The file that says all of `rules`.
std::string ruleSetJson(const RuleSet &rules);

} // namespace autopar::validation

#endif // AUTOPAR_VALIDATION_RULESET_H
