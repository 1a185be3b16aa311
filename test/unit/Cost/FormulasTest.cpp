//===- FormulasTest.cpp - Splits, bytes and what has work -----------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"

#include "autopar/Cost/Exact.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::runtime;
using namespace autopar::test;

static constexpr SymbolId source = 3;

namespace {

/// Records of one layer kind, on so many devices of "tp".
struct FormulasTest : testing::Test {
  FormulasTest() {
    program.model = "records";
    program.symbols = {"batch", "query", "context", "encoder_tokens"};
    program.axes = {"tp"};
    program.layers = {{"layer", 1}};
  }

  void compileOn(int64_t devices, const Workload &workload) {
    strategy = compile(program, {});
    values.emplace(strategy, machine, runtime);
    refusal = values->evaluate(makeLayout(devices), workload);
  }
  /// What the worst of `devices` devices holds of `dim`.
  int64_t local(const Dim &dim, int64_t devices, const Workload &workload) {
    program.activations = {{"x", 0, {dim}, ElementType::fp8_e4m3, 0, 0}};
    compileOn(devices, workload);
    EXPECT_FALSE(refusal);
    return *values->whole(strategy.activations[0]).int64();
  }
  /// Whether `kernel` is launched, as prices and reports have it.
  bool launches(const Kernel &kernel, const Workload &workload) {
    program.kernels = {kernel};
    compileOn(1, workload);
    NodeId node = strategy.kernels[0].launched;
    Tape tape = collect(strategy, {node});
    Pricer pricer(tape, machine, runtime);
    double launched = -1;
    EXPECT_FALSE(pricer.lay(makeLayout(1)));
    EXPECT_FALSE(pricer.price(pointOf(workload), &launched));
    EXPECT_EQ(values->whole(node), Checked(static_cast<int64_t>(launched)));
    return launched == 1;
  }

  CostProgram program;
  Machine machine = makeMachine();
  Runtime runtime = makeRuntime();
  Strategy strategy;
  std::optional<ExactValues> values;
  Refusal refusal;
};

} // namespace

TEST_F(FormulasTest, RoundsExpectedBytes) {
  Kernel &kernel = program.kernels.emplace_back();
  Traffic &traffic = kernel.traffic.emplace_back();
  traffic.role = Traffic::Role::weight;
  traffic.shape = {number(8), number(3), split(4)};
  traffic.topK = 2;
  traffic.rows = {{{2, {batch, query}, 0}, {}, SplitRule::any, 1}};
  auto bytes = [&] {
    compileOn(4, decode(2, 8));
    return *values->whole(strategy.kernels[0].traffic[0]).int64();
  };
  // 3.5 experts of 3 x 1 elements of 2 bytes.
  EXPECT_EQ(bytes(), 21);
  // Over 4 devices, each holds a quarter of what is reached: 5.25 x 4 / 4.
  traffic.shape = {split(8), number(3), number(1)};
  EXPECT_EQ(bytes(), 5);
}

/// Prompts by hand: 20 of the 24 tokens see 1 to 20 tokens, the others 20 each:
/// 210 + 80 in all. What decodes goes by the cache of each sequence.
TEST_F(FormulasTest, SparsePromptsGoByQueriesAndWhatTheySee) {
  Kernel &kernel = program.kernels.emplace_back();
  kernel.kind = KernelKind::sparse_attention;
  kernel.flopFactor = 2;
  kernel.rows = {symbol(batch)};
  kernel.columns = {split(6)};
  kernel.contraction = {number(5)};
  kernel.pairs = Pairs{symbol(query), symbol(context), true, 20};
  Traffic &cache = kernel.traffic.emplace_back();
  cache.role = Traffic::Role::kv_cache;
  cache.shape = {symbol(batch), symbol(context), number(7)};
  using Sizes = std::vector<double>;
  auto sizes = [&](const Workload &workload) {
    compileOn(2, workload);
    const KernelNodes::Shape &shape = strategy.kernels[0].shapes.front();
    return Sizes{values->real(shape.x), values->real(shape.y),
                 values->real(shape.fixed.front())};
  };
  EXPECT_EQ(sizes(prefill(2, 24)), (Sizes{48, 290.0 / 24, 3}));
  EXPECT_EQ(sizes(decode(2, 24)), (Sizes{2, 20, 3}));
}

