//===- LibraryTest.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::test;

TEST_F(LibraryTest, EveryChipLoads) {
  HardwareLibrary library;
  ASSERT_GE(library.chipNames().size(), 14u);
  for (const std::string &name : library.chipNames()) {
    Result<Chip> chip = library.chip(name);
    ASSERT_TRUE(chip) << chip.error().str();
    EXPECT_EQ(chip->name, name);
    EXPECT_LE(chip->memoryUsable.value, chip->memoryLabel.value) << name;
    EXPECT_GT(chip->memoryUsable.value, 0.9 * chip->memoryLabel.value) << name;
    for (KernelKind kind :
         {KernelKind::matmul, KernelKind::grouped_matmul, KernelKind::attention,
          KernelKind::elementwise, KernelKind::gather})
      for (ElementType type : {ElementType::bf16, ElementType::f16,
                               ElementType::f32, ElementType::fp8_e4m3}) {
        const KernelCurve *curve = chip->curve(kind, type);
        ASSERT_NE(curve, nullptr) << name;
        EXPECT_GE(curve->floorUs, 1) << curve->path;
      }
    EXPECT_NE(chip->peak(ElementType::bf16), nullptr) << name;
    EXPECT_NE(chip->peak(ElementType::fp8_e4m3), nullptr) << name;
  }
}

TEST_F(LibraryTest, EverySystemLoads) {
  HardwareLibrary library;
  ASSERT_GE(library.systemNames().size(), 14u);
  for (const std::string &name : library.systemNames()) {
    Result<Machine> machine = library.machine(name);
    ASSERT_TRUE(machine) << machine.error().str();
    EXPECT_EQ(machine->name, name);
    const Pool &pool = machine->pools.front();
    EXPECT_GE(pool.tiers.back().domain, pool.devicesPerNode) << name;
    for (const Tier &tier : pool.tiers)
      for (const auto &[kind, groups] : tier.curves)
        for (const auto &[devices, curve] : groups)
          for (size_t i = 1; i < curve.timeUs.size(); ++i)
            EXPECT_GE(curve.timeUs[i], curve.timeUs[i - 1]) << name;
  }
}

TEST_F(LibraryTest, CurvesReproduceThePublishedAnchors) {
  Result<Machine> machine = HardwareLibrary().machine("h100-sxm-8");
  ASSERT_TRUE(machine);
  const Pool &pool = machine->pools.front();
  const KernelCurve *curve =
      pool.chip.curve(KernelKind::matmul, ElementType::bf16);
  // A large product reaches about 0.77 of the dense peak.
  double flops = 2.0 * 8192 * 8192 * 8192;
  double seconds =
      curve->floorUs * 1e-6 + flops / (curve->computeEfficiency * 989.4e12);
  EXPECT_NEAR(flops / seconds / 989.4e12, 0.77, 0.03);
  // A small all-reduce over 8 devices takes 4 to 6 us inside a graph.
  const CollectiveCurve &reduce =
      pool.tiers[0].curves.at(CollectiveKind::all_reduce).at(8);
  EXPECT_GT(reduce.timeUs.front(), 4);
  EXPECT_LT(reduce.timeUs.front(), 6);
}

