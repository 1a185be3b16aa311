//===- ProblemTest.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Server/Problem.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::server;

TEST(ProblemTest, PointsAtTheField) {
  Problem problem = problemOf({"body: /flags/shard-tp", "expected 1", "try 2"});
  EXPECT_EQ(problem.status, 422);
  EXPECT_EQ(problem.json()["errors"][0],
            nlohmann::json({{"pointer", "/flags/shard-tp"},
                            {"detail", "expected 1"},
                            {"note", "try 2"}}));
}

TEST(ProblemTest, SaysWhereJsonIsMalformed) {
  Problem problem = malformed({"body:3:14", "syntax error near '}'", ""});
  EXPECT_EQ(problem.status, 400);
  EXPECT_EQ(problem.errors[0].line, 3);
  EXPECT_EQ(problem.errors[0].column, 14);
}

TEST(ProblemTest, PointsIntoConfigsAndModules) {
  EXPECT_EQ(problemOf({"config: /rope/theta", "expected a number", ""})
                .errors[0]
                .pointer,
            "/config/rope/theta");
  Problem::Part part = problemOf({"module:2:5", "expected ':'", ""}).errors[0];
  EXPECT_EQ(part.pointer, "/module");
  EXPECT_EQ(part.line, 2);
}

TEST(ProblemTest, OfPathsIsNotFound) {
  EXPECT_EQ(problemOf({"path", "no such model", ""}).status, 404);
}

TEST(ProblemTest, IsJsonWhateverTheTextIs) {
  HttpResponse response = Problem{422, "\xff\x01\""}.response();
  EXPECT_EQ(response.type, "application/problem+json");
  EXPECT_FALSE(
      nlohmann::json::parse(response.body, nullptr, false).is_discarded());
}
