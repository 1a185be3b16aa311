//===- EncoderTest.cpp - Encoders, caches of several kinds ----------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Estimate/Estimate.h"

#include "../Cost/Fixtures.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace autopar;
using namespace autopar::estimation;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::runtime;
using namespace autopar::test;

static constexpr SymbolId source = 3, memory = 4;

/// A small decoder, of which `symbols` has the symbols of an encoder too.
static CostProgram makeProgram() {
  CostProgram program = makeDecoder({64, 2, 4, 2, 16, 128, 256});
  program.symbols = {"batch", "query", "context", "encoder_tokens",
                     "cross_tokens"};
  program.layers.push_back({"encoder", 1});
  return program;
}

static Dims patches(int64_t width) {
  return {symbol(batch), symbol(source), number(width)};
}

/// A product of the encoder, with its weight.
static void addProduct(CostProgram &program, uint32_t group) {
  Resident weight;
  weight.name = "patches";
  weight.layer = 2;
  weight.shape = {number(64), split(128)};
  program.residents.push_back(weight);
  Traffic read, written;
  read.role = Traffic::Role::weight;
  read.shape = weight.shape;
  written.write = true;
  written.shape = patches(128);
  Kernel kernel;
  kernel.name = "encoder/patches#" + std::to_string(group);
  kernel.op = "patches";
  kernel.layer = 2;
  kernel.kind = KernelKind::matmul;
  kernel.flopClass = FlopClass::linear;
  kernel.flopFactor = 2;
  kernel.rows = {symbol(batch), symbol(source)};
  kernel.columns = {split(128)};
  kernel.contraction = {number(64)};
  kernel.traffic = {read, written};
  kernel.fusionGroup = group;
  program.kernels.push_back(kernel);
}

static CostProgram makeEncoder() {
  CostProgram program = makeProgram();
  addProduct(program, 1000);
  program.collectives.push_back({"encoder/all_reduce",
                                 CollectiveKind::all_reduce,
                                 2,
                                 1,
                                 {tp},
                                 patches(64),
                                 ElementType::bf16});
  return program;
}

static Report price(const CostProgram &program, const Workload &workload,
                    const Runtime &runtime = makeRuntime()) {
  Result<Report> report = estimate(program, makePlan(2), makeMachine(), runtime,
                                   workload, {/*explain=*/true});
  EXPECT_TRUE(report) << report.error().str();
  return report ? *report : Report();
}

static Workload withSource(Workload workload, int64_t length) {
  workload.encoderTokens = length;
  return workload;
}

static bool assumes(const Report &report, const char *name) {
  return std::any_of(
      report.assumptions.begin(), report.assumptions.end(),
      [&](const Assumption &assumption) { return assumption.name == name; });
}

//===----------------------------------------------------------------------===//
// No work
//===----------------------------------------------------------------------===//

TEST(Encoder, CostsNothingWithoutInput) {
  Runtime runtime = makeRuntime();
  runtime.kernelFloorUs.value = 2;
  for (bool ideal : {false, true}) {
    runtime.ideal = ideal;
    Report bare = price(makeProgram(), decode(3, 50), runtime);
    Report idle = price(makeEncoder(), decode(3, 50), runtime);
    EXPECT_EQ(idle.latency.stepTimeUs, bare.latency.stepTimeUs);
    EXPECT_EQ(idle.latency.kernelLaunches, bare.latency.kernelLaunches);
    EXPECT_EQ(idle.latency.bounds.weightsAndKvReadBytes,
              bare.latency.bounds.weightsAndKvReadBytes);
    EXPECT_EQ(idle.communication.bytesPerDevice,
              bare.communication.bytesPerDevice);
    EXPECT_EQ(idle.communication.collectives.size(),
              bare.communication.collectives.size());
    EXPECT_EQ(idle.flops.total, bare.flops.total);
    EXPECT_EQ(idle.byOp.size(), bare.byOp.size());
    // Its weights are there all the same.
    EXPECT_EQ(idle.memory.perDevice.weightBytes,
              bare.memory.perDevice.weightBytes + 64 * 128);
    EXPECT_TRUE(assumes(idle, "images or other encoder input"));
  }
}

TEST(Encoder, CostsItsPositions) {
  Runtime runtime = makeRuntime();
  runtime.kernelFloorUs.value = 2;
  Report bare = price(makeProgram(), prefill(3, 50), runtime);
  Report busy = price(makeEncoder(), withSource(prefill(3, 50), 7), runtime);
  EXPECT_EQ(busy.flops.total, bare.flops.total + 2 * 3 * 7 * 64 * 128);
  EXPECT_EQ(busy.latency.kernelLaunches, bare.latency.kernelLaunches + 1);
  EXPECT_EQ(busy.communication.collectives.size(),
            bare.communication.collectives.size() + 1);
  EXPECT_EQ(busy.workload.encoderTokens, 7);
  EXPECT_FALSE(assumes(busy, "images or other encoder input"));
}

// A launch that merges kernels has those that work; and so has its derivation.
TEST(Encoder, MergesWhatWorks) {
  CostProgram program = makeProgram();
  addProduct(program, 1000);
  addProduct(program, 1000);
  program.kernels.back().rows = {symbol(batch), symbol(query)};
  program.kernels.back().traffic[1].shape = {symbol(batch), symbol(query),
                                             number(128)};
  Runtime runtime = makeRuntime();
  runtime.mergesSharedInput = true;
  Report report = price(program, decode(3, 50), runtime);
  for (const auto &[path, derivation] : report.derivations)
    for (const auto &[name, value] : derivation.inputs)
      EXPECT_NE(name, "kernels/encoder/patches#1000#1") << path;
  const Derivation &launches = report.derivations.at("latency.kernel_launches");
  for (const auto &[name, term] : launches.terms)
    if (name.rfind("kernels/encoder", 0) == 0)
      EXPECT_EQ(term, "") << name;
}