TEST_F(LibraryTest, FallsBackToTheNextWiderFormat) {
  HardwareLibrary library;
  Result<Chip> a100 = library.chip("a100-80gb-sxm");
  ASSERT_TRUE(a100);
  EXPECT_EQ(a100->peak(ElementType::fp8_e4m3)->path,
            "chips.a100-80gb-sxm.peak_flops.bf16");
  EXPECT_EQ(a100->curve(KernelKind::matmul, ElementType::fp8_e5m2)->path,
            "chips.a100-80gb-sxm.kernels.matmul.bf16");
  // fp16 and bf16 stand in for each other, beside 4-bit weights, too.
  Result<Chip> h100 = library.chip("h100-sxm");
  ASSERT_TRUE(h100);
  EXPECT_EQ(h100->curve(KernelKind::grouped_matmul, ElementType::f16,
                        ElementType::fp4)
                ->path,
            "chips.h100-sxm.kernels.grouped_matmul.fp4_bf16");
  EXPECT_EQ(h100->useOf(KernelKind::matmul, ElementType::fp8_e4m3),
            "matmul.fp8");
  EXPECT_EQ(a100->useOf(KernelKind::matmul, ElementType::fp8_e4m3),
            "matmul.fp8");
  Result<Chip> v100 = library.chip("v100-32gb-sxm");
  ASSERT_TRUE(v100);
  EXPECT_EQ(v100->peak(ElementType::bf16)->path,
            "chips.v100-32gb-sxm.peak_flops.fp16");
  EXPECT_EQ(v100->peak(ElementType::f32)->path,
            "chips.v100-32gb-sxm.peak_flops.fp32");
  EXPECT_EQ(v100->curve(KernelKind::gather, ElementType::i32)->path,
            "chips.v100-32gb-sxm.kernels.gather.any");
  Result<Chip> tpu = library.chip("tpu-v5p");
  ASSERT_TRUE(tpu);
  EXPECT_EQ(tpu->peak(ElementType::f32), nullptr);
}

TEST_F(LibraryTest, UnknownNames) {
  HardwareLibrary library;
  Result<Chip> chip = library.chip("h100-sx");
  ASSERT_FALSE(chip);
  EXPECT_EQ(chip.error().message,
            "unknown chip \"h100-sx\", did you mean \"h100-sxm\"?");
  EXPECT_EQ(chip.error().note.compare(0, 26, "available: a100-40gb-sxm, "), 0)
      << chip.error().note;
  Result<Machine> machine = library.machine("toaster");
  ASSERT_FALSE(machine);
  EXPECT_EQ(machine.error().message, "unknown system \"toaster\"");
}

TEST_F(LibraryTest, MissingLibraryNamesTheVariable) {
  setenv("AUTOPAR_DATA", "/nonexistent", 1);
  Result<Chip> chip = HardwareLibrary().chip("h100-sxm");
  ASSERT_FALSE(chip);
  EXPECT_EQ(chip.error().str(),
            "/nonexistent/hardware/chips: no chip files here\n  note: set "
            "AUTOPAR_DATA to the folder that holds hardware/ and runtimes/");
}

TEST_F(LibraryTest, Nodes) {
  HardwareLibrary library;
  Result<Machine> four = library.machine("h100-sxm-8", 4);
  ASSERT_TRUE(four);
  EXPECT_EQ(four->devices(), 32);
  EXPECT_EQ(four->pools[0].tiers[0].domain, 8);
  EXPECT_EQ(four->pools[0].tiers[1].domain, 32);
  EXPECT_EQ(withoutFolder(library.machine("h100-sxm-8", 0)),
            "expected at least 1 node, found 0");
  EXPECT_EQ(withoutFolder(library.machine("h100-sxm-8", int64_t(1) << 40)),
            "1099511627776 nodes of 8 devices are more than 1073741824 "
            "devices");
  EXPECT_EQ(withoutFolder(library.machine("rtx-4090-8", 2)),
            "system \"rtx-4090-8\" has no tier between nodes: its widest "
            "reaches 8 devices, 2 nodes have 16\n  note: use 1 node, or a "
            "system file whose last tier has the domain \"nodes\"");
}

TEST_F(LibraryTest, OwnFiles) {
  edited("hardware/chips/h100-sxm.json", "\"h100-sxm\"", "\"mine\"");
  ASSERT_EQ(std::rename((folder + "h100-sxm.json").c_str(),
                        (folder + "mine.json").c_str()),
            0);
  for (const char *chip : {"\"mine\"", "\"mine.json\"", "\"h200-sxm\""}) {
    std::string path =
        edited("hardware/systems/h100-sxm-8.json", "\"chip\": \"h100-sxm\"",
               std::string("\"chip\": ") + chip);
    Result<Machine> machine = HardwareLibrary().machine(path);
    ASSERT_TRUE(machine) << machine.error().str();
    EXPECT_EQ(
        "\"" + machine->pools[0].chip.name,
        std::string(chip).substr(0, 1 + machine->pools[0].chip.name.size()));
  }
  EXPECT_EQ(systemError("\"chip\": \"h100-sxm\"", "\"chip\": \"h100-sx\"")
                .substr(0, 72),
            "h100-sxm-8.json: /chip: unknown chip \"h100-sx\", did you mean "
            "\"h100-sxm\"?");
}

