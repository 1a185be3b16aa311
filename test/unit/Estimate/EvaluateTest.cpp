//===- EvaluateTest.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Estimate/Estimate.h"

#include "../Cost/Fixtures.h"

#include "autopar/Schedule/Time.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::estimation;
using namespace autopar::hardware;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::runtime;
using namespace autopar::schedule;
using namespace autopar::test;

static Report price(const CostProgram &program, const Plan &plan,
                    const Workload &workload,
                    const Runtime &runtime = makeRuntime(),
                    const Machine &machine = makeMachine()) {
  Result<Report> report =
      estimate(program, plan, machine, runtime, workload, {/*explain=*/true});
  EXPECT_TRUE(report) << report.error().str();
  return report ? *report : Report();
}

static Error refused(const CostProgram &program, const Plan &plan,
                     const Workload &workload,
                     const Machine &machine = makeMachine()) {
  Result<Report> report =
      estimate(program, plan, machine, makeRuntime(), workload);
  EXPECT_FALSE(report);
  return report.error();
}

// The identities of Llama-3.3-70B over 8 devices, from its config by hand.
TEST(Evaluate, CountsLlama70B) {
  Report report = price(makeDecoder(), makePlan(8), prefill(1, 2048));
  EXPECT_EQ(report.model.parameters, 70'553'706'496);
  EXPECT_EQ(report.model.activeParameters, 70'553'706'496);
  EXPECT_EQ(report.model.checkpointBytes, 141'107'412'992);
  const auto &device = report.memory.perDevice;
  EXPECT_EQ(device.weightBytes, 17'640'734'720);
  EXPECT_EQ(device.kvCacheBytes, 83'886'080);
  EXPECT_EQ(device.runtimeBytes, 0);
  // x and two of the halves of the MLP, at launch 6.
  EXPECT_EQ(device.activationBytes, 2048 * (8192 + 2 * 28672 / 8) * 2);
  EXPECT_EQ(device.totalBytes,
            device.weightBytes + device.kvCacheBytes + device.activationBytes);
  EXPECT_EQ(report.memory.kvBytesPerToken, 327'680);
  EXPECT_EQ(report.memory.kvBytesPerTokenPerDevice, 327'680 / 8);
  EXPECT_EQ(report.flops.layersLinear, 280'375'465'082'880);
  EXPECT_EQ(report.flops.attention, 5'500'242'493'440);
  EXPECT_EQ(report.flops.attentionFullSquare, 10'995'116'277'760);
  EXPECT_EQ(report.flops.logits, 2 * int64_t(8192) * 128256);
  EXPECT_EQ(report.flops.total, report.flops.layersLinear +
                                    report.flops.attention +
                                    report.flops.logits);
  EXPECT_EQ(report.flops.perDevice, floorDiv(report.flops.total, 8));
}

/// 2,048 tokens profiled, four sampled from: 14 bytes a score of 128,256 and
/// two copies of the hidden states are more than the activations of a step that
/// decodes, and less than those of the run itself.
TEST(Evaluate, KeepsRoomForTheProfilingRun) {
  Runtime runtime = makeRuntime();
  auto kept = [&](const Workload &workload) {
    Result<Report> report =
        estimate(makeDecoder(), makePlan(8), makeMachine(), runtime, workload);
    EXPECT_TRUE(report) << report.error().str();
    const auto &device = report->memory.perDevice;
    EXPECT_EQ(device.totalBytes,
              device.weightBytes + device.kvCacheBytes + device.reservedBytes);
    return device.reservedBytes;
  };
  runtime.profileSequences.value = 4;
  runtime.samplerBytesPerLogit.value = 14;
  EXPECT_EQ(kept(decode(1, 2048)), 4 * 14 * 128256);
  runtime.profileTokens.value = 2048;
  EXPECT_EQ(kept(decode(1, 2048)), 2048 * (8192 + 2 * 28672 / 8) * 2);
  runtime.profileSequences.value = 64;
  runtime.profileHiddenStates.value = 2;
  EXPECT_EQ(kept(decode(1, 2048)), 64 * 14 * 128256 + 2 * 2048 * 8192 * 2);
}

/// By rule: 1,000 bytes, 3.5 for each of 100 tokens, 10 for each of 8 peers; no
/// less than the least. A given share leaves the rest.
TEST(Evaluate, KeepsAReserveByRule) {
  Runtime runtime = makeRuntime();
  runtime.budgetRule = BudgetRule::reserve;
  runtime.reserveBytes.value = 1e9;
  runtime.reserveBytesPerToken.value = 3.5e6;
  runtime.tokenBudget.value = 100;
  runtime.reserveBytesPerPeer.value = 1e7;
  Plan plan = makePlan(8);
  auto read = [&] {
    Result<Report> report =
        estimate(makeDecoder(), plan, makeMachine(), runtime, decode(1, 2048));
    EXPECT_TRUE(report) << report.error().str();
    const auto &memory = report->memory;
    EXPECT_EQ(memory.perDevice.budgetBytes, memory.perDevice.capacityBytes);
    EXPECT_EQ(memory.kvCapacityBytes, memory.perDevice.budgetBytes -
                                          memory.perDevice.weightBytes -
                                          memory.perDevice.reservedBytes);
    return memory.perDevice.reservedBytes;
  };
  EXPECT_EQ(read(), 1'000'000'000 + 350'000'000 + 80'000'000);
  runtime.reserveLeast.value = 2e9;
  EXPECT_EQ(read(), 2'000'000'000);
  plan.memoryUtilization = 0.9;
  double usable = makeMachine().pools.front().chip.memoryUsable.value;
  EXPECT_EQ(read(), int64_t(usable) - int64_t(0.9 * usable));
}

TEST(Evaluate, CountsCollectivesOfLlama70B) {
  Report report = price(makeDecoder(), makePlan(8), prefill(1, 2048));
  const auto &rows = report.communication.collectives;
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].count, 1);
  EXPECT_EQ(rows[0].name, "model/embedding.all_reduce");
  EXPECT_EQ(rows[1].count, 160);
  for (size_t i : {0, 1}) {
    EXPECT_EQ(rows[i].kind, "all_reduce");
    EXPECT_EQ(rows[i].bytes, 33'554'432);
    EXPECT_EQ(rows[i].wireBytesPerDevice, 33'554'432 * 2 / 8 * 7);
  }
  EXPECT_EQ(rows[2].kind, "all_gather");
  EXPECT_EQ(rows[2].bytes, 128256 * 2);
  EXPECT_EQ(rows[2].wireBytesPerDevice, 128256 * 2 / 8 * 7);
  EXPECT_EQ(report.communication.bytesPerDevice,
            161 * (int64_t(33'554'432) * 2 / 8 * 7) + 128256 * 2 / 8 * 7);
}

TEST(Evaluate, FindsTheMemoryFloorOfDecode) {
  Report report = price(makeDecoder(), makePlan(8), decode(1, 2048));
  const auto &bounds = report.latency.bounds;
  EXPECT_EQ(bounds.weightsAndKvReadBytes, 17'378'066'432 + 83'886'080);
  EXPECT_NEAR(bounds.memoryTimeUs, 5212.5, 0.05);
  EXPECT_GT(report.latency.stepTimeUs, bounds.memoryTimeUs);
  EXPECT_NEAR(report.tokensPerS, 1e6 / report.latency.stepTimeUs, 1e-9);
  ASSERT_FALSE(report.warnings.empty());
  EXPECT_EQ(report.warnings[0].text.rfind("decode takes ", 0), 0u);
}

TEST(Evaluate, LeavesOutGroupsOfOne) {
  Report report = price(makeDecoder({64, 2, 4, 2, 16, 128, 256}), makePlan(1),
                        prefill(1, 16));
  EXPECT_TRUE(report.communication.collectives.empty());
  EXPECT_EQ(report.communication.bytesPerDevice, 0);
  EXPECT_EQ(report.flops.perDevice, report.flops.total);
}

TEST(Evaluate, ReplicatesKvHeadsOverTheCap) {
  Decoder sizes{64, 2, 8, 2, 16, 128, 256};
  Report two = price(makeDecoder(sizes), makePlan(2), prefill(1, 16));
  Report eight = price(makeDecoder(sizes), makePlan(8), prefill(1, 16));
  EXPECT_EQ(two.memory.perDevice.kvCacheBytes,
            eight.memory.perDevice.kvCacheBytes);
  EXPECT_EQ(two.memory.kvBytesPerToken, 2 * 2 * 2 * 16 * 2);
  EXPECT_EQ(eight.memory.kvBytesPerToken, two.memory.kvBytesPerToken);
  EXPECT_EQ(eight.memory.kvBytesPerTokenPerDevice, 2 * 2 * 16 * 2);
  ASSERT_FALSE(eight.warnings.empty());
  EXPECT_EQ(eight.warnings[0].text,
            "the KV cache is stored 4 times over tp = 8: 1.50 KiB per device "
            "are copies; --shard-dcp=4 (by tokens) or --shard-attention-tp=2 "
            "(by sequences) stores it once");
}

TEST(Evaluate, RoundsCachesUpToBlocks) {
  Decoder sizes{64, 3, 4, 2, 16, 128, 256};
  int64_t perToken = 3 * 2 * 2 * 16 * 2;
  Report report = price(makeDecoder(sizes), makePlan(1), decode(5, 17));
  EXPECT_EQ(report.memory.perDevice.kvCacheBytes, perToken * 5 * 32);
  sizes.window = 20;
  report = price(makeDecoder(sizes), makePlan(1), decode(5, 1000));
  EXPECT_EQ(report.memory.perDevice.kvCacheBytes, perToken * 5 * 32);
  EXPECT_EQ(report.memory.kvBytesPerToken, perToken);
}

TEST(Evaluate, CountsKvCapacityInWholeBlocks) {
  Decoder sizes{64, 3, 4, 2, 16, 128, 256};
  int64_t perToken = 3 * 2 * 2 * 16 * 2;
  Runtime runtime = makeRuntime();
  Report report =
      price(makeDecoder(sizes), makePlan(1), decode(2, 64), runtime);
  const auto &memory = report.memory;
  EXPECT_EQ(memory.perDevice.budgetBytes, int64_t(80e9));
  EXPECT_EQ(memory.kvCapacityBytes, memory.perDevice.budgetBytes -
                                        memory.perDevice.weightBytes -
                                        memory.perDevice.activationBytes);
  EXPECT_EQ(memory.kvCapacityTokens,
            memory.kvCapacityBytes / perToken / 16 * 16);
  // A window holds 32 of the 1024 tokens: 32 times as many fit.
  sizes.window = 32;
  report = price(makeDecoder(sizes), makePlan(1), decode(2, 1024), runtime);
  EXPECT_EQ(report.memory.kvCapacityTokens,
            report.memory.kvCapacityBytes * 32 / perToken / 16 * 16);
}

TEST(Evaluate, SaysWhatDoesNotFit) {
  Report report = price(makeDecoder(), makePlan(1), prefill(1, 2048));
  EXPECT_FALSE(report.memory.perDevice.fits);
  EXPECT_EQ(report.memory.kvCapacityBytes, 0);
  EXPECT_EQ(report.memory.kvCapacityTokens, 0);
  ASSERT_FALSE(report.warnings.empty());
  EXPECT_EQ(report.warnings[0].text.rfind("does not fit: needs ", 0), 0u);
}

TEST(Evaluate, TakesTheBudgetFromThePlan) {
  Plan plan = makePlan(8);
  plan.memoryUtilization = 0.2;
  Report report = price(makeDecoder(), plan, prefill(1, 2048));
  EXPECT_EQ(report.memory.perDevice.budgetBytes, 16'000'000'000);
  EXPECT_FALSE(report.memory.perDevice.fits);
  Runtime runtime = makeRuntime();
  runtime.memoryUtilization.value = 0.9;
  report = price(makeDecoder(), makePlan(8), prefill(1, 2048), runtime);
  EXPECT_EQ(report.memory.perDevice.budgetBytes, 72'000'000'000);
  EXPECT_TRUE(report.memory.perDevice.fits);
}

TEST(Evaluate, AddsTheRuntimesMemory) {
  Runtime runtime = makeRuntime();
  runtime.contextBytes.value = 1;
  runtime.libraryBytes.value = 20;
  runtime.graphBytes.value = 300;
  runtime.communicationBytes.value = 4000;
  Decoder sizes{64, 2, 4, 2, 16, 128, 256};
  Report one = price(makeDecoder(sizes), makePlan(1), decode(1, 8), runtime);
  Report two = price(makeDecoder(sizes), makePlan(2), decode(1, 8), runtime);
  EXPECT_EQ(one.memory.perDevice.runtimeBytes, 321);
  EXPECT_EQ(two.memory.perDevice.runtimeBytes, 4321);
}

TEST(Evaluate, TimesAddUp) {
  Runtime runtime = makeRuntime();
  runtime.hostTimeUs.value = 250;
  runtime.kernelFloorUs.value = 1.5;
  for (bool merges : {false, true}) {
    runtime.mergesSharedInput = merges;
    for (const Workload &workload : {prefill(1, 2048), decode(8, 4096)}) {
      Report report = price(makeDecoder(), makePlan(4), workload, runtime);
      const auto &latency = report.latency;
      auto ps = [](double us) { return *toPicoseconds(us); };
      EXPECT_EQ(ps(latency.stepTimeUs), ps(latency.computeTimeUs) +
                                            ps(latency.memoryTimeUs) +
                                            ps(latency.communicationTimeUs) +
                                            ps(latency.overheadTimeUs));
      EXPECT_EQ(latency.kernelLaunches, merges ? 80 * 7 + 3 : 80 * 10 + 3);
      EXPECT_NEAR(latency.overheadTimeUs,
                  250 + 1.5 * static_cast<double>(latency.kernelLaunches),
                  1e-6);
      double ops = 0, layers = 0;
      for (const BreakdownRow &row : report.byOp)
        ops += row.timeUs;
      for (const BreakdownRow &row : report.byLayer)
        layers += row.timeUs;
      EXPECT_NEAR(ops / latency.stepTimeUs, 1, 1e-12);
      EXPECT_NEAR(layers / latency.stepTimeUs, 1, 1e-12);
    }
  }
}

TEST(Evaluate, UsesTheLargerFloor) {
  Machine machine = makeMachine();
  KernelCurve curve;
  curve.floorUs = 4;
  curve.exponent = 4;
  curve.source = {"derived", "test"};
  curve.path = "chips.h100-sxm.kernels.matmul.bf16";
  machine.pools[0].chip.kernels[KernelKind::matmul]["bf16"] = curve;
  Runtime runtime = makeRuntime();
  runtime.kernelFloorUs.value = 2;
  Report report =
      price(makeDecoder(), makePlan(8), decode(1, 2048), runtime, machine);
  EXPECT_NEAR(report.latency.overheadTimeUs,
              4 * (80 * 7 + 1) + 2 * (80 * 3 + 2), 1e-6);
  runtime.ideal = true;
  runtime.kernelFloorUs.value = 0;
  report = price(makeDecoder(), makePlan(8), decode(1, 2048), runtime, machine);
  EXPECT_EQ(report.latency.overheadTimeUs, 0);
  // Each call is rounded to a picosecond.
  EXPECT_NEAR(report.latency.communicationTimeUs,
              report.latency.bounds.communicationTimeUs, 162 * 0.5e-6);
}

TEST(Evaluate, RefusesAxesWithoutSize) {
  Error error = refused(makeDecoder(), Plan(), prefill(1, 16));
  EXPECT_EQ(error.message, "axis 'tp' of the mesh has no size");
  EXPECT_EQ(error.note, "give --mesh=tp=8 or --shard-tp=8");
  Plan open;
  open.setAxis("tp", std::nullopt);
  EXPECT_EQ(refused(makeDecoder(), open, prefill(1, 16)).message,
            error.message);
}

TEST(Evaluate, RefusesMoreDevicesThanThereAre) {
  Error error = refused(makeDecoder(), makePlan(16), prefill(1, 16));
  EXPECT_EQ(error.message,
            "plan needs 16 devices but h100-sxm-8 with 1 node has 8");
  EXPECT_EQ(error.note, "give --nodes=2 or a larger --hardware");
}

TEST(Evaluate, RefusesSplitsThatDoNotDivide) {
  Decoder sizes{64, 2, 28, 4, 16, 140, 256};
  Error error = refused(makeDecoder(sizes), makePlan(8), prefill(1, 16));
  EXPECT_EQ(error.message, "weight 'q_proj': 28 does not divide by tp = 8");
  EXPECT_EQ(error.note, "sizes that work: 1, 2, 4, 7, 14, 28");
  sizes = {64, 2, 12, 4, 16, 144, 256};
  error = refused(makeDecoder(sizes), makePlan(6), prefill(1, 16));
  EXPECT_EQ(error.message, "weight 'k_proj': 4 does not divide by tp = 6, nor "
                           "the other way round");
}

TEST(Evaluate, RefusesCountsThatOverflow) {
  Decoder sizes;
  sizes.hidden = sizes.intermediate = int64_t(1) << 40;
  Error error = refused(makeDecoder(sizes), makePlan(8), prefill(1, 16));
  EXPECT_EQ(error.message,
            "number of parameters of 'decoder' does not fit in 63 bits");
  error = refused(makeDecoder(), makePlan(8),
                  prefill(int64_t(1) << 40, int64_t(1) << 40));
  EXPECT_NE(error.message.find("does not fit in 63 bits"), std::string::npos);
}

TEST(Evaluate, RefusesWorkloadsThatMakeNoSense) {
  Error error = refused(makeDecoder(), makePlan(8), {Phase::decode, 1, 4, 2});
  EXPECT_EQ(error.message,
            "context 2 is shorter than the 4 new tokens of each sequence");
  error = refused(makeDecoder(), makePlan(8), prefill(0, 16));
  EXPECT_NE(error.message.find("batch of the workload is 0"),
            std::string::npos);
}

TEST(Evaluate, RefusesFormatsTheChipDoesNotMultiply) {
  Machine machine = makeMachine();
  machine.pools[0].chip.peakFlops.clear();
  Error error = refused(makeDecoder(), makePlan(8), prefill(1, 16), machine);
  EXPECT_EQ(error.message, "chip h100-sxm does not multiply bf16");
}

TEST(Evaluate, ReportsEveryAxisAndDegree) {
  Plan plan = makePlan(8);
  plan.axes = {{"dpo", 1}, {"dpi", 2}, {"tp", 8}};
  plan.degrees = {{"dp", {"dpo", "dpi"}},
                  {"ep", {"dpi", "tp"}},
                  {"etp", {}},
                  {"edp", {"dpo"}}};
  Report report = price(makeDecoder(), plan, prefill(2, 2048), makeRuntime(),
                        makeMachine(2));
  const std::vector<Report::Axis> &axes = report.mesh.axes;
  ASSERT_EQ(axes.size(), 3u);
  EXPECT_EQ(axes[0].tier, "");
  EXPECT_EQ(axes[1].tier, "scale_out");
  EXPECT_EQ(axes[1].stride, 8);
  EXPECT_EQ(axes[2].tier, "scale_up");
  EXPECT_EQ(axes[2].stride, 1);
  std::map<std::string, int64_t> expected = {
      {"dpo", 1}, {"dpi", 2},          {"tp", 8},  {"cp", 1},
      {"dp", 2},  {"ep", 16},          {"etp", 1}, {"edp", 1},
      {"dcp", 1}, {"attention_tp", 8}, {"pp", 1}};
  EXPECT_EQ(report.mesh.degrees, expected);
  report = price(makeDecoder(), makePlan(8), prefill(1, 2048));
  expected = {{"tp", 8},  {"cp", 1},           {"dp", 1},
              {"ep", 1},  {"etp", 8},          {"edp", 1},
              {"dcp", 1}, {"attention_tp", 8}, {"pp", 1}};
  EXPECT_EQ(report.mesh.degrees, expected);
  plan.degrees[1].axes = {"cpi"};
  Error error = refused(makeDecoder(), plan, prefill(1, 2048));
  EXPECT_EQ(error.message, "degree 'ep' has a factor that is no axis");
}

TEST(Evaluate, CountsRoutedExperts) {
  CostProgram program = makeDecoder({64, 2, 4, 2, 16, 128, 256});
  Resident experts;
  experts.name = "mlp.experts.*.up_proj";
  experts.layer = 1;
  experts.count = 2;
  experts.shape = {number(8), number(64), split(128)};
  experts.topK = 2;
  program.residents.push_back(experts);
  Kernel kernel;
  kernel.name = "layer/up_proj_experts";
  kernel.op = "experts";
  kernel.layer = 1;
  kernel.count = 2;
  kernel.kind = KernelKind::grouped_matmul;
  kernel.flopClass = FlopClass::linear;
  kernel.flopFactor = 2;
  Dim routed = {{2, {batch, query}, 0}, {}, SplitRule::any, 1};
  kernel.rows = {routed};
  kernel.columns = {split(128)};
  kernel.contraction = {number(64)};
  Traffic weights;
  weights.role = Traffic::Role::weight;
  weights.shape = experts.shape;
  weights.topK = 2;
  weights.rows = {routed};
  kernel.traffic = {weights};
  Report dense = price(program, makePlan(1), decode(1, 8));
  program.kernels.push_back(kernel);
  Report report = price(program, makePlan(1), decode(1, 8));
  EXPECT_EQ(report.model.parameters - report.model.activeParameters,
            2 * 6 * 64 * 128);
  EXPECT_EQ(report.flops.layersLinear - dense.flops.layersLinear,
            2 * 2 * 2 * 64 * 128);
  // One token reaches exactly two experts.
  EXPECT_EQ(report.latency.bounds.weightsAndKvReadBytes -
                dense.latency.bounds.weightsAndKvReadBytes,
            2 * 2 * 64 * 128 * 2);
}

// Prefill of 4 x 1,000,000 tokens: the full square is 1.05e19 FLOPs.
TEST(Evaluate, CountsFlopsOver63Bits) {
  Report report = price(makeDecoder(), makePlan(8), prefill(4, 1'000'000));
  EXPECT_EQ(report.flops.attentionFullSquare.str(), "10485760000000000000");
  EXPECT_EQ(report.flops.attention.str(), "5242885242880000000");
}

TEST(Evaluate, RefusesFlopsThatOverflow128Bits) {
  CostProgram program;
  program.model = "huge";
  program.layers = {{"model", 1}};
  Kernel kernel;
  kernel.name = "model/product";
  kernel.op = "linear";
  kernel.kind = KernelKind::matmul;
  kernel.flopClass = FlopClass::linear;
  kernel.flopFactor = 2;
  kernel.rows = kernel.columns = {number(int64_t(1) << 62)};
  kernel.contraction = {number(8)};
  program.kernels = {kernel};
  Error error = refused(program, makePlan(1), prefill(1, 1));
  EXPECT_EQ(error.message, "number of FLOPs of linear layers of 'huge' does "
                           "not fit in 127 bits");
}
