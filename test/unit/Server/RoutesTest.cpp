//===- RoutesTest.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Server/Routes.h"

#include "autopar/Pipelines/PlanFlags.h"
#include "autopar/Server/Documents.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>
#include <set>

using namespace autopar;
using namespace autopar::pipelines;
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
  return read ? nlohmann::json::parse(withFlags(*read)) : nlohmann::json();
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

/// Flags are those of the command line, with its help, but for those that are
/// about files, text or simulations; lists of searches and sweeps have others.
TEST(RoutesTest, KnowEveryFlag) {
  nlohmann::json schemas = document()["components"]["schemas"];
  auto helpOf = [&](const char *schema, const char *flag) {
    nlohmann::json properties = schemas[schema]["properties"];
    return properties.contains(flag)
               ? properties[flag]["description"].get<std::string>()
               : "";
  };
  size_t documented = schemas["Flags"]["properties"].size(), ofFiles = 13;
  EXPECT_EQ(documented + ofFiles, PlanFlags().all().size());
  EXPECT_EQ(helpOf("Flags", "kv-dtype"), "The same as --kv-format");
  EXPECT_EQ(helpOf("Flags", "report-output"), "");
  EXPECT_EQ(helpOf("Flags", "goal"), "");
  EXPECT_NE(helpOf("SearchFlags", "dropout"), "");
  EXPECT_EQ(helpOf("SearchFlags", "recompute"), "");
  EXPECT_NE(helpOf("SearchFlags", "goal"), "");
  EXPECT_NE(helpOf("SweepFlags", "recompute"), "");
  EXPECT_NE(helpOf("SearchFlags", "batch"), helpOf("SweepFlags", "batch"));
}