TEST_F(FormulasTest, EncodersAndHeadsHaveShapesOfTheirOwn) {
  Kernel &encoder = program.kernels.emplace_back();
  encoder.kind = KernelKind::encoder_attention;
  encoder.flopFactor = 2;
  encoder.rows = {symbol(batch)};
  encoder.columns = {split(8)};
  encoder.contraction = {number(144)};
  encoder.pairs = Pairs{symbol(query), symbol(query), false};
  encoder.heads = {split(8), 72};
  Kernel &product = program.kernels.emplace_back();
  product.kind = KernelKind::batched_matmul;
  product.flopFactor = 2;
  product.rows = {symbol(batch), symbol(query)};
  product.columns = {split(8), number(512)};
  product.contraction = {number(128)};
  compileOn(2, prefill(3, 20));
  auto real = [&](NodeId node) { return values->real(node); };
  const KernelNodes::Shape &seen = strategy.kernels[0].shapes.front();
  EXPECT_EQ(real(seen.x), 12);
  EXPECT_EQ(real(seen.y), 20);
  EXPECT_EQ(real(seen.fixed.front()), 72);
  const KernelNodes::Shape &heads = strategy.kernels[1].shapes.front();
  EXPECT_EQ(real(heads.x), 60);
  EXPECT_EQ(real(heads.fixed[0]), 4);
  EXPECT_EQ(real(heads.fixed[1]), 512);
}

TEST_F(FormulasTest, HyperConnectionsGoByTokensAndHiddenSize) {
  Kernel &kernel = program.kernels.emplace_back();
  kernel.kind = KernelKind::hyper_post;
  kernel.rows = {symbol(batch), symbol(query)};
  kernel.contraction = {number(4), number(96)};
  compileOn(2, prefill(3, 20));
  const KernelNodes::Shape &shape = strategy.kernels[0].shapes.front();
  EXPECT_EQ(values->real(shape.x), 60);
  ASSERT_EQ(shape.fixed.size(), 1U);
  EXPECT_EQ(values->real(shape.fixed.front()), 96);
}

TEST_F(FormulasTest, SplitsByEachRule) {
  auto onEight = [&](const Dim &dim) { return local(dim, 8, prefill(3, 5)); };
  EXPECT_EQ(onEight(number(7)), 7);
  EXPECT_EQ(onEight(split(64)), 8);
  EXPECT_EQ(onEight(split(128256, SplitRule::pad, 64)), 16032);
  EXPECT_EQ(onEight(split(100, SplitRule::pad, 64)), 16);
  EXPECT_EQ(onEight(split(5, SplitRule::pad, 1)), 1);
  EXPECT_EQ(onEight(split(16, SplitRule::cap)), 2);
  EXPECT_EQ(onEight(split(8, SplitRule::cap)), 1);
  EXPECT_EQ(onEight(split(2, SplitRule::cap)), 1);
  EXPECT_EQ(onEight(split(9, SplitRule::any)), 2);
  EXPECT_EQ(onEight(split(1, SplitRule::any)), 1);
  EXPECT_EQ(onEight(symbol(query, 2)), 10);
  EXPECT_EQ(onEight({{4, {batch, query}, 0}, {tp}, SplitRule::any, 1}), 8);
}

TEST_F(FormulasTest, PadsToTheProductOfAwkwardAxes) {
  // 100 -> 128 -> 132 = 6 * 22.
  EXPECT_EQ(local(split(100, SplitRule::pad, 64), 6, prefill(1, 1)), 22);
}

TEST_F(FormulasTest, RefusesSplitsByTheirRequirement) {
  Kernel &kernel = program.kernels.emplace_back();
  kernel.name = "layer/q_proj";
  kernel.flopFactor = 2;
  for (SplitRule rule : {SplitRule::plain, SplitRule::cap}) {
    kernel.rows = {split(12, rule)};
    compileOn(8, prefill(1, 1));
    ASSERT_EQ(refusal.kind, Refusal::Kind::requirement);
    const Requirement &failed = strategy.requirements[refusal.index];
    EXPECT_EQ(failed.kind, rule == SplitRule::plain ? Requirement::Kind::divides
                                                    : Requirement::Kind::caps);
    EXPECT_EQ(failed.record.kind, RecordRef::Kind::kernel);
    EXPECT_EQ(failed.record.index, 0u);
    EXPECT_EQ(values->whole(failed.extent), Checked(12));
    EXPECT_EQ(values->whole(failed.devices), Checked(8));
    EXPECT_EQ(failed.axes, std::vector<AxisId>{tp});
  }
}

TEST_F(FormulasTest, LimitsExtents) {
  Dim dim = symbol(context);
  dim.extent.limit = 4096;
  EXPECT_EQ(local(dim, 1, decode(1, 5000)), 4096);
  program.residents = {{"cache",
                        Resident::Kind::kv_cache,
                        0,
                        1,
                        {number(2), dim},
                        ElementType::fp8_e4m3,
                        0,
                        1}};
  runtime.kvBlockTokens.value = 100;
  compileOn(1, decode(1, 5000));
  EXPECT_EQ(*values->whole(strategy.residents[0].localBytes).int64(), 2 * 4100);
  dim.extent.limit = 8192;
  EXPECT_EQ(local(dim, 1, decode(1, 5000)), 5000);
  // As many as each of the new tokens selects.
  dim.extent.limit = 2048;
  dim.extent.limitSymbols = {query};
  EXPECT_EQ(local(dim, 1, decode(1, 5000)), 2048);
  EXPECT_EQ(local(dim, 1, prefill(1, 5000)), 5000);
}

