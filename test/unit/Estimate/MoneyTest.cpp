//===- MoneyTest.cpp - What tokens cost, and what they draw ---------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Estimate/Estimate.h"
#include "autopar/Report/PlanTable.h"
#include "autopar/Write/Json.h"
#include "autopar/Write/Text.h"

#include "../Cost/Fixtures.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::estimation;
using namespace autopar::hardware;
using namespace autopar::report;
using namespace autopar::runtime;
using namespace autopar::test;
using namespace autopar::writing;

static Figure figure(double value, const char *path) {
  return {value, {"user", "this test"}, path};
}

static Report price(const Machine &machine,
                    const Runtime &runtime = makeRuntime()) {
  Result<Report> report = estimate(makeDecoder(), makePlan(8), machine, runtime,
                                   decode(8, 4096), {/*explain=*/true});
  EXPECT_TRUE(report) << report.error().str();
  return report ? *report : Report();
}

static Machine pricedMachine() {
  Machine machine = makeMachine();
  machine.price = figure(3.6, "systems.m.price");
  machine.pools[0].chip.boardPower = figure(700, "chips.c.board_power");
  return machine;
}

// 8 devices at 3.6 $/h are 0.008 $/s.
TEST(Money, DollarsAreDeviceHoursOverTokens) {
  Report report = price(pricedMachine());
  EXPECT_EQ(report.cost.dollarsPerDeviceHour, 3.6);
  EXPECT_NEAR(*report.cost.dollarsPerMillionTokens,
              0.008 / report.tokensPerS * 1e6, 1e-9);
  EXPECT_EQ(report.derivations.at("cost.usd_per_million_tokens").formula,
            "price * devices / 3600 / tokens_per_s * 1e6");
}

TEST(Money, WithoutIdlePowerBoardsDrawAllTheTime) {
  Report report = price(pricedMachine(), makeBusyRuntime());
  EXPECT_LT(report.cost.busyShare, 1);
  EXPECT_NEAR(*report.cost.joulesPerToken, 700 * 8 / report.tokensPerS, 1e-9);
  EXPECT_FALSE(report.cost.idlePowerW);
}

TEST(Money, DevicesThatWaitDrawIdlePower) {
  Machine machine = pricedMachine();
  machine.pools[0].chip.idlePower = figure(100, "chips.c.idle_power");
  Report report = price(machine, makeBusyRuntime());
  double busy = report.cost.busyShare;
  EXPECT_NEAR(*report.cost.joulesPerToken,
              (700 * busy + 100 * (1 - busy)) * 8 / report.tokensPerS, 1e-9);
}

TEST(Money, NothingIsSaidOfWhatNobodyKnows) {
  Report report = price(makeMachine());
  EXPECT_FALSE(report.cost.dollarsPerMillionTokens);
  EXPECT_FALSE(report.cost.joulesPerToken);
  EXPECT_EQ(writeText(report).find("per million"), std::string::npos);
  nlohmann::json cost = nlohmann::json::parse(writeJson(report))["cost"];
  EXPECT_TRUE(cost["usd_per_million_tokens"].is_null());
  EXPECT_TRUE(cost["joules_per_token"].is_null());
}

TEST(Money, TextSaysAtWhatPrice) {
  std::string text = writeText(price(pricedMachine()));
  EXPECT_NE(text.find(" per million output tokens, at $3.60 per device-hour\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(" per output token, at 700 W per device\n"),
            std::string::npos)
      << text;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

static std::vector<PlanTableRow> makeRows() {
  Report first = price(pricedMachine()), second = price(makeMachine());
  second.machine.hardware = "other";
  return {{"m", "a", "", first, ""},
          {"m", "other", "", second, ""},
          {"m", "third", "", std::nullopt, "has 4 devices"}};
}

TEST(PlanTable, ColumnsThatSayTheSameAreInTheHead) {
  std::string text = writeText(makeRows());
  EXPECT_EQ(text.find("plan "), std::string::npos) << text;
  EXPECT_NE(text.find("  machine "), std::string::npos) << text;
  EXPECT_NE(text.find("$/M tokens"), std::string::npos) << text;
  EXPECT_NE(text.find("Refused\n  ! m third: has 4 devices\n"),
            std::string::npos)
      << text;
}

TEST(PlanTable, JsonHasTheReports) {
  nlohmann::json table = nlohmann::json::parse(writeJson(makeRows()));
  EXPECT_EQ(table["schema"], "autopar.table/1");
  ASSERT_EQ(table["rows"].size(), 3u);
  EXPECT_EQ(table["rows"][0]["report"]["schema"], "autopar.report/1");
  EXPECT_TRUE(table["rows"][0]["refusal"].is_null());
  EXPECT_TRUE(table["rows"][2]["report"].is_null());
  EXPECT_EQ(table["rows"][2]["refusal"], "has 4 devices");
}
