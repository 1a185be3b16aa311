//===- OverrideTest.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::test;

using OverrideTest = LibraryTest;

static std::string parseError(std::string_view text) {
  Result<Override> override = parseOverride(text);
  return override ? "" : override.error().message;
}

TEST_F(OverrideTest, Parse) {
  Result<Override> override = parseOverride("chips.x.memory_bandwidth=4e12");
  ASSERT_TRUE(override);
  EXPECT_EQ(override->path, "chips.x.memory_bandwidth");
  EXPECT_EQ(override->value, 4e12);
  EXPECT_EQ(parseError("chips.x"), "override \"chips.x\" is not path=value");
  EXPECT_EQ(parseError("=4"), "override \"=4\" is not path=value");
  EXPECT_EQ(parseError("chips.x.y=fast"),
            "value \"fast\" of override \"chips.x.y\" is not a number");
  EXPECT_EQ(parseError("chips.x.y="),
            "value \"\" of override \"chips.x.y\" is not a number");
  EXPECT_EQ(parseError("chips.x.y=inf"),
            "value \"inf\" of override \"chips.x.y\" is not a number");
  EXPECT_EQ(parseError("chip.x=4"), "override path \"chip.x\" does not start "
                                    "with chips., systems. or runtimes.");
}

TEST_F(OverrideTest, ReplacesFiguresAndMarksThem) {
  HardwareLibrary library(
      {{"chips.h100-sxm.memory_bandwidth", 4e12},
       {"chips.h100-sxm.kernels.matmul.bf16.floor", 2},
       {"chips.h100-sxm.kernels.matmul.bf16.exponent", 3},
       {"systems.h100-sxm-8.tiers.scale_up.bandwidth", 1e11},
       {"systems.h100-sxm-8.tiers.1.latency", 3}});
  Result<Machine> machine = library.machine("h100-sxm-8");
  ASSERT_TRUE(machine) << machine.error().str();
  const Pool &pool = machine->pools[0];
  EXPECT_EQ(pool.chip.memoryBandwidth.value, 4e12);
  EXPECT_EQ(pool.chip.memoryBandwidth.source.str(),
            "user: --set chips.h100-sxm.memory_bandwidth=4e+12");
  EXPECT_EQ(pool.chip.memoryBandwidth.path, "chips.h100-sxm.memory_bandwidth");
  const KernelCurve *curve =
      pool.chip.curve(KernelKind::matmul, ElementType::bf16);
  EXPECT_EQ(curve->floorUs, 2);
  EXPECT_EQ(curve->exponent, 3);
  EXPECT_EQ(curve->source.kind, "user");
  EXPECT_EQ(pool.tiers[0].bandwidth.value, 1e11);
  EXPECT_EQ(pool.tiers[1].latency.value, 3);
  EXPECT_FALSE(library.unusedOverride());
}

TEST_F(OverrideTest, UnknownFieldNamesTheNearest) {
  HardwareLibrary library({{"chips.h100-sxm.memory_bandwith", 4e12}});
  EXPECT_EQ(withoutFolder(library.chip("h100-sxm")),
            "override path \"chips.h100-sxm.memory_bandwith\" leads to no "
            "figure\n  note: did you mean "
            "\"chips.h100-sxm.memory_bandwidth\"?");
  HardwareLibrary object({{"chips.h100-sxm.kernels", 1}});
  EXPECT_FALSE(object.chip("h100-sxm"));
}

TEST_F(OverrideTest, ValueOutOfRangeShowsTheOverride) {
  std::string path = edited("hardware/chips/h100-sxm.json", "{", "{");
  HardwareLibrary library({{"chips.h100-sxm.memory_bandwidth", -4}});
  EXPECT_EQ(withoutFolder(library.chip(path)),
            "h100-sxm.json: /memory_bandwidth/value: expected a number from 1 "
            "to 1e+18, found -4.0\n  note: after --set "
            "chips.h100-sxm.memory_bandwidth=-4");
}

TEST_F(OverrideTest, Unused) {
  HardwareLibrary other({{"chips.h200-sxm.memory_bandwidth", 4e12}});
  ASSERT_TRUE(other.machine("h100-sxm-8"));
  ASSERT_TRUE(other.unusedOverride());
  EXPECT_EQ(other.unusedOverride()->str(),
            "override \"chips.h200-sxm.memory_bandwidth\" has no effect: "
            "chips.h200-sxm is not part of this machine");
  HardwareLibrary wrong({{"chips.h100-sx.memory_bandwidth", 4e12}});
  ASSERT_TRUE(wrong.machine("h100-sxm-8"));
  EXPECT_EQ(wrong.unusedOverride()->str(),
            "override path \"chips.h100-sx.memory_bandwidth\" names no chip "
            "or system that was read\n  note: did you mean "
            "\"chips.h100-sxm\"?");
  HardwareLibrary runtime({{"runtimes.vllm.host_time", 1}});
  ASSERT_TRUE(runtime.machine("h100-sxm-8"));
  EXPECT_FALSE(runtime.unusedOverride());
}

TEST_F(OverrideTest, AddsFiguresThatFilesMayLack) {
  HardwareLibrary library({{"systems.*.price", 2.5},
                           {"chips.mi300x.idle_power", 140},
                           {"chips.*.board_power", 750}});
  Result<Machine> machine = library.machine("mi300x-8");
  ASSERT_TRUE(machine) << machine.error().str();
  EXPECT_EQ(machine->price->value, 2.5);
  EXPECT_EQ(machine->price->source.str(), "user: --price=2.5");
  EXPECT_EQ(machine->price->path, "systems.mi300x-8.price");
  EXPECT_FALSE(machine->price->isGiven());
  EXPECT_EQ(machine->pools[0].chip.idlePower->value, 140);
  EXPECT_EQ(machine->pools[0].chip.boardPower->value, 750);
  EXPECT_FALSE(library.unusedOverride());
  EXPECT_FALSE(HardwareLibrary({{"systems.*.cost", 1}}).machine("l4-8"));
}