/// Weights in 4-bit floats: Hopper multiplies them in 16 bits, Blackwell in 8.
TEST_F(LibraryTest, CurvesOfPackedWeights) {
  HardwareLibrary library;
  Result<Chip> h100 = library.chip("h100-sxm"), b200 = library.chip("b200-sxm");
  ASSERT_TRUE(h100 && b200);
  auto units = [](const Chip &chip) {
    return chip.unitsOf(KernelKind::grouped_matmul, ElementType::bf16,
                        ElementType::fp4);
  };
  EXPECT_EQ(units(*h100), ElementType::bf16);
  EXPECT_EQ(units(*b200), ElementType::fp8_e4m3);
  const KernelCurve *packed = h100->curve(KernelKind::grouped_matmul,
                                          ElementType::bf16, ElementType::fp4);
  ASSERT_TRUE(packed);
  EXPECT_NE(packed, h100->curve(KernelKind::grouped_matmul, ElementType::bf16));
  // Where nothing was measured, as if they were not packed.
  EXPECT_EQ(
      h100->curve(KernelKind::matmul, ElementType::bf16, ElementType::fp4),
      h100->curve(KernelKind::matmul, ElementType::bf16));
}

TEST_F(LibraryTest, LatentAttentionFallsBackToAttention) {
  HardwareLibrary library;
  Result<Chip> h100 = library.chip("h100-sxm"), l40s = library.chip("l40s");
  ASSERT_TRUE(h100 && l40s);
  auto isOwn = [](const Chip &chip) {
    return chip.curve(KernelKind::latent_attention, ElementType::bf16) !=
           chip.curve(KernelKind::attention, ElementType::bf16);
  };
  EXPECT_TRUE(isOwn(*h100));
  EXPECT_FALSE(isOwn(*l40s));
  EXPECT_TRUE(l40s->curve(KernelKind::latent_attention, ElementType::bf16));
}

/// Of runtimes with kernels of their own; by others it is attention's.
TEST_F(LibraryTest, GradientsOfAttentionFallBackToAttention) {
  HardwareLibrary library;
  Result<Machine> own = library.machine("h100-sxm-8"),
                  plain = library.machine("h100-sxm-8");
  ASSERT_TRUE(own && plain);
  own->useImplementations("fsdp", "nccl");
  auto curve = [](const Machine &machine, KernelKind kind) {
    return machine.pools.front().chip.curve(kind, ElementType::bf16);
  };
  EXPECT_EQ(curve(*plain, KernelKind::attention_backward),
            curve(*plain, KernelKind::attention));
  EXPECT_EQ(curve(*own, KernelKind::attention_backward)->path,
            "chips.h100-sxm.implementations.fsdp.attention_backward.bf16");
  EXPECT_EQ(curve(*own, KernelKind::attention)->path,
            "chips.h100-sxm.implementations.fsdp.attention.bf16");
}

TEST_F(LibraryTest, IndexersFallBackToAttention) {
  HardwareLibrary library;
  Result<Chip> b200 = library.chip("b200-sxm");
  Result<Chip> a100 = library.chip("a100-80gb-sxm");
  ASSERT_TRUE(b200 && a100);
  EXPECT_EQ(b200->curve(KernelKind::index, ElementType::fp8_e4m3)->path,
            "chips.b200-sxm.kernels.index.fp8");
  EXPECT_EQ(a100->curve(KernelKind::index, ElementType::fp8_e4m3)->path,
            "chips.a100-80gb-sxm.kernels.attention.bf16");
}

