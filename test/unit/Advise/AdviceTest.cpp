//===- AdviceTest.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Estimate/Estimate.h"

#include "../Cost/Fixtures.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::estimation;
using namespace autopar::hardware;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::test;

using Subject = Warning::Subject;

static std::vector<Warning> advise(const CostProgram &program, const Plan &plan,
                                   const Workload &workload,
                                   const Machine &machine = makeMachine()) {
  Result<Report> report =
      estimate(program, plan, machine, makeRuntime(), workload);
  EXPECT_TRUE(report) << report.error().str();
  return report ? report->warnings : std::vector<Warning>();
}

/// The first warning of `kind`; one without text where there is none.
static Warning find(const std::vector<Warning> &warnings, const char *kind) {
  for (const Warning &warning : warnings)
    if (warning.kind == kind)
      return warning;
  return {};
}

static bool contains(const Warning &warning, const char *text) {
  return warning.text.find(text) != std::string::npos;
}

/// Adds an axis to `program` that splits `symbol` of temporaries and caches.
static AxisId splitOver(CostProgram &program, const char *axis,
                        SymbolId symbol) {
  program.axes.push_back(axis);
  auto id = static_cast<AxisId>(program.axes.size() - 1);
  auto split = [&](Dims &shape) {
    for (Dim &dim : shape)
      if (dim.extent.symbols == std::vector<SymbolId>{symbol})
        dim.axes.push_back(id);
  };
  for (Activation &activation : program.activations)
    split(activation.shape);
  for (Resident &resident : program.residents)
    split(resident.shape);
  return id;
}

static Plan outerAxis(const char *axis, int64_t size, int64_t tpSize) {
  Plan plan;
  plan.axes = {{axis, size}, {"tp", tpSize}};
  return plan;
}

//===----------------------------------------------------------------------===//
// Links
//===----------------------------------------------------------------------===//

TEST(Advice, GroupsThatCrossNodes) {
  std::vector<Warning> warnings =
      advise(makeDecoder(), makePlan(16), prefill(1, 2048), makeMachine(2));
  Warning warning = find(warnings, "tier-crossed");
  EXPECT_EQ(warning.text.rfind("collectives cross nodes over tp = 16: a domain "
                               "of scale_up 450 GB/s has 8 devices, beyond it "
                               "is scale_out ",
                               0),
            0u)
      << warning.text;
  EXPECT_TRUE(contains(warning, "; tp = 8 stays inside")) << warning.text;
  EXPECT_EQ(warning.subject, Subject::collective);
  EXPECT_EQ(warning.record, 0u);
  warnings = advise(makeDecoder(), makePlan(8), prefill(1, 2048));
  EXPECT_EQ(find(warnings, "tier-crossed").text, "");
}

TEST(Advice, GroupsThatAnotherOrderKeepsInside) {
  Plan plan;
  plan.axes = {{"tp", 8}, {"dp", 2}};
  CostProgram program = makeDecoder();
  splitOver(program, "dp", batch);
  std::vector<Warning> warnings =
      advise(program, plan, prefill(2, 2048), makeMachine(2));
  // Devices of tp are two apart: four of them share a node.
  EXPECT_TRUE(contains(find(warnings, "tier-crossed"), "tp = 4 stays inside"));
  plan.axes = {{"tp", 2}, {"dp", 8}};
  warnings = advise(program, plan, prefill(8, 2048), makeMachine(2));
  EXPECT_TRUE(contains(find(warnings, "tier-crossed"),
                       "--map=tp keeps it inside, and puts other axes"));
}

