//===- RuleSetTest.cpp - Rules as data ------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Validation/RuleSet.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::validation;

namespace {

std::string errorOf(const std::string &rules) {
  Result<RuleSet> set = parseRuleSet(
      R"({"schema": "autopar.rules/1", "rules": )" + rules + "}", "r.json");
  return set ? "no error" : set.error().str();
}

TEST(RuleSet, DefaultReadsBackAsItself) {
  std::string text = ruleSetJson(defaultRules());
  Result<RuleSet> read = parseRuleSet(text, "r.json");
  ASSERT_TRUE(read) << read.error().str();
  EXPECT_EQ(ruleSetJson(*read), text);
  EXPECT_NE(text.find("\"tolerance\": 0.1"), std::string::npos);
}

TEST(RuleSet, FileChangesTheDefault) {
  Result<RuleSet> set = parseRuleSet(
      R"({"schema": "autopar.rules/1", "rules": {
            "non-monotone": {"tolerance": 0.2},
            "speculation-unstated": {"since": "2027-01-01"},
            "scheduler-cap": {"enabled": false}}})",
      "r.json");
  ASSERT_TRUE(set) << set.error().str();
  EXPECT_EQ(set->get("non-monotone").number("tolerance"), 0.2);
  EXPECT_TRUE(set->get("non-monotone").enabled);
  EXPECT_EQ(set->get("speculation-unstated").text("since"), "2027-01-01");
  EXPECT_FALSE(set->get("scheduler-cap").enabled);
  EXPECT_TRUE(set->get("above-peak").enabled);
}

TEST(RuleSet, NoneKeepsWhatIsCompared) {
  for (const Rule &rule : noRules().rules)
    EXPECT_EQ(rule.enabled, rule.kind == Rule::Kind::score) << rule.name;
}

TEST(RuleSet, ErrorsNameRuleAndParameter) {
  EXPECT_EQ(errorOf(R"({"non-monoton": {}})").substr(0, 78),
            "r.json: /rules/non-monoton: there is no such rule, did you mean "
            "\"non-monotone\"");
  EXPECT_EQ(errorOf(R"({"non-monotone": {"tolerence": 1}})"),
            "r.json: /rules/non-monotone/tolerence: the rule has no such "
            "parameter\n  note: it has: enabled, what, tolerance");
  EXPECT_EQ(errorOf(R"({"non-monotone": false})"),
            "r.json: /rules/non-monotone: expected an object: "
            "{\"enabled\": false}");
  EXPECT_EQ(errorOf(R"({"non-monotone": {"tolerance": "x"}})"),
            "r.json: /rules/non-monotone/tolerance: expected a number from 0 "
            "to 1e+15, found "
            "\"x\"");
  EXPECT_EQ(errorOf(R"({"non-monotone": {"tolerance": -1}})").substr(0, 39),
            "r.json: /rules/non-monotone/tolerance: ");
}

} // namespace
