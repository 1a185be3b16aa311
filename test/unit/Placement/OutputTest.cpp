//===- OutputTest.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Placement/EngineMap.h"
#include "autopar/Placement/PlacementReport.h"
#include "autopar/Placement/Synthetic.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <fstream>

using namespace autopar;
using namespace autopar::placement;
using nlohmann::json;

/// Layers 1 and 2 of a model of 4 layers, as in the descriptions of formats.
static ExpertPlacement makePlacement() {
  PlacementSpace space = {4, 2, 3};
  LoadProfile loads = {4, {{1, {4, 3, 2, 1}}, {2, {1, 1, 5, 1}}}};
  return *placeExperts(loads, space, {});
}

static ExpertPlacement makeTraced() {
  RoutingTrace trace = {4, {{1, {{{0, 2}, 10}, {{1, 3}, 10}}}}};
  LoadProfile loads = {4, {{1, {10, 10, 10, 10}}, {2, {1, 1, 5, 1}}}};
  return *placeExperts(loads, {4, 2, 2, 2}, {}, &trace);
}

static Result<std::vector<LayerSlots>>
readBack(const std::string &text, EngineFormat format,
         const std::vector<int64_t> &layers = {1, 2}) {
  Result<JsonDocument> document = JsonDocument::parse(text, "map.json");
  EXPECT_TRUE(document) << text;
  return readEngineMap(*document, format, {4, 2, 3}, layers);
}

TEST(EngineMap, RoundTrips) {
  ExpertPlacement placement = makePlacement();
  for (EngineFormat format :
       {EngineFormat::sglang, EngineFormat::vllm, EngineFormat::vllm_ascend}) {
    EXPECT_EQ(parseEngineFormat(nameOf(format)), format);
    Result<std::string> text = writeEngineMap(placement, format, 4);
    ASSERT_TRUE(text);
    auto read = readBack(*text, format);
    ASSERT_TRUE(read) << read.error().str();
    ASSERT_EQ(read->size(), 2u);
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_EQ((*read)[i].layer, placement.layers[i].layer);
      EXPECT_EQ((*read)[i].slots, placement.layers[i].slots);
    }
  }
}

TEST(EngineMap, SglangHasARowForEveryLayer) {
  json map =
      json::parse(*writeEngineMap(makePlacement(), EngineFormat::sglang, 4));
  ASSERT_EQ(map.size(), 1u);
  const json &rows = map["physical_to_logical_map"];
  ASSERT_EQ(rows.size(), 4u);
  // Expert p modulo 4 in slot p, as SGLang's "trivial".
  EXPECT_EQ(rows[0], json({0, 1, 2, 3, 0, 1}));
  EXPECT_EQ(rows[3], rows[0]);
}

TEST(EngineMap, VllmHasLayersWithExperts) {
  ExpertPlacement placement = makePlacement();
  json rows = json::parse(*writeEngineMap(placement, EngineFormat::vllm, 4));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1], json(placement.layers[1].slots));
}

TEST(EngineMap, AscendNamesDevices) {
  json map = json::parse(
      *writeEngineMap(makePlacement(), EngineFormat::vllm_ascend, 4));
  EXPECT_EQ(map["moe_layer_count"], 2);
  const json &layer = map["layer_list"][1];
  EXPECT_EQ(layer["layer_id"], 1);
  EXPECT_EQ(layer["device_count"], 2);
  EXPECT_EQ(layer["device_list"][1]["device_id"], 1);
  EXPECT_EQ(layer["device_list"][1]["device_expert"].size(), 3u);
}