TEST(Advice, RingsThatTakeLongerThanAttention) {
  CostProgram program = makeDecoder();
  program.axes.push_back("cp");
  AxisId cp = 1;
  Dims block;
  for (Kernel &kernel : program.kernels)
    if (kernel.pairs) {
      kernel.pairs->query.axes = {cp};
      block = kernel.traffic[0].shape;
    }
  Plan plan = outerAxis("cp", 2, 4);
  for (Dim &dim : block)
    if (dim.extent.symbols == std::vector<SymbolId>{context})
      dim.axes = {cp};
  program.collectives.push_back({"layer/cache.ring",
                                 CollectiveKind::ring,
                                 1,
                                 80,
                                 {cp},
                                 block,
                                 ElementType::bf16});
  Warning shortOne = find(advise(program, plan, prefill(1, 256)), "ring-bound");
  EXPECT_TRUE(
      contains(shortOne, "ring over cp = 2: sending a block of keys takes "));
  EXPECT_TRUE(contains(shortOne, "; with --prompt=")) << shortOne.text;
  EXPECT_EQ(shortOne.record, program.collectives.size() - 1);
  EXPECT_EQ(find(advise(program, plan, prefill(1, 65536)), "ring-bound").text,
            "");
  EXPECT_TRUE(
      contains(find(advise(program, plan, decode(1, 65536)), "ring-bound"),
               "in decode, --shard-dcp=N of tp moves no keys"));
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

TEST(Advice, ReplicasWithoutASequence) {
  CostProgram program = makeDecoder();
  splitOver(program, "dp", batch);
  Plan plan = outerAxis("dp", 8, 1);
  std::vector<Warning> warnings = advise(program, plan, prefill(1, 16));
  Warning warning = find(warnings, "idle-devices");
  EXPECT_EQ(warning.text, "dp = 8 leaves 7 of 8 devices idle, with 1 sequence "
                          "per step; --batch=8 would use all");
  EXPECT_EQ(warning.subject, Subject::mesh);
  warnings = advise(program, plan, prefill(8, 16));
  EXPECT_EQ(find(warnings, "idle-devices").text, "");
}

TEST(Advice, DevicesWithoutAToken) {
  CostProgram program = makeDecoder();
  for (Activation &activation : program.activations)
    for (Dim &dim : activation.shape)
      if (dim.extent.symbols == std::vector<SymbolId>{query})
        dim.axes = {tp};
  EXPECT_EQ(
      find(advise(program, makePlan(8), decode(1, 2048)), "idle-devices").text,
      "tp = 8 leaves 7 of 8 devices idle, with 1 new token per sequence; leave "
      "out --shard-sp in decode");
  EXPECT_EQ(
      find(advise(program, makePlan(8), prefill(1, 3)), "idle-devices").text,
      "tp = 8 leaves 5 of 8 devices idle, with 3 new tokens per sequence; "
      "sequence parallelism needs --prompt=8");
  CostProgram contexts = makeDecoder();
  splitOver(contexts, "cp", query);
  EXPECT_TRUE(contains(
      find(advise(contexts, outerAxis("cp", 4, 2), decode(1, 2048)),
           "idle-devices"),
      "in decode split the cache instead, with --shard-dcp=N of tp, or the "
      "sequences, with --shard-dp=4"));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST(Advice, DegreesThatWouldFit) {
  Warning warning = find(advise(makeDecoder(), makePlan(1), prefill(1, 2048)),
                         "does-not-fit");
  EXPECT_TRUE(contains(
      warning,
      "largest part: weights, 131.42 GiB; tp = 2 on 2 devices would fit"))
      << warning.text;
  Plan plan = makePlan(8);
  plan.memoryUtilization = 0.1;
  warning = find(advise(makeDecoder(), plan, prefill(1, 2048)), "does-not-fit");
  EXPECT_TRUE(contains(warning, "tp = 32 on 32 devices (--nodes=4) would fit"))
      << warning.text;
}

TEST(Advice, BatchesThatWouldFit) {
  // 62.36 GB are left beside the weights, and a sequence takes 1.34 GB of
  // cache: there are 8 KV heads, so that a larger tp splits no more of them.
  Warning warning = find(advise(makeDecoder(), makePlan(8), decode(512, 32768)),
                         "does-not-fit");
  EXPECT_TRUE(contains(
      warning, "largest part: the KV cache, 640.00 GiB; --batch=46 would fit"))
      << warning.text;
}

TEST(Advice, ReplicasThatReadForNothing) {
  CostProgram program = makeDecoder();
  splitOver(program, "dp", batch);
  Plan plan = outerAxis("dp", 2, 4);
  Warning warning = find(advise(program, plan, decode(2, 4096)), "idle-memory");
  EXPECT_TRUE(
      contains(warning, "dp = 2 leaves memory idle: one replica has room for "))
      << warning.text;
  EXPECT_TRUE(contains(warning, ", or one replica could serve these"));
  EXPECT_EQ(find(advise(program, plan, decode(512, 4096)), "idle-memory").text,
            "");
  EXPECT_EQ(find(advise(program, plan, prefill(2, 4096)), "idle-memory").text,
            "");
}

TEST(Advice, CopiesOfCachesThatHaveNoHeads) {
  CostProgram program = makeDecoder();
  size_t record = 0;
  for (size_t i = 0; i < program.residents.size(); ++i)
    if (program.residents[i].kind == Resident::Kind::kv_cache) {
      record = i;
      program.residents[i].shape = {symbol(batch), symbol(context),
                                    number(576)};
    }
  Warning warning =
      find(advise(program, makePlan(8), decode(1, 1024)), "cache-copies");
  EXPECT_TRUE(contains(warning, "stored 8 times over tp = 8: "));
  EXPECT_TRUE(contains(warning, "--shard-dcp=8 (by tokens) or "
                                "--shard-attention-tp=1 (by sequences)"));
  EXPECT_EQ(warning.subject, Subject::resident);
  EXPECT_EQ(warning.record, record);
}

TEST(Advice, GatheredWeights) {
  CostProgram program = makeDecoder();
  program.axes.push_back("dp");
  AxisId dp = 1;
  Dims shape = {number(8192), split(28672)};
  shape[0].axes = {dp};
  shape[0].rule = SplitRule::any;
  for (Resident &weight : program.residents)
    if (weight.name == "gate_proj")
      weight.shape = shape;
  program.collectives.push_back({"layer/gate_proj.all_gather",
                                 CollectiveKind::all_gather,
                                 1,
                                 80,
                                 {dp},
                                 shape,
                                 ElementType::bf16});
  Warning warning =
      find(advise(program, outerAxis("dp", 2, 4), prefill(2, 2048)),
           "gathered-weights");
  EXPECT_EQ(warning.text.rfind("fsdp gathers weights in every step: 80 "
                               "all_gathers, ",
                               0),
            0u)
      << warning.text;
  EXPECT_TRUE(contains(warning, "without --fsdp a device holds 32.86 GiB of "
                                "weights instead of "));
  EXPECT_TRUE(contains(warning, ", which fits"));
  EXPECT_EQ(warning.record, program.collectives.size() - 1);
}

// 8 experts over 4 devices; those that are only stored do not count.
TEST(Advice, ReportsExpertsOfADevice) {
  CostProgram program = makeDecoder({64, 2, 4, 2, 16, 128, 256});
  Resident experts;
  experts.name = "mlp.experts.*.up_proj";
  experts.layer = 1;
  experts.count = 2;
  experts.shape = {split(8), number(64), number(128)};
  experts.topK = 2;
  program.residents.push_back(experts);
  experts.name = "mtp.experts.*.up_proj";
  experts.shape[0] = number(8);
  experts.stored = true;
  program.residents.push_back(experts);
  Result<Report> report = estimate(program, makePlan(4), makeMachine(),
                                   makeRuntime(), prefill(1, 16));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->mesh.expertsPerDevice, 2);
}
