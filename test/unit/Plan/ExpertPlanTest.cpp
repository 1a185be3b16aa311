//===- ExpertPlanTest.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Plan/Degrees.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::plan;

static Result<Plan> read(const std::string &experts) {
  Result<JsonDocument> document = JsonDocument::parse(
      R"({"schema": "autopar.plan/1", "axes": [{"name": "dp", "size": 4}],
          "degrees": {"ep": ["dp"]}, "expert_placement": )" +
          experts + "}",
      "plan.json");
  return document ? readPlan(*document) : document.error();
}

static std::string errorOf(const std::string &experts) {
  Result<Plan> plan = read(experts);
  EXPECT_FALSE(plan) << experts;
  return plan ? "" : plan.error().where + ": " + plan.error().message;
}

TEST(ExpertPlan, ReadsBackUnchanged) {
  for (const char *text : {"{}", R"({"policy": "round_robin"})",
                           R"({"policy": "balanced", "redundant_experts": 32,
            "groups_in_node": true, "tolerance": 0.5, "load": "zipf:1.0",
            "trace": "a.jsonl"})"}) {
    Result<Plan> plan = read(text);
    ASSERT_TRUE(plan) << plan.error().str();
    ASSERT_TRUE(plan->expertPlacement);
    std::string written = writePlan(*plan);
    Result<JsonDocument> document = JsonDocument::parse(written, "written");
    ASSERT_TRUE(document);
    Result<Plan> again = readPlan(*document);
    ASSERT_TRUE(again) << again.error().str();
    EXPECT_EQ(writePlan(*again), written);
  }
}

TEST(ExpertPlan, AnOpenPolicyFollowsTheLoads) {
  EXPECT_EQ(read("{}")->expertPlacement->options().policy,
            PlacementPolicy::block);
  for (const char *text : {R"({"load": "even"})", R"({"trace": "a.csv"})"})
    EXPECT_EQ(read(text)->expertPlacement->options().policy,
              PlacementPolicy::balanced);
  EXPECT_EQ(read(R"({"policy": "block", "load": "even"})")
                ->expertPlacement->options()
                .policy,
            PlacementPolicy::block);
}

TEST(ExpertPlan, RefusesWhatMakesNoSense) {
  EXPECT_EQ(errorOf(R"({"policy": "best"})"),
            "plan.json: /expert_placement/policy: expected block, "
            "round_robin, balanced, found \"best\"");
  EXPECT_NE(errorOf(R"({"redundant_experts": -1})").find("found -1"),
            std::string::npos);
  EXPECT_NE(errorOf(R"({"tolerance": 2})").find("found 2"), std::string::npos);
  EXPECT_NE(errorOf(R"({"loads": "even"})").find("loads"), std::string::npos);
  EXPECT_FALSE(read("3"));
  EXPECT_TRUE(checkChoices(*read(R"({"policy": "balanced"})")));
  EXPECT_TRUE(checkChoices(*read(R"({"groups_in_node": true})")));
  EXPECT_FALSE(
      checkChoices(*read(R"({"groups_in_node": true, "load": "even"})")));
  Plan without = *read("{}");
  without.degrees.clear();
  EXPECT_TRUE(checkChoices(without));
}
