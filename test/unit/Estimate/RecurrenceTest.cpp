//===- RecurrenceTest.cpp - States and scans ------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Estimate/Estimate.h"

#include "../Cost/Fixtures.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::estimation;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::test;

/// Ten state spaces of 128 heads, 64 wide, with 128 f32 states each.
static CostProgram makeScans() {
  CostProgram program;
  program.model = "scans";
  program.symbols = {"batch", "query", "context"};
  program.axes = {"tp"};
  program.layers = {{"model", 1}, {"layer", 10}};
  Resident state;
  state.name = "state";
  state.kind = Resident::Kind::state;
  state.layer = 1;
  state.count = 10;
  state.shape = {symbol(batch), split(128), number(64), number(128)};
  state.type = ElementType::f32;
  Kernel &scan = program.kernels.emplace_back();
  scan.name = "layer/ssm";
  scan.op = "state_space";
  scan.layer = 1;
  scan.count = 10;
  scan.kind = KernelKind::scan;
  scan.flopClass = FlopClass::recurrence;
  scan.compute = ElementType::f32;
  scan.flopFactor = 5;
  scan.rows = {symbol(batch), symbol(query)};
  scan.columns = {split(128), number(64)};
  scan.contraction = {number(128)};
  for (bool write : {false, true}) {
    Traffic &moved = scan.traffic.emplace_back();
    moved.role = Traffic::Role::state;
    moved.write = write;
    moved.shape = state.shape;
    moved.type = state.type;
  }
  program.residents.push_back(std::move(state));
  return program;
}

static Report price(const Workload &workload, int64_t tpSize,
                    const Machine &machine) {
  Result<Report> report = estimate(makeScans(), makePlan(tpSize), machine,
                                   makeRuntime(), workload, {/*explain=*/true});
  EXPECT_TRUE(report) << report.error().str();
  return report ? *report : Report();
}

constexpr int64_t perSequence = 10 * 128 * 64 * 128 * 4;

TEST(Recurrence, StatesDoNotGrowWithTokens) {
  for (int64_t tokens : {1, 4096}) {
    Report report = price(prefill(3, tokens), 2, makeMachine());
    EXPECT_EQ(report.memory.stateBytesPerSequence, perSequence);
    EXPECT_EQ(report.memory.perDevice.stateBytes, 3 * perSequence / 2);
    EXPECT_EQ(report.memory.perDevice.totalBytes, 3 * perSequence / 2);
    EXPECT_EQ(report.memory.kvBytesPerToken, 0);
    EXPECT_EQ(report.flops.recurrence, 3 * tokens * 10 * 5 * 128 * 64 * 128);
    EXPECT_EQ(report.flops.total, report.flops.recurrence);
    EXPECT_EQ(report.flops.perDevice, floorDiv(report.flops.total, 2));
    EXPECT_EQ(report.latency.bounds.weightsAndKvReadBytes, 3 * perSequence / 2);
  }
}

TEST(Recurrence, CapacityCountsStates) {
  Report report = price(decode(3, 64), 1, makeMachine());
  EXPECT_EQ(report.memory.kvCapacityTokens,
            report.memory.kvCapacityBytes * 64 / perSequence / 16 * 16);
}

TEST(Recurrence, MoreDevicesNeverHoldMore) {
  int64_t before = INT64_MAX;
  for (int64_t tpSize : {1, 2, 4, 8}) {
    int64_t bytes =
        price(decode(3, 64), tpSize, makeMachine()).memory.perDevice.totalBytes;
    EXPECT_LE(bytes, before);
    before = bytes;
  }
}

static std::string scansAssumption(const Report &report) {
  for (const Assumption &assumption : report.assumptions)
    if (assumption.name == "scans")
      return assumption.value;
  return "";
}

TEST(Recurrence, ScansRunOnVectorUnits) {
  Machine machine = makeMachine();
  Report traffic = price(prefill(1, 4096), 1, machine);
  double streamed = 2 * perSequence / 3.35e12 * 1e6;
  EXPECT_NEAR(traffic.latency.memoryTimeUs, streamed, 1e-6);
  EXPECT_EQ(traffic.latency.computeTimeUs, 0);
  EXPECT_NE(scansAssumption(traffic).find("by their traffic alone"),
            std::string::npos);
  Figure &peak = machine.pools.front().chip.peakFlops["fp32"];
  peak.value = 67e12;
  peak.path = "chips.h100-sxm.peak_flops.fp32";
  Report both = price(prefill(1, 4096), 1, machine);
  // Ten launches, each rounded to a picosecond.
  EXPECT_NEAR(both.latency.computeTimeUs, both.flops.total.real() / 67e12 * 1e6,
              10 * 0.5e-6);
  EXPECT_EQ(both.latency.memoryTimeUs, 0);
  EXPECT_NE(scansAssumption(both).find(peak.path), std::string::npos);
}

TEST(Recurrence, ExplainsStates) {
  Report report = price(decode(3, 64), 2, makeMachine());
  const Derivation &bytes =
      report.derivations.at("memory.per_device.state_bytes");
  ASSERT_EQ(bytes.inputs.size(), 1u);
  EXPECT_EQ(bytes.inputs[0].first, "states/layer/state");
  EXPECT_EQ(bytes.inputs[0].second, std::to_string(3 * perSequence / 2));
  EXPECT_EQ(bytes.terms[0].second, "10 x 3 x (128 by tp(2)) x 64 x 128 x 4 B");
  const Derivation &each =
      report.derivations.at("memory.state_bytes_per_sequence");
  EXPECT_EQ(each.inputs[0].second, std::to_string(perSequence));
}
