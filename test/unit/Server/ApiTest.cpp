//===- ApiTest.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Server/Api.h"
#include "autopar/Model/WeightFormat.h"
#include "autopar/Runtime/Runtime.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

using namespace autopar::server;
using nlohmann::json;

namespace {
class ApiTest : public testing::Test {
protected:
  void SetUp() override { setenv("AUTOPAR_DATA", AUTOPAR_SOURCE_DIR, 1); }

  json ask(const std::string &method, const std::string &path,
           const std::string &body = "", int status = 200) {
    std::string query;
    size_t question = std::min(path.find('?'), path.size());
    if (question < path.size())
      query = path.substr(question + 1);
    HttpResponse response = api.answer({method,
                                        path.substr(0, question),
                                        query,
                                        {{"content-type", "application/json"}},
                                        body});
    EXPECT_EQ(response.status, status) << response.body;
    return json::parse(response.body, nullptr, false);
  }
  json post(const std::string &path, const json &body, int status = 200) {
    return ask("POST", path, body.dump(), status);
  }

  ServerLimits limits;
  Api api{limits};
};
} // namespace

static const json llama = {{"model", "llama-3.2-1b"}};

static json with(json object, const json &more) {
  object.update(more);
  return object;
}

TEST_F(ApiTest, Estimates) {
  json answer = post("/estimate", with(llama, {{"flags", {{"shard-tp", 8}}}}));
  EXPECT_EQ(answer["report"]["mesh"]["devices"], 8);
  EXPECT_FALSE(answer.contains("ir"));
  EXPECT_TRUE(answer["report"]["impact"].empty());
  answer = post("/estimate", with(llama, {{"ir", true}, {"impact", true}}));
  EXPECT_NE(answer["ir"].get<std::string>().find("transformer.linear"),
            std::string::npos);
  EXPECT_FALSE(answer["report"]["impact"].empty());
}

TEST_F(ApiTest, TakesFiguresAndKeepsNone) {
  json set = {{"set", {"chips.h100-sxm.memory_bandwidth=4e12"}}};
  double slow = post("/estimate", llama)["report"]["latency"]["step_time_us"];
  double fast =
      post("/estimate",
           with(llama, {{"flags", set}}))["report"]["latency"]["step_time_us"];
  EXPECT_LT(fast, slow);
  EXPECT_EQ(post("/estimate", llama)["report"]["latency"]["step_time_us"],
            slow);
}

TEST_F(ApiTest, PointsAtWhatIsWrong) {
  auto pointerOf = [&](const json &body) {
    return post("/estimate", body, 422)["errors"][0]["pointer"];
  };
  auto flag = [&](const char *name, const json &value) {
    return with(llama, {{"flags", {{name, value}}}});
  };
  EXPECT_EQ(pointerOf({{"model", "lama-3.2-1b"}}), "/model");
  EXPECT_EQ(pointerOf({{"model", "org/name"}}), "/model");
  EXPECT_EQ(pointerOf(json::object()), "");
  EXPECT_EQ(pointerOf(with(llama, {{"explain", 1}})), "/explain");
  EXPECT_EQ(pointerOf(with(llama, {{"flag", 1}})), "/flag");
  EXPECT_EQ(pointerOf(flag("shard-pt", 8)), "/flags/shard-pt");
  EXPECT_EQ(pointerOf(flag("shard-tp", 0)), "/flags/shard-tp");
  EXPECT_EQ(pointerOf(flag("shard-tp", json::array())), "/flags/shard-tp");
  EXPECT_EQ(pointerOf(flag("batch", "x")), "/flags/batch");
  EXPECT_EQ(pointerOf(flag("hardware", "./my.json")), "/flags/hardware");
  EXPECT_EQ(pointerOf(flag("plan", "/etc/passwd")), "/flags/plan");
  EXPECT_EQ(pointerOf(flag("report-output", "x")), "/flags/report-output");
  EXPECT_EQ(pointerOf(flag("hardware", "h1000")), "/flags");
  EXPECT_EQ(pointerOf({{"config", {{"model_type", "x"}}}}),
            "/config/model_type");
  json broken = post("/estimate", {{"module", "module {\n  oops\n}"}}, 422);
  EXPECT_EQ(broken["errors"][0]["pointer"], "/module");
  EXPECT_EQ(broken["errors"][0]["line"], 2);
}