TEST_F(FormulasTest, RowsAndResultsAreWork) {
  Workload none = decode(1, 8), some = none;
  some.encoderTokens = 2;
  Kernel kernel;
  EXPECT_TRUE(launches(kernel, none));
  // Rows count only where there is a product.
  kernel.rows = {symbol(source)};
  EXPECT_TRUE(launches(kernel, none));
  kernel.flopFactor = 2;
  EXPECT_FALSE(launches(kernel, none));
  EXPECT_TRUE(launches(kernel, some));
  // Cross attention writes its result, with new keys or without.
  kernel.rows = {symbol(batch)};
  Traffic keys, result;
  keys.write = result.write = true;
  keys.shape = {symbol(source), number(8)};
  kernel.traffic = {keys};
  EXPECT_FALSE(launches(kernel, none));
  EXPECT_TRUE(launches(kernel, some));
  result.shape = {symbol(query), number(8)};
  kernel.traffic.push_back(result);
  EXPECT_TRUE(launches(kernel, none));
}

// 2^128 wraps to 0.
TEST_F(FormulasTest, OverflowLosesNoWork) {
  Kernel kernel;
  kernel.flopFactor = 2;
  kernel.rows = {symbol(source, int64_t(1) << 62), number(int64_t(1) << 62),
                 number(16)};
  Workload workload = decode(1, 8);
  workload.encoderTokens = 1;
  EXPECT_TRUE(launches(kernel, workload));
}

/// A format of half bytes, whose last byte is filled.
TEST_F(FormulasTest, RoundsBytesUp) {
  program.activations = {{"x", 0, {symbol(query)}, ElementType::fp4, 0, 0}};
  compileOn(1, prefill(1, 5));
  EXPECT_EQ(*values->whole(strategy.activations[0]).int64(), 3);
}

TEST_F(FormulasTest, WireBytesOfARing) {
  auto wire = [&](CollectiveKind kind, int64_t devices, int64_t bytes) {
    bool isGathered = kind == CollectiveKind::all_gather;
    Collective record;
    record.kind = kind;
    record.axes = {tp};
    record.type = ElementType::fp8_e4m3;
    record.shape = {number(isGathered ? bytes / devices : bytes)};
    program.collectives = {record};
    compileOn(devices, prefill(1, 1));
    EXPECT_EQ(values->whole(strategy.collectives[0].bytes), Checked(bytes));
    return *values->whole(strategy.collectives[0].wireBytes).int64();
  };
  EXPECT_EQ(wire(CollectiveKind::all_reduce, 8, 33'554'432), 58'720'256);
  EXPECT_EQ(wire(CollectiveKind::all_reduce, 3, 10), 14);
  EXPECT_EQ(wire(CollectiveKind::all_gather, 8, 800), 700);
  EXPECT_EQ(wire(CollectiveKind::reduce_scatter, 3, 10), 7);
  EXPECT_EQ(wire(CollectiveKind::all_to_all, 2, 5), 3);
  EXPECT_EQ(wire(CollectiveKind::permute, 8, 5), 5);
}

/// 128 experts of 1024 x 512 in 16 bits, 4 tokens with 2 of them each.
TEST_F(FormulasTest, SkewedRoutingReadsFewerExperts) {
  program = makeExperts(128, 128);
  auto bytes = [&](double skew) {
    runtime.routingSkew.value = skew;
    compileOn(1, decode(4, 8));
    return *values->whole(strategy.kernels[0].keptReadBytes).int64();
  };
  constexpr double expert = 1024 * 512 * 2;
  EXPECT_EQ(bytes(0), std::llround(expert * 128 * (1 - std::pow(63. / 64, 4))));
  double reached = 0;
  for (int i = 0; i < 4; ++i) {
    double share = 2 * (std::sqrt(i + 1) - std::sqrt(i));
    reached += 32 * (1 - std::pow(1 - 2 * share / 128, 4));
  }
  EXPECT_EQ(bytes(0.5), std::llround(expert * reached));
}

