//===- NodeTest.cpp - Machines in a few lines, and names of machines ------===//
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

namespace {
struct NodeTest : LibraryTest {
  std::string write(const std::string &text,
                    const std::string &name = "two-3090.json") {
    std::string path = folder + name;
    EXPECT_TRUE(writeFile(path, text));
    return path;
  }
  Result<Machine> read(const std::string &text) {
    return HardwareLibrary().machine(write(text));
  }
  std::string errorOf(const std::string &text) {
    return withoutFolder(read(text));
  }
};
} // namespace

static const char *const two3090 =
    R"({"memory_gib": 24, "bandwidth_gb_s": 936, "peak_tflops": 71,
        "link_gb_s": 16, "devices": 2})";

TEST_F(NodeTest, FiveLinesAreAMachine) {
  Result<Machine> machine = read(two3090);
  ASSERT_TRUE(machine) << machine.error().str();
  EXPECT_EQ(machine->name, "two-3090");
  const Pool &pool = machine->pools.front();
  EXPECT_EQ(pool.devices(), 2);
  EXPECT_EQ(pool.chip.memoryLabel.value, 24.0 * (1 << 30));
  EXPECT_EQ(pool.chip.memoryBandwidth.value, 936e9);
  EXPECT_EQ(pool.chip.peakFlops.at("bf16").value, 71e12);
  EXPECT_EQ(pool.chip.peakFlops.at("fp16").value, 71e12);
  EXPECT_EQ(pool.chip.peakFlops.count("fp8"), 0u);
  EXPECT_EQ(pool.tiers[0].bandwidth.value, 16e9);
  EXPECT_EQ(pool.tiers[0].domain, 2);
}

TEST_F(NodeTest, TheRestIsThatOfTheNearestMeasuredChip) {
  Result<Machine> machine = read(two3090);
  ASSERT_TRUE(machine);
  Result<Chip> l40s = HardwareLibrary().chip("l40s");
  ASSERT_TRUE(l40s);
  const Chip &chip = machine->pools[0].chip;
  const KernelCurve *curve = chip.curve(KernelKind::matmul, ElementType::bf16);
  const KernelCurve *base = l40s->curve(KernelKind::matmul, ElementType::bf16);
  EXPECT_EQ(curve->memoryEfficiency, base->memoryEfficiency);
  EXPECT_EQ(curve->source.str(), "derived: as l40s");
  EXPECT_FALSE(curve->medianError);
  EXPECT_EQ(curve->path, "chips.two-3090.kernels.matmul.bf16");
  // fp8 that the chip does not have runs in bf16, along its curve.
  EXPECT_EQ(chip.curve(KernelKind::matmul, ElementType::fp8_e4m3), curve);
  EXPECT_NEAR(chip.memoryUsable.value / chip.memoryLabel.value,
              l40s->memoryUsable.value / l40s->memoryLabel.value, 1e-9);
  const Tier &tier = machine->pools[0].tiers[0];
  EXPECT_EQ(tier.efficiency.value, 0.437);
  EXPECT_EQ(tier.efficiency.source.str(), "derived: as l40s-8");
  EXPECT_TRUE(tier.curves.empty());
  EXPECT_NE(machine->derived.find("those of l40s, the measured chip nearest in "
                                  "peak and bandwidth, of which this has 0.2x "
                                  "and 1.08x"),
            std::string::npos)
      << machine->derived;
}

TEST_F(NodeTest, LikeAChipHasWhatTheFileDoesNotSay) {
  Result<Machine> machine =
      read(R"({"like": "h100-sxm", "memory_gib": 120, "source": "a vendor"})");
  ASSERT_TRUE(machine) << machine.error().str();
  const Pool &pool = machine->pools[0];
  EXPECT_EQ(pool.devices(), 8);
  EXPECT_EQ(pool.chip.memoryLabel.source.str(), "user: a vendor");
  EXPECT_EQ(pool.chip.memoryBandwidth.value, 3.35e12);
  EXPECT_EQ(pool.chip.memoryBandwidth.source.str(), "derived: as h100-sxm");
  EXPECT_EQ(pool.tiers.size(), 2u);
  EXPECT_FALSE(pool.tiers[0].curves.empty());
  EXPECT_EQ(pool.tiers[0].bandwidth.value, 450e9);
}

