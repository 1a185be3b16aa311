//===- SweepTest.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Sweep/Sweep.h"

#include "autopar/Write/ReportColumns.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::report;
using namespace autopar::sweep;
using namespace autopar::writing;

using Json = nlohmann::ordered_json;

/// A report of a decode that takes `us` and does or does not fit.
static Report reportOf(int64_t batch, double us, bool fits) {
  Report report;
  report.machine.hardware = "box";
  report.machine.runtime = "ideal";
  report.mesh.devices = 2;
  report.mesh.axes = {{"tp", "", 2, 1}};
  report.workload.phase = "decode";
  report.workload.batch = batch;
  report.workload.queryLength = 1;
  report.workload.contextLength = 4096;
  report.memory.perDevice.totalBytes = 3 << 20;
  report.memory.perDevice.budgetBytes = 4 << 20;
  report.memory.perDevice.fits = fits;
  report.latency.stepTimeUs = us;
  report.latency.bound = "memory";
  report.tokensPerS = static_cast<double>(batch) * 1e6 / us;
  report.capacity.sequences = 12;
  return report;
}

/// Two batches by three figures: the last batch does not fit at the second
/// figure, and is refused at the third.
static SweepReport sweepPoints() {
  SweepReport report;
  report.model = "m";
  report.axes = {{"batch", {1, 1024}}, {"chips.c.speed", {0.5, 1.0, 4.0}}};
  for (size_t i = 0; i < 6; ++i) {
    SweepPoint point = pointAt(report.axes, i);
    int64_t batch = report.axes[0].values[point[0]];
    if (i == 5)
      report.rows.push_back({point, "", {}, "no, \"never\""});
    else
      report.rows.push_back(SweepRow::of(
          point,
          reportOf(batch,
                   1000.5 / report.axes[1].values[point[1]].get<double>(),
                   i != 4)));
  }
  return report;
}

static size_t countIn(const std::string &text, const std::string &part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos;
       at = text.find(part, at + 1))
    ++count;
  return count;
}

TEST(Sweep, TheFirstAxisIsTheSlowest) {
  SweepReport report = sweepPoints();
  EXPECT_EQ(*countPoints(report.axes), 6U);
  EXPECT_EQ(report.rows[1].point, SweepPoint({0, 1}));
  EXPECT_EQ(report.rows[3].point, SweepPoint({1, 0}));
}

TEST(Sweep, TooManyPointsAreCounted) {
  SweepAxis axis{"batch", std::vector<Json>(200, Json(1))};
  Result<size_t> many = countPoints({axis, axis});
  ASSERT_FALSE(many);
  EXPECT_NE(many.error().message.find("40,000 rows"), std::string::npos);
  std::vector<SweepAxis> absurd(30, axis);
  EXPECT_NE(countPoints(absurd).error().message.find("too many rows"),
            std::string::npos);
}

TEST(Sweep, TextSaysOnceWhatAllRowsHave) {
  std::string text = writeText(sweepPoints());
  EXPECT_EQ(text.find("m: decode, context 4,096, devices 2, box, ideal, tp 2, "
                      "budget 4.00 MiB\n"),
            0U)
      << text;
  EXPECT_NE(
      text.find("  batch  speed      step   tokens/s  a device    memory  "
                "fits  bound by  sequences\n"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("  most tokens/s: batch 1,024, speed 0.5"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  1 of 6 rows does not fit"), std::string::npos);
  EXPECT_NE(text.find("! batch 1,024, speed 4: no, \"never\""),
            std::string::npos);
  EXPECT_EQ(countIn(text, " NO "), 1U);
}

TEST(Sweep, EqualRefusalsAreOneLine) {
  SweepReport report = sweepPoints();
  for (SweepRow &row : report.rows)
    row = {row.point, "", {}, "it cannot be"};
  std::string text = writeText(report);
  EXPECT_EQ(countIn(text, "it cannot be"), 1U);
  EXPECT_NE(text.find("! batch 1, speed 0.5 and 5 other rows: it cannot be"),
            std::string::npos)
      << text;
}

TEST(Sweep, CsvHasTheDigitsOfJson) {
  SweepReport report = sweepPoints();
  std::string text = writeCsv(report);
  EXPECT_EQ(text.find("batch,chips.c.speed,plan,hardware,nodes,devices,runtime,"
                      "phase,prompt,context,step_time_us,"),
            0U)
      << text;
  size_t step = reportColumn("step_time_us");
  EXPECT_NE(text.find(",4096," + report.rows[2].cells[step].dump() + ","),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(",\"no, \"\"never\"\"\"\n"), std::string::npos) << text;
  size_t commas = countIn(text.substr(0, text.find('\n')), ",");
  EXPECT_EQ(countIn(text.substr(text.rfind("1024,4.0")), ","), commas + 1);
}

TEST(Sweep, JsonHasARowForEachPoint) {
  Json root = Json::parse(writeJson(sweepPoints()));
  EXPECT_EQ(root["schema"], "autopar.sweep/1");
  ASSERT_EQ(root["rows"].size(), 6U);
  EXPECT_EQ(root["rows"][4]["values"]["batch"], 1024);
  EXPECT_EQ(root["rows"][4]["result"]["fits"], false);
  EXPECT_TRUE(root["rows"][4]["result"]["prompt"].is_null());
  EXPECT_TRUE(root["rows"][5]["result"].is_null());
  EXPECT_EQ(root["rows"][5]["refusal"], "no, \"never\"");
}

TEST(Sweep, APlotHasALineForEachOtherPoint) {
  SweepReport report = sweepPoints();
  EXPECT_FALSE(checkPlot(report.axes));
  Result<std::string> script = plotScript(report, "tokens_per_s");
  ASSERT_TRUE(script);
  EXPECT_EQ(countIn(*script, "with linespoints"), 3U);
  EXPECT_NE(script->find("title 'speed 0.5'"), std::string::npos);
  EXPECT_NE(script->find("set logscale x 2\n"), std::string::npos);
  EXPECT_NE(script->find("set xtics ('1' 1, '1,024' 1024)\n"),
            std::string::npos);
  EXPECT_EQ(countIn(*script, "title 'does not fit'"), 1U);
  EXPECT_FALSE(plotScript(report, "usd_per_million_tokens"));
}

TEST(Sweep, APlotIsLinearWhereValuesDoNotDouble) {
  SweepReport report = sweepPoints();
  report.axes[0].values = {1000, 1024};
  EXPECT_EQ(plotScript(report, "step_time_us")->find("logscale"),
            std::string::npos);
}

TEST(Sweep, NamesInPlotsAreNoCommands) {
  SweepReport report = sweepPoints();
  report.model = "it's\n`id`\xff";
  std::string script = *plotScript(report, "step_time_us");
  EXPECT_NE(script.find("set title 'it''s\\x0a`id`?"), std::string::npos)
      << script;
}

TEST(Sweep, WhatCannotBeDrawn) {
  SweepAxis words{"hardware", {"a", "b"}};
  EXPECT_TRUE(checkPlot({words}));
  SweepAxis batches{"batch", {1, 2}};
  EXPECT_FALSE(checkPlot({words, batches}));
  SweepAxis many{"context", std::vector<Json>(65, Json(1))};
  EXPECT_TRUE(checkPlot({batches, many}));
  EXPECT_FALSE(checkPlot({many, batches}));
}
