//===- ExplainTest.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Estimate/Estimate.h"
#include "autopar/Write/Json.h"

#include "../Cost/Fixtures.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>

using namespace autopar;
using namespace autopar::estimation;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::runtime;
using namespace autopar::schedule;
using namespace autopar::test;
using namespace autopar::writing;
using nlohmann::json;

static Report explain(const CostProgram &program, int64_t devices,
                      const Workload &workload,
                      const Runtime &runtime = makeRuntime(),
                      const Machine &machine = makeMachine()) {
  Result<Report> report = estimate(program, makePlan(devices), machine, runtime,
                                   workload, {/*explain=*/true});
  EXPECT_TRUE(report) << report.error().str();
  return report ? *report : Report();
}

/// Whether the number at `path` is a time of whole picoseconds. Bounds are sums
/// of what was not rounded.
static bool isInPicoseconds(const std::string &path) {
  return path.rfind("latency.", 0) == 0 &&
         path.find("time_us") != std::string::npos &&
         path.find("bounds") == std::string::npos;
}

static int64_t toPicoseconds(const json &us) {
  return std::llround(us.get<double>() * 1e6);
}

/// The sum of `inputs` of `path`: exact where all are integers or whole
/// picoseconds, else in their order.
static json sumOf(const std::string &path, const json &inputs) {
  int64_t whole = 0;
  double real = 0;
  bool inPs = isInPicoseconds(path), exact = true;
  for (const auto &input : inputs) {
    exact &= input.is_number_integer();
    whole += inPs                        ? toPicoseconds(input)
             : input.is_number_integer() ? input.get<int64_t>()
                                         : 0;
    real += input.get<double>();
  }
  return inPs || exact ? json(whole) : json(real);
}

/// What that sum should be.
static json expectedSum(const std::string &path, const json &number) {
  return isInPicoseconds(path) ? json(toPicoseconds(number)) : number;
}

static json inputsOf(const Derivation &derivation) {
  json inputs = json::array();
  for (const auto &[name, value] : derivation.inputs)
    inputs.push_back(json::parse(value, nullptr, false));
  return inputs;
}

static void checkFormulas(const Report &report) {
  json root = json::parse(writeJson(report));
  int sums = 0;
  for (const auto &[path, derivation] : report.derivations) {
    json inputs = inputsOf(derivation);
    for (const json &input : inputs)
      EXPECT_TRUE(input.is_number()) << path << " " << inputs;
    json expected = numberAt(root, path);
    ASSERT_FALSE(expected.is_null()) << path << " is not in the report";
    if (derivation.formula == "sum of the inputs") {
      ++sums;
      // A sum of whole times may be the double of an integer.
      EXPECT_EQ(sumOf(path, inputs), expectedSum(path, expected))
          << path << " " << inputs;
    } else if (derivation.formula == "the input") {
      ASSERT_EQ(inputs.size(), 1u) << path;
      EXPECT_EQ(inputs[0], expected) << path;
    } else if (derivation.formula == "product of the inputs") {
      int64_t product = 1;
      for (const json &input : inputs)
        product *= input.get<int64_t>();
      EXPECT_EQ(product, expected) << path;
    } else if (derivation.formula == "largest of the inputs") {
      EXPECT_FALSE(inputs.empty()) << path;
    }
  }
  EXPECT_GE(sums, 20);
}

TEST(Explain, SumsAreExact) {
  Runtime ideal = makeRuntime();
  ideal.ideal = true;
  Decoder small{64, 3, 8, 2, 16, 128, 250};
  small.window = 20;
  for (const Runtime &runtime : {makeRuntime(), makeBusyRuntime(), ideal})
    for (const Machine &machine : {makeMachine(), makeMeasuredMachine()})
      for (int64_t devices : {1, 2, 8}) {
        checkFormulas(explain(makeDecoder(), devices, prefill(1, 2048), runtime,
                              machine));
        checkFormulas(
            explain(makeDecoder(), devices, decode(5, 4097), runtime, machine));
        checkFormulas(explain(makeDecoder(small), devices, decode(3, 50),
                              runtime, machine));
        checkFormulas(explain(makeBorderedDecoder(), devices, decode(5, 4097),
                              runtime, machine));
      }
}

