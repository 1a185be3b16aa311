//===- ReportTest.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Report/Report.h"
#include "../Cost/TrainingFixtures.h"

#include "autopar/Estimate/Estimate.h"
#include "autopar/Explain/Differences.h"
#include "autopar/Report/Deployment.h"
#include "autopar/Report/ModelReport.h"
#include "autopar/Report/PlanDifferences.h"
#include "autopar/Write/Json.h"
#include "autopar/Write/Text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <fstream>
#include <sstream>

using namespace autopar;
using namespace autopar::estimation;
using namespace autopar::explanation;
using namespace autopar::placement;
using namespace autopar::report;
using namespace autopar::runtime;
using namespace autopar::writing;
using nlohmann::json;

static Report makeReport() {
  Report report;
  report.model.name = "Llama-3.3-70B";
  report.model.parameters = 70'553'706'496;
  report.model.activeParameters = 70'553'706'496;
  report.model.checkpointBytes = 141'107'412'992;
  report.mesh.degrees = {{"tp", 8}, {"ep", 8}};
  report.mesh.devices = 8;
  report.mesh.axes = {{"tp", "scale_up", 8, 1}, {"dp", "", 1, 1}};
  report.workload = {"prefill", 1, 2048, 2048};
  report.machine = {"h100-sxm-8", "8x H100", "h100-sxm", "vllm", 8, 1};
  Report::DeviceMemory &device = report.memory.perDevice;
  device.weightBytes = 17'640'734'720;
  device.kvCacheBytes = 83'886'080;
  device.activationBytes = device.reservedBytes = 1'000;
  device.runtimeBytes = 2'000'000'000;
  device.totalBytes = 19'724'621'800;
  device.capacityBytes = 85'000'000'000;
  report.memory.perStage = {report.memory.perDevice};
  report.memory.worstDevice = "stage 0";
  report.memory.perDevice.budgetBytes = 76'500'000'000;
  report.memory.kvBytesPerToken = 327'680;
  report.flops.total = INT64_MAX;
  report.communication.collectives = {{"all_reduce",
                                       "decoder/o_proj",
                                       {"tp"},
                                       8,
                                       160,
                                       33'554'432,
                                       58'720'256,
                                       137.5}};
  report.latency.stepTimeUs = 100'000.25;
  report.latency.computeTimeUs = 100'000.25;
  report.latency.bound = "compute";
  report.tokensPerS = 20480;
  report.byOp = {{"linear", 560, 90'000, 1'000'000, 2'000'000}};
  report.byLayer = {{"decoder", 80, 90'000, 1'000'000, 2'000'000}};
  report.assumptions = {{"KV cache block", "16 tokens", "datasheet: vLLM"}};
  report.warnings = {{"something to know", ""}};
  report.plan =
      R"({"schema": "autopar.plan/1", "axes": [{"name": "tp", "size": 8}]})";
  report.derivations["memory.budget_bytes"] = {
      "floor(share * capacity)",
      {{"plan.memory_utilization", "0.9"}, {"wide", "10485760000000000000000"}},
      {"plan"},
      {{"plan.memory_utilization", "as given"}, {"chips.a.b", "7"}},
      "a share"};
  return report;
}

/// Two experts on two ranks, of which the second has a copy of both.
static Report makePlacedReport() {
  Report report = makeReport();
  report.plan = R"({"schema": "autopar.plan/1", "axes": [],
      "expert_placement": {"policy": "block", "redundant_experts": 2,
      "groups_in_node": false, "tolerance": 0.1, "load": "even",
      "trace": "a.csv"}})";
  ExpertPlacement placement;
  placement.space = {2, 2, 2, 2};
  placement.options.policy = PlacementPolicy::block;
  placement.layers = {
      evaluatePlacement({0, 0, 0, 1}, {3, {6, 2}}, placement.space)};
  placement.layers[0].traffic = NodeTraffic{3, 4};
  placement.layers[0].blockTraffic = NodeTraffic{4, 4};
  report.placement = placement;
  return report;
}

TEST(WriteJson, WritesPlacementsWithoutTables) {
  json root = json::parse(writeJson(makePlacedReport()))["placement"];
  EXPECT_EQ(root["slots_per_rank"], 2);
  EXPECT_EQ(root["layers"][0]["layer"], 3);
  EXPECT_EQ(root["layers"][0]["cross_node_sends"], 3);
  EXPECT_FALSE(root["layers"][0].contains("physical_to_logical"));
  EXPECT_FALSE(json::parse(writeJson(makeReport())).contains("placement"));
  EXPECT_NE(writeText(makePlacedReport()).find("\nExpert placement (block)\n"),
            std::string::npos);
}

TEST(WriteJson, WritesTheFixedKeys) {
  json root = json::parse(writeJson(makeReport()));
  EXPECT_EQ(root["schema"], "autopar.report/1");
  EXPECT_EQ(root["model"]["parameters"], 70'553'706'496);
  EXPECT_TRUE(root["model"]["parameters"].is_number_integer());
  EXPECT_EQ(root["plan"]["axes"][0]["size"], 8);
  EXPECT_EQ(root["mesh"]["tp"], 8);
  EXPECT_EQ(root["mesh"]["ep"], 8);
  EXPECT_TRUE(root["mesh"]["axes"][1]["tier"].is_null());
  EXPECT_EQ(root["memory"]["per_device"]["weight_bytes"], 17'640'734'720);
  EXPECT_EQ(root["memory"]["per_stage"].size(), 1u);
  EXPECT_EQ(root["flops"]["total"], INT64_MAX);
  EXPECT_EQ(root["communication"]["collectives"][0]["axes"][0], "tp");
  EXPECT_EQ(root["latency"]["step_time_us"], 100'000.25);
  EXPECT_EQ(root["latency"]["bounds"]["weights_and_kv_read_bytes"], 0);
  EXPECT_EQ(root["throughput"]["tokens_per_s"], 20480);
  json derivation = root["derivations"]["memory.budget_bytes"];
  EXPECT_EQ(derivation["inputs"]["plan.memory_utilization"], 0.9);
  EXPECT_TRUE(derivation["inputs"]["wide"].is_number());
  EXPECT_EQ(derivation["terms"]["chips.a.b"], "7");
  EXPECT_EQ(derivation["note"], "a share");
}

TEST(WriteJson, WritesIntegersOfAnyLength) {
  Report report = makeReport();
  report.flops.total = Checked(INT64_MAX) * 1000;
  report.byOp[0].flops = Checked(INT64_MAX) + 1;
  std::string text = writeJson(report);
  EXPECT_NE(text.find("\"total\": 9223372036854775807000,"), std::string::npos)
      << text;
  EXPECT_NE(text.find("\"flops\": 9223372036854775808,"), std::string::npos);
  EXPECT_NE(text.find("\"wide\": 10485760000000000000000\n"),
            std::string::npos);
  EXPECT_TRUE(json::accept(text));
  EXPECT_NE(writeText(report).find("9,223,372,036,854,775,807,000"),
            std::string::npos);
}

// As nlohmann's own writer indents and escapes.
TEST(WriteJson, FormatsAsUsual) {
  using Ordered = nlohmann::ordered_json;
  Report narrow = makeReport();
  narrow.derivations.clear();
  narrow.model.name = "\"quoted\"\n";
  std::string text = writeJson(narrow);
  EXPECT_EQ(Ordered::parse(text).dump(2) + "\n", text);
}

TEST(WriteJson, SurvivesWhatItDoesNotExpect) {
  Report report;
  report.model.name = "\xff\xfe not UTF-8 \"quoted\"";
  report.plan = "{ not JSON";
  json root = json::parse(writeJson(report));
  EXPECT_TRUE(root["plan"].is_null());
  EXPECT_FALSE(root.contains("derivations"));
}

TEST(WriteJson, IsDeterministic) {
  EXPECT_EQ(writeJson(makeReport()), writeJson(makeReport()));
}

/// Every key of `value` must be described in `given`, a part of `root`, and
/// every required key of it be in `value`: enough of JSON Schema for our own.
static void check(const json &value, const json &root, const json &given,
                  const std::string &path) {
  bool named = given.contains("$ref");
  const json &schema = named ? root.at(json::json_pointer(
                                   given["$ref"].get<std::string>().substr(1)))
                             : given;
  ASSERT_TRUE(schema.contains("description") || path.empty()) << path;
  if (value.is_array())
    for (const json &element : value)
      check(element, root, schema.at("items"), path + "[]");
  if (!value.is_object())
    return;
  for (const json &key : schema.value("required", json::array()))
    EXPECT_TRUE(value.contains(key)) << path << "." << key;
  for (const auto &[key, member] : value.items()) {
    const json properties = schema.value("properties", json::object());
    bool known = properties.contains(key);
    ASSERT_TRUE(known || schema.contains("additionalProperties"))
        << path << "." << key << " is not in the schema";
    check(member, root,
          known ? properties[key] : schema["additionalProperties"],
          path + "." + key);
  }
}

TEST(WriteJson, AgreesWithTheSchema) {
  std::ifstream file(AUTOPAR_SOURCE_DIR
                     "/lib/Report/schema/report.schema.json");
  ASSERT_TRUE(file);
  json schema = json::parse(file);
  check(json::parse(writeJson(makeReport())), schema, schema, "");
  check(json::parse(writeJson(makePlacedReport())), schema, schema, "");
  EXPECT_EQ(schema["properties"]["schema"]["const"], "autopar.report/1");
  Runtime runtime = test::makeRuntime();
  runtime.training = test::makeTrainingFigures();
  Result<Report> trained =
      estimate(test::makeTrained(), test::makeTrainingPlan(2, 2, 2, 4),
               test::makeMachine(), runtime, test::train(16, 512));
  ASSERT_TRUE(trained);
  check(json::parse(writeJson(*trained)), schema, schema, "");
}

static ModelReport makeModelReport() {
  ModelReport model;
  model.name = "tiny";
  model.parameters = 340;
  model.parts = {{"attention", 96, 96, 192}};
  model.layers = {{"decoder", 3}};
  model.pattern = "3 decoder";
  model.kvFormats = {"bf16", "fp8"};
  model.caches = {{"decoder", "attention", 3, 128, 0, {12, 6}}};
  model.cacheSizes = {{4096, {1536, 768}}};
  model.flops = {{1024, {1, 2, 3, 4}, std::nullopt},
                 {8192, {1, 2, 3, 4}, ModelReport::Flops{1, 2, 3, 4}}};
  model.fields = {{"hidden_size", "4"}};
  model.defaults = {"head_dim = 4 (default of TinyConfig)"};
  return model;
}

TEST(WriteModelJson, AgreesWithTheSchema) {
  std::ifstream file(AUTOPAR_SOURCE_DIR "/lib/Report/schema/model.schema.json");
  ASSERT_TRUE(file);
  json schema = json::parse(file);
  check(json::parse(writeJson(makeModelReport())), schema, schema, "");
  EXPECT_EQ(schema["properties"]["schema"]["const"], "autopar.model/1");
}

TEST(WriteModelText, SaysWhatDiffers) {
  ModelReport first = makeModelReport(), second = makeModelReport();
  EXPECT_EQ(writeDifferences(first, second), "  nothing differs\n");
  second.name = "other";
  second.fields[0].second = "8";
  EXPECT_EQ(writeDifferences(first, second), "               tiny  other\n"
                                             "  hidden_size     4      8\n");
}

//===----------------------------------------------------------------------===//
// Differences
//===----------------------------------------------------------------------===//

static PlanOutcome makeOutcome() {
  PlanOutcome outcome;
  outcome.name = "a.json";
  outcome.collectives = {{"decoder", "all_reduce", "", {"tp"}, 160},
                         {"model", "all_gather", "dim 2", {"tp"}, 1}};
  outcome.tensors = {{"decoder", "q", "[_, _ by tp]", "bf16"},
                     {"decoder", "k", "[_, _ by tp]", "bf16"},
                     {"decoder", "v", "[_, _ by tp]", "bf16"},
                     {"decoder", "up", "[_, _ by tp]", "bf16"},
                     {"decoder", "kv_cache", "[batch, context]", "bf16"}};
  outcome.report = makeReport();
  return outcome;
}

/// Differs from `makeOutcome` in everything that can differ.
static PlanOutcome makeOther() {
  PlanOutcome other = makeOutcome();
  other.name = "b.json";
  other.collectives[0] = {"decoder", "reduce_scatter", "dim 1", {"tp"}, 160};
  other.collectives[1].count = 2;
  for (int i = 0; i < 4; ++i)
    other.tensors[i].layout = "[_, _ by ep]";
  other.tensors[4].format = "fp8";
  other.report.memory.perDevice.weightBytes *= 2;
  other.report.memory.perDevice.kvCacheBytes = 0;
  other.report.memory.perDevice.fits = false;
  other.report.latency.bound = "memory";
  other.report.flops.perDevice = Checked(INT64_MAX) * 1000;
  other.report.communication.collectives[0].timeUs = 275;
  other.report.warnings = {{"does not fit: 3.2 GiB too much", ""}};
  return other;
}

TEST(PlanDifferences, SaysThatNothingDiffers) {
  PlanOutcome a = makeOutcome(), b = makeOutcome();
  b.name = "b.json";
  // A warning of the same with other numbers is no difference.
  a.report.warnings = {{"lands at 2.3x its floor of 5.59 ms: 804 kernels", ""}};
  b.report.warnings = {
      {"lands at 2.4x its floor of 990.1 us: 806 kernels", ""}};
  PlanDifferences differences = compare(a, b);
  EXPECT_TRUE(differences.empty());
  EXPECT_EQ(differences.equal.tensors, 5u);
  EXPECT_NE(writeText(differences).find("\nno difference\n"),
            std::string::npos);
}

TEST(PlanDifferences, PairsWhatHasOneName) {
  PlanOutcome a = makeOutcome(), b = makeOther();
  PlanDifferences differences = compare(a, b);
  ASSERT_EQ(differences.collectives.size(), 3u);
  EXPECT_FALSE(differences.collectives[0].b);
  EXPECT_EQ(differences.collectives[1].b->count, 2);
  EXPECT_EQ(differences.collectives[2].b->kind, "reduce_scatter");
  EXPECT_EQ(differences.tensors.size(), 5u);
  EXPECT_EQ(differences.times.size(), 1u);
  ASSERT_EQ(differences.rows.size(), 5u);
  EXPECT_FALSE(differences.rows[0].ratio());
  EXPECT_EQ(*differences.rows[1].ratio(), 2);
  EXPECT_EQ(*differences.rows[2].ratio(), 0);
  EXPECT_EQ(differences.warningsOfA.size(), 1u);
  EXPECT_EQ(differences.warningsOfB.size(), 1u);
}

TEST(PlanDifferences, WritesLinesForPeople) {
  PlanOutcome a = makeOutcome(), b = makeOther();
  std::string text = writeText(compare(a, b));
  for (const char *line : {"  A  a.json: on 8 of 8 devices",
                           "  decoder/q, decoder/k, decoder/v "
                           "and 1 more: [_, _ by tp] -> [_, _ by ep]\n",
                           "  decoder/kv_cache: [batch, context] bf16 -> fp8\n",
                           "  all_gather dim 2       model    tp      1    2\n",
                           "2.00x\n", "Warnings of B alone\n  ! does not fit"})
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
}

TEST(PlanDifferences, AgreesWithTheSchema) {
  std::ifstream file(AUTOPAR_SOURCE_DIR "/lib/Report/schema/diff.schema.json");
  ASSERT_TRUE(file);
  json schema = json::parse(file);
  PlanOutcome a = makeOutcome(), b = makeOther();
  check(json::parse(writeJson(compare(a, b))), schema, schema, "");
  check(json::parse(writeJson(compare(a, a))), schema, schema, "");
  EXPECT_EQ(schema["properties"]["schema"]["const"], "autopar.diff/1");
}

//===----------------------------------------------------------------------===//
// Deployments
//===----------------------------------------------------------------------===//

static json readSchema(const std::string &name) {
  std::ifstream file(AUTOPAR_SOURCE_DIR "/lib/Report/schema/" + name +
                     ".schema.json");
  EXPECT_TRUE(file) << name;
  return json::parse(file);
}

static DeploymentReport makeDeployment() {
  DeploymentReport deployment;
  deployment.model = "Llama-3.3-70B";
  deployment.modules = {{"prefill", makeReport()}, {"decode", makeReport()}};
  LinkReport link;
  link.from = "prefill";
  link.to = "decode";
  link.contextLength = 4096;
  link.kvBytes = 1 << 30;
  link.stateBytes = 1 << 20;
  link.bytesPerSourceDevice = 1 << 28;
  link.bytesPerDestinationDevice = 1 << 29;
  link.tier = "scale_out";
  link.destinationBound = true;
  link.bandwidthBytesPerS = 4e10;
  link.latencyUs = 10;
  link.timeUs = 13431.8;
  deployment.links = {link};
  return deployment;
}

TEST(WriteDeployment, AgreesWithTheSchemas) {
  json schema = readSchema("deployment");
  json &module = schema["properties"]["modules"]["items"]["properties"];
  EXPECT_EQ(module["report"]["$ref"], readSchema("report")["$id"]);
  module["report"] = readSchema("report");
  check(json::parse(writeJson(makeDeployment())), schema, schema, "");
  EXPECT_EQ(schema["properties"]["schema"]["const"], "autopar.deployment/1");
}

TEST(WriteDeployment, EndsWithTheLinks) {
  std::string text = writeText(makeDeployment());
  EXPECT_EQ(text.find("== prefill ==\nLlama"), 0u);
  EXPECT_EQ(text.substr(text.find("== links ==")),
            "== links ==\n\n"
            "Link prefill -> decode, a request of 4,096 tokens\n"
            "  KV cache               1.00 GiB\n"
            "  states                 1.00 MiB\n"
            "  sent per device      256.00 MiB\n"
            "  received per device  512.00 MiB\n"
            "  time                    13.4 ms\n"
            "  Over scale_out of the destination: 10.0 us latency, 40 GB/s per "
            "device.\n");
  DeploymentReport alone = makeDeployment();
  alone.links.clear();
  EXPECT_EQ(writeText(alone).find("links"), std::string::npos);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static size_t widestLine(const std::string &text) {
  std::istringstream lines(text);
  size_t widest = 0;
  for (std::string line; std::getline(lines, line);)
    widest = std::max(widest, line.size());
  return widest;
}

TEST(WriteText, AnswersFirst) {
  std::string text = writeText(makeReport());
  EXPECT_LT(text.find("fits "), text.find("Memory of a device"));
  EXPECT_NE(text.find("yes: 18.37 GiB of a budget of 71.25 GiB per device"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("100.0 ms, bound by compute (100% of it)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("20,480 prompt tokens/s"), std::string::npos);
  EXPECT_NE(text.find("17,640,734,720"), std::string::npos);
  EXPECT_NE(text.find("! something to know"), std::string::npos);
  EXPECT_NE(text.find("= floor(share * capacity)"), std::string::npos);
  EXPECT_NE(text.find("plan.memory_utilization = 0.9: as given"),
            std::string::npos);
  EXPECT_NE(text.find("where chips.a.b = 7"), std::string::npos);
}

TEST(WriteText, SaysWhatTimesAndTokensMean) {
  Report report = makeReport();
  report.workload.phase = "decode";
  report.latency.memoryTimeUs = 1;
  std::string text = writeText(report);
  EXPECT_NE(text.find("20,480 output tokens/s"), std::string::npos) << text;
  EXPECT_NE(text.find("all at peak rates"), std::string::npos);
  EXPECT_NE(text.find("A kernel's time counts as compute or as memory, "
                      "whichever limits it."),
            std::string::npos);
  EXPECT_NE(text.find("<1%"), std::string::npos);
}

TEST(WriteText, SaysWhatIsEncodedAndWhatIsOnlyStored) {
  std::string plain = writeText(makeReport());
  for (const char *word : {"encod", "stored only"})
    EXPECT_EQ(plain.find(word), std::string::npos) << plain;
  Report report = makeReport();
  report.model.storedOnlyParameters = 12'345;
  report.workload.encoderTokens = 1'500;
  report.workload.crossTokens = 1'501;
  std::string text = writeText(report);
  EXPECT_NE(text.find("tokens, encoding 1,500 positions each, 1,501 encoded "
                      "positions"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("stored only, not loaded "), std::string::npos) << text;
}

TEST(WriteText, SaysByHowMuchItDoesNotFit) {
  Report report = makeReport();
  report.memory.perDevice.totalBytes =
      report.memory.perDevice.budgetBytes + (1 << 30);
  report.memory.perDevice.fits = false;
  std::string text = writeText(report);
  EXPECT_NE(text.find("NO: "), std::string::npos);
  EXPECT_NE(text.find("short by 1.00 GiB"), std::string::npos) << text;
}

TEST(WriteText, StaysWithinAHundredColumns) {
  Report report = makeReport();
  std::string longName(300, 'n');
  report.model.name = longName;
  report.machine.hardwareTitle = longName;
  report.byOp[0].name = longName;
  report.communication.collectives[0].name = longName;
  report.communication.collectives[0].bytes = INT64_MAX;
  report.communication.collectives[0].count = INT64_MAX;
  report.warnings = {{longName, ""},
                     {"many words " + longName + " more words", ""}};
  report.assumptions = {{longName, longName, longName}};
  report.derivations[longName] = {longName,
                                  {{longName, longName}},
                                  {longName},
                                  {{longName, longName}, {"b", longName}},
                                  longName};
  std::string text = writeText(report);
  EXPECT_LE(widestLine(text), 100u) << text;
}

TEST(WriteText, HasNoTrailingSpaces) {
  std::string text = writeText(makeReport());
  EXPECT_EQ(text.find(" \n"), std::string::npos) << text;
}