/// Curves of these kinds are of 16 bits, and no other format has them.
TEST_F(LibraryTest, KindsOfOneFormatFallBackInOthers) {
  HardwareLibrary library;
  Result<Chip> h100 = library.chip("h100-sxm"), l40s = library.chip("l40s");
  ASSERT_TRUE(h100 && l40s);
  auto pathOf = [](const Chip &chip, KernelKind kind, ElementType type,
                   std::optional<ElementType> storage = std::nullopt) {
    return chip.curve(kind, type, storage)->path;
  };
  std::pair<KernelKind, const char *> kinds[] = {
      {KernelKind::encoder_attention, "attention"},
      {KernelKind::sparse_attention, "latent_attention"},
      {KernelKind::batched_matmul, "matmul"}};
  for (auto [kind, other] : kinds) {
    std::string own = "chips.h100-sxm.kernels." + std::string(nameOf(kind));
    EXPECT_EQ(pathOf(*h100, kind, ElementType::bf16), own + ".bf16");
    EXPECT_EQ(pathOf(*h100, kind, ElementType::f16), own + ".bf16");
    EXPECT_EQ(pathOf(*h100, kind, ElementType::fp8_e4m3),
              "chips.h100-sxm.kernels." + std::string(other) + ".fp8");
  }
  EXPECT_EQ(pathOf(*h100, KernelKind::batched_matmul, ElementType::bf16,
                   ElementType::fp4),
            "chips.h100-sxm.kernels.matmul.bf16");
  EXPECT_EQ(pathOf(*l40s, KernelKind::batched_matmul, ElementType::bf16),
            "chips.l40s.kernels.matmul.bf16");
  EXPECT_EQ(pathOf(*l40s, KernelKind::sparse_attention, ElementType::bf16),
            "chips.l40s.kernels.attention.bf16");
  EXPECT_EQ(pathOf(*h100, KernelKind::channel_scan, ElementType::bf16),
            "chips.h100-sxm.kernels.channel_scan.bf16");
  Result<Chip> a100 = library.chip("a100-80gb-sxm");
  ASSERT_TRUE(a100);
  EXPECT_EQ(pathOf(*a100, KernelKind::channel_scan, ElementType::bf16),
            "chips.a100-80gb-sxm.kernels.scan.bf16");
  EXPECT_EQ(pathOf(*h100, KernelKind::hyper_post, ElementType::bf16),
            "chips.h100-sxm.kernels.hyper_post.bf16");
  EXPECT_EQ(pathOf(*a100, KernelKind::hyper_post, ElementType::bf16),
            "chips.a100-80gb-sxm.kernels.elementwise.any");
}

TEST_F(LibraryTest, ScansFallBackToElementwise) {
  HardwareLibrary library;
  Result<Chip> h100 = library.chip("h100-sxm");
  ASSERT_TRUE(h100);
  auto pathOf = [&](ElementType type) {
    return h100->curve(KernelKind::scan, type)->path;
  };
  // Recurrences, and convolutions.
  EXPECT_EQ(pathOf(ElementType::bf16), "chips.h100-sxm.kernels.scan.bf16");
  EXPECT_EQ(pathOf(ElementType::f32), "chips.h100-sxm.kernels.scan.fp32");
  EXPECT_EQ(h100->unitsOf(KernelKind::scan, ElementType::bf16, std::nullopt),
            ElementType::bf16);
  h100->kernels.erase(KernelKind::scan);
  EXPECT_EQ(pathOf(ElementType::bf16),
            "chips.h100-sxm.kernels.elementwise.any");
  EXPECT_EQ(h100->unitsOf(KernelKind::scan, ElementType::bf16, std::nullopt),
            ElementType::f32);
}

TEST_F(LibraryTest, RuntimesHaveKernelsOfTheirOwn) {
  HardwareLibrary library;
  Result<Machine> machine = library.machine("h100-sxm-8");
  ASSERT_TRUE(machine);
  auto smallest = [&] {
    const Tier &tier = machine->pools.front().tiers.front();
    return tier.curves.at(CollectiveKind::all_reduce).at(8).timeUs.front();
  };
  double before = smallest();
  machine->useImplementations("nobody", "nobody");
  EXPECT_EQ(smallest(), before);
  machine->useImplementations("trtllm", "trtllm");
  EXPECT_LT(smallest(), before);
}