/// 8 experts of 1024 x 512 in 16 bits on 4 devices, 2 of them for each of 6
/// tokens: 3 rows in the mean, of which 4.671 are expected of the busiest.
TEST_F(FormulasTest, ChanceGivesOneRankMost) {
  program = makeExperts(8, 8);
  compileOn(4, decode(6, 8));
  EXPECT_EQ(values->whole(strategy.kernels[0].localFlops),
            Checked(2) * 5 * 1024 * 512);
  EXPECT_EQ(values->whole(strategy.kernels[0].flops),
            Checked(2) * 12 * 1024 * 512);
  // Each is one of 4 draws among all 8.
  double reached = 2 * (1 - std::pow(0.5, 4.67136717));
  EXPECT_NEAR(*values->whole(strategy.kernels[0].keptReadBytes).int64(),
              reached * 1024 * 512 * 2, 10);
  // Memory and exchanges are those of even loads; so is one device.
  EXPECT_EQ(values->whole(strategy.activations[0]), Checked(3) * 1024 * 2);
  compileOn(1, decode(6, 8));
  EXPECT_EQ(values->whole(strategy.kernels[0].localFlops),
            values->whole(strategy.kernels[0].flops));
}

/// With 30 rows in the mean 35.2 are expected, 36.0 where a token keeps 2 of 4
/// groups, one on each device; loads of training are even.
TEST_F(FormulasTest, GroupsOfExpertsAreFurtherApart) {
  auto rows = [&] {
    compileOn(4, decode(60, 8));
    return *values->whole(strategy.kernels[0].localFlops).int64() /
           (2 * 1024 * 512);
  };
  program = makeExperts(8, 8);
  EXPECT_EQ(rows(), 35);
  program.layers[1].expertGroups = {4, 2};
  EXPECT_EQ(rows(), 36);
  program.layers[0].section = Section::backward;
  EXPECT_EQ(rows(), 30);
  // Even loads are even whether somebody says so or not.
  program = makeExperts(8, 8, std::vector<double>(8, 1));
  EXPECT_EQ(rows(), 35);
}

/// 8 heads of 72, half of them on each of two devices.
static void addEncoder(CostProgram &program) {
  Kernel &encoder = program.kernels.emplace_back();
  encoder.kind = KernelKind::encoder_attention;
  encoder.flopFactor = 2;
  encoder.rows = {symbol(batch)};
  encoder.columns = {split(8)};
  encoder.contraction = {number(144)};
  encoder.pairs = Pairs{symbol(query), symbol(query), false};
  encoder.heads = {split(8), 72};
}

/// 12 streams of 20 queries are 24 tiles of 16, and 5 waves of 5 tiles.
TEST_F(FormulasTest, EncodersComputeWholeWaves) {
  addEncoder(program);
  auto computeUs = [&](int64_t tile) {
    auto &curves =
        machine.pools.front().chip.kernels[KernelKind::encoder_attention];
    KernelCurve &curve = curves["bf16"];
    curve.tileQueries = tile;
    curve.tileSlots = tile ? 5 : 0;
    compileOn(2, prefill(3, 20));
    return values->real(strategy.launches[0].computeUs);
  };
  EXPECT_DOUBLE_EQ(computeUs(16) / computeUs(0), 5 * 5 * 16 / 240.);
}

/// 4 streams of 40 queries are 12 tiles of 16 on 30 processors, and 5 tiles of
/// 8 keys. Two copies of all tiles fit at once, each with 3 tiles of keys; for
/// an even share of 20, 60 pairs of tiles give each 3, and for one of 30, 2, so
/// that 3 share the keys of a tile and need two waves.
TEST_F(FormulasTest, IdleProcessorsShareTheKeysOfEncoders) {
  addEncoder(program);
  KernelCurve &curve =
      machine.pools.front().chip.kernels[KernelKind::encoder_attention]["bf16"];
  curve.floorUs = 8;
  struct Times {
    double computeUs, floorUs;
  };
  auto timesOf = [&](int64_t keys, int64_t splitSlots) {
    curve.tileQueries = 16;
    curve.tileSlots = 30;
    curve.tileKeys = keys;
    curve.tileSplitSlots = splitSlots;
    compileOn(2, prefill(1, 40));
    const LaunchNodes &launch = strategy.launches[0];
    return Times{values->real(launch.computeUs),
                 double(*values->whole(launch.floorPs).int64()) / 1e6};
  };
  Times whole = timesOf(0, 0);
  auto busyOf = [&](const Times &times) {
    return times.computeUs / whole.computeUs * 40;
  };
  EXPECT_EQ(whole.floorUs, 8);
  Times atOnce = timesOf(8, 0), evenly = timesOf(8, 20), finer = timesOf(8, 30);
  EXPECT_DOUBLE_EQ(busyOf(atOnce), 3 * 8);
  EXPECT_DOUBLE_EQ(busyOf(evenly), 3 * 8);
  EXPECT_DOUBLE_EQ(busyOf(finer), 2 * 2 * 8);
  EXPECT_EQ(atOnce.floorUs, 16);
  // 4 tiles of keys are too few.
  Times few = timesOf(10, 0);
  EXPECT_DOUBLE_EQ(busyOf(few), 40);
  EXPECT_EQ(few.floorUs, 8);
}