TEST(Explain, HottestDevicesToo) {
  Report report = explain(makeExperts(6, 8, {5, 1, 2, 7, 1, 1}), 4,
                          prefill(3, 50), makeBusyRuntime());
  ASSERT_TRUE(report.placement);
  EXPECT_TRUE(report.derivations.count("placement.mean_imbalance"));
  int sums = 0;
  json root = json::parse(writeJson(report));
  for (const auto &[path, derivation] : report.derivations)
    if (derivation.formula == "sum of the inputs") {
      ++sums;
      EXPECT_EQ(sumOf(path, inputsOf(derivation)),
                expectedSum(path, numberAt(root, path)))
          << path;
    }
  EXPECT_GE(sums, 10);
}

/// Paths of all numbers of `value` that a derivation should explain.
static void collectNumbers(const json &value, const std::string &path,
                           std::set<std::string> &paths) {
  if (value.is_number() || value.is_boolean())
    paths.insert(path);
  for (const auto &[key, member] : value.items())
    if (value.is_object())
      collectNumbers(member, path + "." + key, paths);
    else if (value.is_array())
      collectNumbers(member, path + "[" + key + "]", paths);
}

TEST(Explain, LeavesNoNumberOut) {
  for (const Runtime &runtime : {makeRuntime(), makeBusyRuntime()}) {
    Report report = explain(makeDecoder(), 8, prefill(1, 2048), runtime);
    json root = json::parse(writeJson(report));
    std::set<std::string> paths;
    for (const char *key : {"model", "mesh", "workload", "memory", "flops",
                            "communication", "latency", "throughput"})
      collectNumbers(root[key], key, paths);
    for (const std::string &path : paths) {
      auto it = report.derivations.find(path);
      ASSERT_NE(it, report.derivations.end()) << path;
      EXPECT_FALSE(it->second.formula.empty()) << path;
    }
  }
}

/// 32 devices in 4 nodes: 24/32 of the rows leave a node, 7/32 stay inside; or
/// tokens go to each node once, of which there are 4 * (1 - 6*5 / (8*7)) where
/// a quarter of 8 experts is on each.
TEST(Explain, SaysWhichBytesLeaveANode) {
  CostProgram program = makeExperts(8, 8);
  auto read = [&] {
    return explain(program, 32, prefill(32, 512), makeRuntime(),
                   makeMachine(4));
  };
  const Report plain = read();
  const auto &rows = plain.communication.collectives.front();
  EXPECT_EQ(rows.bytes, 2 * 512 * 1024 * 2);
  EXPECT_EQ(rows.wireBytesPerDevice, rows.bytes / 32 * 31);
  using Tiers = std::vector<std::pair<std::string, int64_t>>;
  EXPECT_EQ(rows.wireBytesByTier, (Tiers{{"scale_up", rows.bytes / 32 * 7},
                                         {"scale_out", rows.bytes / 32 * 24}}));
  program.collectives.front().byNode = NodeDispatch{2, 8, 1, 1, {tp}};
  const Report once = read();
  const auto &tokens = once.communication.collectives.front();
  EXPECT_NEAR(tokens.nodesPerToken.value_or(0), 4 * (1 - 30 / 56.), 1e-12);
  EXPECT_EQ(tokens.wireBytesByTier[1].second,
            std::llround(rows.bytes * 4 * (1 - 30 / 56.) / 2 * 3 / 4));
  EXPECT_NEAR(tokens.wireBytesPerDevice,
              tokens.wireBytesByTier[0].second +
                  tokens.wireBytesByTier[1].second,
              2 + rows.bytes * 1e-6);
  EXPECT_LT(tokens.timeUs, rows.timeUs);
  for (const Report *report : {&plain, &once}) {
    std::set<std::string> paths;
    collectNumbers(json::parse(writeJson(*report))["communication"],
                   "communication", paths);
    for (const std::string &path : paths)
      EXPECT_TRUE(report->derivations.count(path)) << path;
  }
}