TEST_F(NodeTest, LinksOfAnotherKindAreThoseOfTheNearest) {
  Result<Machine> machine =
      read(R"({"like": "h100-sxm", "link_gb_s": 32, "devices": 4})");
  ASSERT_TRUE(machine);
  const Tier &tier = machine->pools[0].tiers[0];
  EXPECT_EQ(tier.efficiency.value, 0.143);
  EXPECT_EQ(tier.efficiency.source.str(), "derived: as arc-pro-b60-8");
  EXPECT_FALSE(tier.curves.empty());
  for (const auto &[kind, groups] : tier.curves)
    EXPECT_LE(groups.rbegin()->first, 4);
}

/// nccl-tests of two devices at 16 GB/s: 12 GB/s of a large all-reduce, 0.5 of
/// 16 KiB, which takes 16384 / 500 = 32.768 us, of which its bytes take 1.365.
TEST_F(NodeTest, LinksAreWhatTheFileSaysOfThem) {
  auto tierOf = [&](const std::string &says) {
    std::string text = two3090;
    text.insert(text.size() - 1, ", " + says);
    Result<Machine> machine = read(text.c_str());
    EXPECT_TRUE(machine) << machine.error().str();
    return machine->pools.front().tiers[0];
  };
  Tier tier =
      tierOf(R"("bus_bandwidth_gb_s": {"16384": 0.5, "268435456": 12})");
  EXPECT_DOUBLE_EQ(tier.efficiency.value, 0.75);
  EXPECT_NEAR(tier.latency.value, 32.768 - 1.3653, 1e-3);
  EXPECT_EQ(tier.efficiency.source.kind, "user");
  EXPECT_TRUE(tier.curves.empty());
  EXPECT_DOUBLE_EQ(tierOf(R"("link_efficiency": 0.5)").efficiency.value, 0.5);
  EXPECT_DOUBLE_EQ(tierOf(R"("link_latency_us": 9)").latency.value, 9);
  EXPECT_DOUBLE_EQ(tierOf(R"("peer_to_peer": false)").efficiency.value, 0.148);
  EXPECT_DOUBLE_EQ(tierOf(R"("peer_to_peer": true)").efficiency.value, 0.437);
}

TEST_F(NodeTest, ErrorsOfLinksSayWhatWorks) {
  EXPECT_EQ(errorOf(R"({"like": "l4", "link_efficiency": 0.5,
                        "bus_bandwidth_gb_s": 8})"),
            "two-3090.json: /bus_bandwidth_gb_s: stands beside "
            "link_efficiency, which it gives\n  note: leave one of them out");
  EXPECT_EQ(errorOf(R"({"like": "l4", "link_efficiency": 0.5,
                        "peer_to_peer": false})"),
            "two-3090.json: /peer_to_peer: stands beside a measured "
            "efficiency, which has it\n  note: leave it out");
  EXPECT_EQ(errorOf(R"({"like": "l4", "devices": 1, "peer_to_peer": false})"),
            "two-3090.json: says how devices of a node are linked, and has "
            "one\n  note: give \"devices\"");
}

TEST_F(NodeTest, ErrorsNameFieldNumberAndWhatWorks) {
  EXPECT_EQ(errorOf(R"({"memory_gib": 25769803776, "bandwidth_gb_s": 936})"),
            "two-3090.json: /memory_gib: expected a number from 0.01 to "
            "100000, found 25769803776\n  note: in GiB of one device, as on "
            "its label: 24");
  EXPECT_EQ(errorOf(R"({"memory_gib": 24, "bandwidth_gb_s": 936})"),
            "two-3090.json: missing field \"peak_tflops\"\n  note: in TFLOP/s "
            "of dense 16-bit products: 71; or {\"bf16\": 71, \"fp8\": 142}; or "
            "give \"like\", a chip that has it");
  auto starts = [&](const char *text, const std::string &start) {
    std::string error = errorOf(text);
    EXPECT_EQ(error.substr(0, start.size()), start);
  };
  starts(R"({"like": "h1000"})",
         "two-3090.json: /like: no chip and no system is called \"h1000\"\n  "
         "note: these would work: a100-40gb-sxm, ");
  starts(R"({"memory_gb": 24, "like": "l4"})",
         "two-3090.json: /memory_gb: unknown field \"memory_gb\"");
  EXPECT_EQ(errorOf(R"({"like": "l4", "peak_tflops": {"fp8": 100}})"),
            "two-3090.json: /peak_tflops: has neither bf16 nor fp16, on which "
            "the rest rests\n  note: in TFLOP/s of dense 16-bit products: 71; "
            "or {\"bf16\": 71, \"fp8\": 142}");
}

