//===- RoutesTest.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Server/Routes.h"

#include "autopar/Pipelines/PlanFlags.h"
#include "autopar/Support/Json.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>
#include <set>

using namespace autopar;
using namespace autopar::server;

static int statusOf(const char *method, const char *path,
                    const char *type = "application/json") {
  HttpRequest request{method, path, "", {{"content-type", type}}, ""};
  auto found = routeOf(request);
  const auto *problem = std::get_if<Problem>(&found);
  return problem ? problem->status : 0;
}

TEST(RoutesTest, FindsPaths) {
  EXPECT_EQ(statusOf("GET", "/models"), 0);
  EXPECT_EQ(statusOf("HEAD", "/models"), 0);
  EXPECT_EQ(statusOf("GET", "/models/a"), 0);
  EXPECT_EQ(statusOf("GET", "/models/"), 404);
  EXPECT_EQ(statusOf("GET", "/models/a/b"), 404);
  EXPECT_EQ(statusOf("GET", "/estimate"), 405);
  EXPECT_EQ(statusOf("OPTIONS", "/estimate"), 405);
  EXPECT_EQ(statusOf("POST", "/models"), 405);
  EXPECT_EQ(statusOf("POST", "/estimate"), 0);
  EXPECT_EQ(statusOf("POST", "/estimate", "application/json; charset=utf-8"),
            0);
  EXPECT_EQ(statusOf("POST", "/estimate", "text/plain"), 415);
}

static nlohmann::json document() {
  Result<JsonDocument> read =
      JsonDocument::readFile(AUTOPAR_SOURCE_DIR "/lib/Server/openapi.json");
  return read ? read->toJson() : nlohmann::json();
}

TEST(RoutesTest, AreThoseOfTheDocument) {
  std::set<std::pair<std::string, std::string>> documented, known;
  nlohmann::json paths = document()["paths"];
  for (const auto &[path, methods] : paths.items())
    for (const auto &[method, operation] : methods.items())
      documented.emplace(method == "get" ? "GET" : "POST", path);
  for (const Route &route : allRoutes())
    known.emplace(route.method, route.path);
  EXPECT_EQ(documented, known);
}

/// Every flag of the command line is documented, or one of those that are about
/// files, text or simulations.
TEST(RoutesTest, KnowEveryFlag) {
  const std::set<std::string> others = {
      "estimate", "explain",       "impact",      "verbose",         "brief",
      "trace",    "report-output", "requests",    "requests-output", "simulate",
      "seed",     "diff-plans",    "expert-trace"};
  nlohmann::json flags =
      document()["components"]["schemas"]["Flags"]["properties"];
  std::set<std::string> documented = others, known;
  for (const auto &[name, flag] : flags.items())
    documented.insert(name);
  PlanFlags all;
  for (const PlanFlag &flag : all.all())
    known.insert(flag.name);
  EXPECT_EQ(documented, known);
}