/// Input `name` of the derivation of `path`.
static double input(const Report &report, const std::string &path,
                    const std::string &name) {
  for (const auto &[key, value] : report.derivations.at(path).inputs)
    if (key == name)
      return std::strtod(value.c_str(), nullptr);
  ADD_FAILURE() << path << " has no input " << name;
  return 0;
}

TEST(Explain, FormulasEvaluate) {
  Report report =
      explain(makeDecoder(), 8, prefill(3, 2050), makeBusyRuntime());
  auto in = [&](const std::string &path, const std::string &name) {
    return input(report, path, name);
  };
  const auto &memory = report.memory;
  std::string path = "memory.per_device.budget_bytes";
  EXPECT_EQ(memory.perDevice.budgetBytes,
            std::floor(in(path, "runtimes.test.memory_utilization") *
                       in(path, "memory.per_device.capacity_bytes")));
  path = "memory.kv_capacity_bytes";
  EXPECT_EQ(memory.kvCapacityBytes,
            in(path, "memory.per_device.budget_bytes") -
                in(path, "memory.per_device.weight_bytes") -
                in(path, "memory.per_device.reserved_bytes") -
                in(path, "memory.per_device.runtime_bytes"));
  path = "memory.kv_capacity_tokens";
  double block = in(path, "runtimes.test.kv_block_tokens");
  double blocks = std::ceil(in(path, "workload.context_length") / block);
  EXPECT_EQ(memory.kvCapacityTokens,
            std::floor(in(path, "memory.kv_capacity_bytes") * blocks /
                       in(path, "memory.bytes_of_one_sequence")) *
                block);
  EXPECT_EQ(in(path, "memory.bytes_of_one_sequence"),
            80 * 2 * blocks * block * 128 * 2);
  path = "throughput.tokens_per_s";
  EXPECT_EQ(report.tokensPerS, in(path, "workload.batch") *
                                   in(path, "workload.query_length") /
                                   in(path, "latency.step_time_us") * 1e6);
  path = "latency.bounds.memory_time_us";
  EXPECT_EQ(report.latency.bounds.memoryTimeUs,
            in(path, "latency.bounds.weights_and_kv_read_bytes") /
                in(path, "chips.h100-sxm.memory_bandwidth") * 1e6);
}

TEST(Explain, FormulasOfCallsEvaluate) {
  Report report =
      explain(makeDecoder(), 8, prefill(3, 2050), makeBusyRuntime());
  auto in = [&](const std::string &path, const std::string &name) {
    return input(report, path, name);
  };
  std::string row = "communication.collectives[1].";
  std::string path = row + "wire_bytes_per_device";
  double n = in(path, row + "group_size");
  EXPECT_EQ(report.communication.collectives[1].wireBytesPerDevice,
            std::ceil(2 * (n - 1) / n * in(path, row + "bytes")));
  path = row + "time_us";
  std::string tier = "systems.h100-sxm-8.scale_up.";
  double time =
      in(path, tier + "latency") * std::ceil(std::log2(n)) +
      in(path, row + "wire_bytes_per_device") /
          (in(path, tier + "bandwidth") * in(path, tier + "efficiency")) * 1e6;
  EXPECT_NEAR(time / report.communication.collectives[1].timeUs, 1, 1e-9);
}

TEST(Explain, NamesRecordsAndTerms) {
  Report report = explain(makeDecoder(), 8, prefill(1, 2048));
  const Derivation &weights =
      report.derivations.at("memory.per_device.weight_bytes");
  std::pair<std::string, std::string> value("weights/layer/q_proj",
                                            "1342177280");
  std::pair<std::string, std::string> term(
      "weights/layer/q_proj", "80 x 8192 x (64 by tp(8)) x 128 x 2 B");
  EXPECT_EQ(std::count(weights.inputs.begin(), weights.inputs.end(), value), 1);
  EXPECT_EQ(std::count(weights.terms.begin(), weights.terms.end(), term), 1)
      << json(weights.terms);
  const Derivation &attention = report.derivations.at("flops.attention");
  ASSERT_EQ(attention.inputs.size(), 1u);
  EXPECT_EQ(attention.inputs[0].first, "kernels/layer/attention");
  EXPECT_EQ(attention.inputs[0].second, "5500242493440");
}