TEST_F(ApiTest, RefusesWhatIsNoJson) {
  json answer = ask("POST", "/estimate", "{\n  \"model\": }", 400);
  EXPECT_EQ(answer["errors"][0]["line"], 2);
  EXPECT_EQ(ask("POST", "/estimate", "[]", 422)["status"], 422);
  std::string deep(10'000, '[');
  ask("POST", "/estimate", deep, 400);
}

TEST_F(ApiTest, TakesItsOwnModules) {
  json imported = post("/import", llama);
  EXPECT_EQ(imported["model"]["schema"], "autopar.model/1");
  json body = {{"module", imported["module"]}, {"flags", {{"shard-tp", 8}}}};
  EXPECT_EQ(
      post("/system-metrics", body),
      post("/system-metrics", with(llama, {{"flags", {{"shard-tp", 8}}}})));
}

TEST_F(ApiTest, SaysWhatThereIs) {
  EXPECT_GT(ask("GET", "/models")["models"].size(), 40u);
  EXPECT_EQ(ask("GET", "/models/llama-3.2-1b")["schema"], "autopar.model/1");
  ask("GET", "/models/none", "", 404);
  ask("GET", "/models/..", "", 404);
  EXPECT_EQ(ask("GET", "/hardware/h100-sxm-8")["chip"], "h100-sxm");
  EXPECT_EQ(ask("GET", "/hardware/h100-sxm")["schema"], "autopar.chip/1");
  ask("GET", "/hardware/names", "", 404);
  json runtimes = ask("GET", "/runtimes")["runtimes"];
  EXPECT_EQ(runtimes.size(), autopar::runtime::runtimeNames().size());
  for (const json &runtime : runtimes)
    post("/estimate", with(llama, {{"flags", {{"runtime", runtime["id"]}}}}));
  json formats = ask("GET", "/formats");
  EXPECT_EQ(formats["weights"].size(),
            autopar::model::weightFormatNames().size());
  for (const json &format : formats["kv_cache"])
    post("/estimate", with(llama, {{"flags", {{"kv-format", format}}}}));
  // 3 dense layers and 58 with experts.
  json layers = ask("GET", "/layers?model=deepseek-v3")["layers"];
  ASSERT_GE(layers.size(), 2u);
  EXPECT_EQ(layers[0]["count"], 3);
  EXPECT_EQ(layers[1]["count"], 58);
  ask("GET", "/layers", "", 404);
}

TEST_F(ApiTest, MeasuresLayers) {
  json answer =
      post("/layer-metrics", with(llama, {{"flags", {{"batch", 1}}}}));
  int64_t layers = 0;
  for (const json &layer : answer["layers"])
    layers = std::max(layers, layer["count"].get<int64_t>());
  EXPECT_EQ(layers, 16);
}

TEST_F(ApiTest, ComparesSearchesSweepsAndPlaces) {
  json diff = post("/compare", with(llama, {{"first", {{"shard-tp", 1}}},
                                            {"second", {{"shard-tp", 2}}}}));
  EXPECT_EQ(diff["schema"], "autopar.diff/1");
  json found =
      post("/search", with(llama, {{"flags", {{"devices", 2}, {"batch", 8}}}}));
  EXPECT_EQ(found["schema"], "autopar.search/1");
  json table =
      post("/sweep",
           with(llama, {{"flags", {{"batch", {1, 8}}, {"context", "1k|2k"}}}}));
  EXPECT_EQ(table["rows"].size(), 4u);
  json placed =
      post("/placement",
           {{"flags", {{"experts", 8}, {"ranks", 2}, {"load", "zipf:1.0"}}}});
  EXPECT_EQ(placed["schema"], "autopar.placement/1");
  EXPECT_EQ(post("/placement",
                 {{"flags", {{"experts", 8}, {"ranks", 2}, {"load", "a.csv"}}}},
                 422)["errors"][0]["pointer"],
            "/flags/load");
  EXPECT_EQ(post("/search", with(llama, {{"flags", {{"goal", "x"}}}}),
                 422)["errors"][0]["pointer"],
            "/flags/goal");
  limits.sweepRows = 3;
  post("/sweep", with(llama, {{"flags", {{"batch", "1..8"}}}}), 422);
}

TEST_F(ApiTest, StopsASearch) {
  HttpRequest request{"POST",
                      "/search",
                      "",
                      {{"content-type", "application/json"}},
                      R"({"model": "llama-3.2-1b", "flags": {"devices": 8}})"};
  HttpResponse response = api.answer(
      request, [](std::string_view, size_t, size_t) { return false; });
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(json::parse(response.body)["proof"]["complete"], false);
}