TEST(EngineMap, LocatesErrors) {
  auto errorOf = [](const std::string &text, EngineFormat format) {
    auto read = readBack(text, format);
    return read ? "read" : read.error().str();
  };
  EngineFormat vllm = EngineFormat::vllm, sglang = EngineFormat::sglang;
  std::string row = "[0, 1, 2, 3, 0, 1]";
  EXPECT_EQ(errorOf("[" + row + "]", vllm),
            "map.json: expected 2 rows, found 1");
  EXPECT_EQ(errorOf("[" + row + ", [0, 1]]", vllm),
            "map.json: /1: expected 6 slots, found 2");
  EXPECT_EQ(errorOf("[" + row + ", [0, 1, 2, 4, 0, 1]]", vllm),
            "map.json: /1/3: expected an integer from 0 to 3, found 4");
  EXPECT_EQ(errorOf("[" + row + ", [0, 1, 2, 0, 0, 1]]", vllm),
            "map.json: /1: expert 3 has no slot");
  EXPECT_EQ(errorOf("{}", vllm), "map.json: expected an array of rows");
  EXPECT_EQ(errorOf("{\"physical_to_logical_map\": [" + row + "]}", sglang),
            "map.json: /physical_to_logical_map: expected at least 3 rows, "
            "found 1");
  EXPECT_EQ(errorOf("{\"layer_list\": [{\"device_list\": []}, 1]}",
                    EngineFormat::vllm_ascend),
            "map.json: /layer_list/0/device_list: expected 2 devices, found 0");
  Result<std::string> beyond = writeEngineMap(makePlacement(), sglang, 2);
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().str(),
            "expected placed layers below 2, found layer 2\n"
            "  note: at most 10000 layers are written");
}

//===----------------------------------------------------------------------===//
// Report
//===----------------------------------------------------------------------===//

TEST(PlacementReport, Text) {
  EXPECT_EQ(placementText(makeTraced()), R"(Expert placement (balanced)
  4 experts on 2 ranks of 2 slots, 2 nodes
  most loaded rank / mean: block 1.25, now 1.250 over 2 layers, worst 1.500
  sends of a token to other nodes: block 1.00, now 0.50 (-50%)
         largest load  sends to nodes
  layer  block    now  block    now   ranks
      2   1.50  1.500                |*.|
      1   1.00  1.000   1.00   0.50  |==|
  ranks by load / mean: under 0.5 ' ', 0.8 '.', 0.95 '-', 1.05 '=', 1.25 '+',
  2 '*', 4 '#', more '@'
)");
}

TEST(PlacementReport, TextFitsTheTerminal) {
  LoadProfile loads = *makeLoads({LoadShapeKind::zipf, 1, 512, 12, 100'000, 3});
  Result<ExpertPlacement> placement =
      placeExperts(loads, {512, 256, 3, 32}, {});
  std::string text = placementText(*placement, "", 4), line;
  std::istringstream lines(text);
  size_t bars = 0;
  while (std::getline(lines, line)) {
    EXPECT_LE(line.size(), 80u);
    bars += line.back() == '|';
  }
  EXPECT_EQ(bars, 4u);
  EXPECT_NE(text.find("8 more layers, none above"), std::string::npos) << text;
}

TEST(PlacementReport, JsonHasWhatTheSchemaSays) {
  std::ifstream file(AUTOPAR_SOURCE_DIR
                     "/lib/Placement/schema/placement.schema.json");
  json schema = json::parse(file);
  json report = json::parse(placementJson(makeTraced()));
  EXPECT_EQ(report["schema"], schema["properties"]["schema"]["const"]);
  auto compare = [](const json &value, const json &object) {
    for (const auto &key : object["required"])
      EXPECT_TRUE(value.contains(std::string(key))) << key;
    for (auto it = value.begin(); it != value.end(); ++it)
      EXPECT_TRUE(object["properties"].contains(it.key())) << it.key();
  };
  compare(report, schema);
  ASSERT_EQ(report["layers"].size(), 2u);
  for (const json &layer : report["layers"])
    compare(layer, schema["properties"]["layers"]["items"]);
  EXPECT_EQ(report["layers"][0]["cross_node_sends"], 10);
  EXPECT_EQ(report["layers"][0]["block_cross_node_sends"], 20);
  EXPECT_FALSE(report["layers"][1].contains("cross_node_sends"));
  EXPECT_EQ(report["worst_imbalance"], 1.5);
}
