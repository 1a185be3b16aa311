//===- CurveSpreadTest.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"

#include <algorithm>
#include <filesystem>

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::test;

namespace {

using CurveSpreadTest = LibraryTest;

/// Efficiencies of measured curves, by use.
using Reached = std::map<std::string, std::vector<double>>;

double ratioOf(const std::vector<double> &values) {
  return *std::max_element(values.begin(), values.end()) /
         *std::min_element(values.begin(), values.end());
}

/// `machine` of a library that has `text` for its spreads, if any.
Result<Machine> machineWith(const std::string &folder, const char *machine,
                            const std::optional<std::string> &text) {
  namespace fs = std::filesystem;
  fs::path hardware = fs::path(folder) / "spreads/hardware";
  fs::remove_all(hardware);
  fs::create_directories(hardware);
  for (const char *part : {"chips", "systems"})
    fs::create_directory_symlink(
        fs::path(AUTOPAR_SOURCE_DIR) / "hardware" / part, hardware / part);
  if (text)
    EXPECT_TRUE(writeFile(hardware / "spreads.json", *text));
  setenv("AUTOPAR_DATA", hardware.parent_path().c_str(), 1);
  return HardwareLibrary().machine(machine);
}

} // namespace

TEST_F(CurveSpreadTest, FileIsThatOfTheChips) {
  HardwareLibrary library;
  Reached compute, memory;
  for (const std::string &name : library.chipNames()) {
    Result<Chip> chip = library.chip(name);
    ASSERT_TRUE(chip) << chip.error().str();
    for (const auto &[kind, curves] : chip->kernels)
      for (const auto &[key, curve] : curves)
        if (multiplies(kind) && curve.source.kind == "measured") {
          std::string use = std::string(nameOf(kind)) + "." + key;
          compute[use].push_back(curve.computeEfficiency);
          memory[use].push_back(curve.memoryEfficiency);
        }
  }
  Result<Machine> machine = library.machine("h20-8");
  ASSERT_TRUE(machine) << machine.error().str();
  size_t compared = 0;
  for (const auto &[use, values] : compute) {
    auto spread = machine->spreads.find(use);
    ASSERT_EQ(spread != machine->spreads.end(), values.size() > 1) << use;
    if (values.size() < 2)
      continue;
    EXPECT_EQ(spread->second.compute, ratioOf(values)) << use;
    EXPECT_EQ(spread->second.memory, ratioOf(memory[use])) << use;
    ++compared;
  }
  EXPECT_EQ(compared, machine->spreads.size());
  EXPECT_GT(compared, 10u);
}

TEST_F(CurveSpreadTest, MachinesWithCurvesOfTheirOwnHaveNone) {
  Result<Machine> machine = HardwareLibrary().machine("h100-sxm-8");
  ASSERT_TRUE(machine) << machine.error().str();
  EXPECT_TRUE(machine->spreads.empty());
}

TEST_F(CurveSpreadTest, LibrariesNeedNotSay) {
  Result<Machine> machine = machineWith(folder, "h20-8", std::nullopt);
  ASSERT_TRUE(machine) << machine.error().str();
  EXPECT_TRUE(machine->spreads.empty());
}

TEST_F(CurveSpreadTest, LeastIsNoMoreThanMost) {
  auto error = [&](const std::string &range) {
    std::string text = withoutFolder(machineWith(
        folder, "h20-8",
        R"({"schema": "autopar.spreads/1", "title": "", "spreads": )"
        R"({"matmul.bf16": {"compute_efficiency": )" +
            range + R"(, "memory_efficiency": {"least": 1, "most": 1}}}})"));
    return text.substr(text.find(": ") + 2);
  };
  EXPECT_EQ(error(R"({"least": 0.5, "most": 0.25})"),
            "/spreads/matmul.bf16/compute_efficiency/most: expected a number "
            "from 0.5 to 1, found 0.25");
  EXPECT_EQ(error(R"({"least": 0, "most": 0.5})"),
            "/spreads/matmul.bf16/compute_efficiency/least: expected a number "
            "from 1e-06 to 1, found 0");
  EXPECT_EQ(error(R"({"least": 0.5})"),
            "/spreads/matmul.bf16/compute_efficiency: missing field \"most\"");
}