// With all collectives idle, the runtime still holds their buffers.
TEST(Encoder, KeepsBuffersOfIdleCollectives) {
  CostProgram program = makeEncoder();
  program.collectives.erase(program.collectives.begin(),
                            program.collectives.end() - 1);
  Runtime runtime = makeRuntime();
  runtime.communicationBytes.value = 1000;
  Report report = price(program, decode(3, 50), runtime);
  EXPECT_EQ(report.communication.collectives.size(), 0u);
  EXPECT_EQ(report.memory.perDevice.runtimeBytes, 1000);
  const Derivation &bytes =
      report.derivations.at("memory.per_device.runtime_bytes");
  EXPECT_EQ(bytes.inputs.back().second, "1000");
}

TEST(Encoder, RefusesNegativeLengths) {
  Workload bad = decode(1, 8);
  bad.crossTokens = -1;
  Result<Report> report =
      estimate(makeProgram(), makePlan(1), makeMachine(), makeRuntime(), bad);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message,
            "cross_tokens of the workload is -1, expected 0 to 1099511627776");
}

//===----------------------------------------------------------------------===//
// Caches of several kinds
//===----------------------------------------------------------------------===//

static void addCache(CostProgram &program, int64_t count, Dims shape,
                     int32_t pagedDim) {
  program.residents.push_back({"cache", Resident::Kind::kv_cache, 1, count,
                               std::move(shape), ElementType::bf16, 0,
                               pagedDim});
}

TEST(KvCache, GrowsByKind) {
  CostProgram program = makeProgram();
  program.residents.clear();
  Dim window = symbol(context);
  window.extent.limit = 32;
  Dim heads = split(2, SplitRule::cap);
  // 2 layers that see all, 3 with a window, 4 latent ones, 5 of cross
  // attention.
  addCache(program, 2, {symbol(batch), symbol(context), heads, number(16)}, 1);
  addCache(program, 3, {symbol(batch), window, heads, number(16)}, 1);
  addCache(program, 4, {symbol(batch), symbol(context), number(20)}, 1);
  addCache(program, 5, {symbol(batch), symbol(memory), heads, number(16)}, 1);
  Workload workload = decode(3, 50);
  workload.crossTokens = 7;
  Report report = price(program, workload);
  EXPECT_EQ(report.memory.kvBytesPerToken, 2 * (2 * 32 + 3 * 32 + 4 * 20));
  EXPECT_EQ(report.memory.kvBytesPerTokenPerDevice,
            2 * (2 * 16 + 3 * 16 + 4 * 20));
  EXPECT_EQ(report.memory.kvBytesPerSequence,
            2 * (2 * 50 * 32 + 3 * 32 * 32 + 4 * 50 * 20 + 5 * 7 * 32));
  EXPECT_EQ(report.workload.crossTokens, 7);
  // Below the window a token adds what it adds.
  workload.context = 20;
  int64_t before = price(program, workload).memory.kvBytesPerSequence;
  workload.context = 21;
  EXPECT_EQ(price(program, workload).memory.kvBytesPerSequence - before,
            report.memory.kvBytesPerToken);
}

// Where a dimension is a multiple of the context, so is a token.
TEST(KvCache, CountsMultiplesOfTheContext) {
  CostProgram program = makeProgram();
  program.residents.clear();
  addCache(program, 1, {symbol(batch), symbol(context, 2), number(16)}, -1);
  EXPECT_EQ(price(program, decode(3, 50)).memory.kvBytesPerToken, 2 * 2 * 16);
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

TEST(Weights, ThatAreOnlyStoredAreNotLoaded) {
  CostProgram program = makeProgram();
  Report bare = price(program, decode(1, 8));
  EXPECT_EQ(bare.model.storedOnlyParameters, 0);
  EXPECT_EQ(bare.derivations.count("model.stored_only_parameters"), 0u);
  Resident weight;
  weight.name = "mtp.head";
  weight.layer = 2;
  weight.count = 3;
  weight.shape = {number(8), number(64)};
  weight.topK = 2;
  weight.stored = true;
  program.residents.push_back(weight);
  Report report = price(program, decode(1, 8));
  EXPECT_EQ(report.model.storedOnlyParameters, 3 * 8 * 64);
  EXPECT_EQ(report.model.checkpointBytes,
            bare.model.checkpointBytes + 2 * 3 * 8 * 64);
  EXPECT_EQ(report.model.parameters, bare.model.parameters);
  EXPECT_EQ(report.model.activeParameters, bare.model.activeParameters);
  EXPECT_EQ(report.memory.perDevice.totalBytes,
            bare.memory.perDevice.totalBytes);
}

// A bias of experts, [experts, out], is active as their matrices are.
TEST(Weights, OfExpertsAreActiveByTheirShare) {
  CostProgram program = makeProgram();
  Report bare = price(program, decode(1, 8));
  Resident weight;
  weight.layer = 1;
  weight.count = 2;
  weight.topK = 2;
  weight.name = "experts.*.up_proj.weight";
  weight.shape = {number(8), number(64), split(128)};
  program.residents.push_back(weight);
  weight.name = "experts.*.up_proj.bias";
  weight.shape = {number(8), split(128)};
  program.residents.push_back(weight);
  Report report = price(program, decode(1, 8));
  EXPECT_EQ(report.model.parameters - bare.model.parameters,
            2 * 8 * (64 * 128 + 128));
  EXPECT_EQ(report.model.activeParameters - bare.model.activeParameters,
            2 * 2 * (64 * 128 + 128));
}