/// Terms of the kernel times of Llama-3.3-70B.
static std::string termsOf(const Runtime &runtime) {
  Report report = explain(makeDecoder(), 8, prefill(1, 2048), runtime,
                          makeMeasuredMachine());
  std::string text;
  for (const auto &[name, term] :
       report.derivations.at("latency.compute_time_us").terms)
    text += name + " " + term + "\n";
  return text;
}

TEST(Explain, SaysHowTheRoofWasTaken) {
  std::string fitted = termsOf(makeRuntime());
  EXPECT_NE(fitted.find("80 x (tc^3 + tm^3)^(1/3) x 1.36 (shape), tc = "),
            std::string::npos)
      << fitted;
  Runtime runtime = makeRuntime();
  runtime.ideal = true;
  std::string ideal = termsOf(runtime);
  EXPECT_NE(ideal.find("80 x max(tc, tm), tc = "), std::string::npos) << ideal;
  EXPECT_EQ(ideal.find("tc^"), std::string::npos) << ideal;
}

/// A time is read off the scaled points of a curve, and says so.
TEST(Explain, ScaledCurvesAreNamed) {
  Machine machine = makeMeasuredMachine();
  Tier &tier = machine.pools[0].tiers[0];
  CollectiveCurve &curve = tier.curves[CollectiveKind::all_reduce][8];
  curve.measuredUs = curve.timeUs;
  curve.timeUs = {10, 18, 33};
  tier.latency.source = {"user", "--set latency", 5.0};
  Report report =
      explain(makeDecoder(), 8, prefill(1, 128), makeRuntime(), machine);
  const Derivation &call =
      report.derivations.at("communication.collectives[0].time_us");
  EXPECT_EQ(call.inputs[2].second, "18");
  EXPECT_EQ(call.terms[0].second, "at 2097152 B, scaled from 20.1 us");
  EXPECT_EQ(call.terms[1].first, tier.latency.path);
  EXPECT_EQ(call.note.rfind("measured on another link", 0), 0u) << call.note;
  auto names = [&](const Assumption &assumption) {
    return assumption.name == tier.latency.path;
  };
  EXPECT_TRUE(
      std::any_of(report.assumptions.begin(), report.assumptions.end(), names));
}

/// The derivation of an all-reduce of 8192 x 2 B x `tokens` over `devices`.
static Derivation callOf(int64_t devices, int64_t tokens,
                         const std::vector<int64_t> &measured) {
  Machine machine = makeMeasuredMachine();
  auto &curves = machine.pools[0].tiers[0].curves[CollectiveKind::all_reduce];
  CollectiveCurve curve = curves[8];
  curves.clear();
  for (int64_t size : measured)
    curves[size] = curve;
  Report report = explain(makeDecoder(), devices, prefill(1, tokens),
                          makeRuntime(), machine);
  return report.derivations.at("communication.collectives[0].time_us");
}

// The curve has points at 1, 2 and 4 MiB: 64, 128 and 256 tokens.
TEST(Explain, TellsInterpolationFromExtrapolation) {
  Derivation call = callOf(8, 100, {8});
  EXPECT_EQ(call.note, "interpolated: log-log between points of the curve");
  ASSERT_EQ(call.inputs.size(), 4u);
  EXPECT_EQ(call.inputs[2].first,
            "systems.h100-sxm-8.scale_up.collectives.all_reduce.8.time_us[0]");
  EXPECT_EQ(call.inputs[2].second, "12.5");
  EXPECT_EQ(call.inputs[3].second, "20.1");
  EXPECT_EQ(callOf(8, 128, {8}).note, "");
  for (int64_t tokens : {1, 257})
    EXPECT_EQ(callOf(8, tokens, {8}).note.rfind("extrapolated: ", 0), 0u);
  EXPECT_EQ(callOf(8, 128, {2, 4}).note,
            "extrapolated from 4 to 8 devices: in proportion to the bytes on "
            "the wire");
  EXPECT_EQ(callOf(2, 128, {4, 8}).note.rfind("extrapolated from 4 to 2", 0),
            0u);
  EXPECT_EQ(callOf(4, 128, {2, 8}).note,
            "interpolated between 2 and 8 devices: log-log in their number");
}