TEST_F(NodeTest, AllOfTheLibraryCanBeDraftedAndRead) {
  HardwareLibrary library;
  for (const std::string &name : library.systemNames()) {
    Result<std::string> text = library.draftNode(name, "my-own");
    ASSERT_TRUE(text) << text.error().str();
    Result<Machine> copy = library.machine(write(*text, "my-own.json"));
    ASSERT_TRUE(copy) << name << copy.error().str();
    Result<Machine> machine = library.machine(name);
    const Pool &first = machine->pools[0], &second = copy->pools[0];
    EXPECT_EQ(copy->name, "my-own");
    EXPECT_EQ(first.devices(), second.devices()) << name;
    EXPECT_EQ(first.chip.memoryUsable.value, second.chip.memoryUsable.value)
        << name;
    EXPECT_EQ(first.chip.memoryBandwidth.value,
              second.chip.memoryBandwidth.value);
    EXPECT_EQ(first.tiers.size(), second.tiers.size()) << name;
    EXPECT_EQ(first.tiers.back().bandwidth.value,
              second.tiers.back().bandwidth.value);
  }
  EXPECT_EQ(library.draftNode("h100-sxm", "My Chip").error().message,
            "--as=My Chip: expected lower-case letters, digits and \"-\"");
}

TEST_F(NodeTest, OneSourceServesAWholeFile) {
  std::string path = edited("hardware/chips/l4.json", "\"title\"",
                            "\"source\": \"measured at home\", \"title\"");
  std::string text = *readFile(path);
  // The first figure says nothing of its own.
  size_t from = text.find(", \"source\": {", text.find("memory_bandwidth"));
  if (from == std::string::npos || from > text.find("peak_flops"))
    from = text.find(",\n    \"source\": {", text.find("memory_bandwidth"));
  size_t to = text.find("}", from) + 1;
  text.erase(from, to - from);
  EXPECT_TRUE(writeFile(path, text));
  Result<Chip> chip = HardwareLibrary().chip(path);
  ASSERT_TRUE(chip) << chip.error().str();
  EXPECT_EQ(chip->memoryBandwidth.source.str(), "user: measured at home");
  EXPECT_EQ(chip->memoryLabel.source.kind, "datasheet");
}

TEST_F(NodeTest, ANameMeansTheOneSystemThatItFits) {
  HardwareLibrary library;
  auto nameOf = [&](const char *name) {
    Result<Machine> machine = library.machine(name);
    return machine ? machine->name : machine.error().str();
  };
  EXPECT_EQ(nameOf("h100"), "h100-sxm-8");
  EXPECT_EQ(nameOf("H100"), "h100-sxm-8");
  EXPECT_EQ(nameOf("b200"), "b200-sxm-8");
  EXPECT_EQ(nameOf("a100-sxm-8"), "a100-80gb-sxm-8");
  EXPECT_EQ(nameOf("h100-pcie"), "h100-pcie-8");
  auto starts = [&](const char *name, const std::string &start) {
    EXPECT_EQ(nameOf(name).substr(0, start.size()), start);
  };
  starts("sxm-8", "\"sxm-8\" may be any of 9 systems: a100-40gb-sxm-8, ");
  starts("h100-smx-8",
         "unknown system \"h100-smx-8\", did you mean \"h100-sxm-8\"?");
  EXPECT_EQ(library.machine("h100")->taken->str(),
            "for 'h100' (or: h100-96gb-8, h100-nvl-8, h100-pcie-8)");
  EXPECT_FALSE(library.machine("h100-sxm-8")->taken);
}
