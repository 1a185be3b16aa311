//===- MeasurementsTest.cpp -----------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Calibrate/Measurements.h"

#include "gtest/gtest.h"

#include <random>

using namespace autopar;
using namespace autopar::calibration;

namespace {

Result<MeasuredFile> readText(const std::string &text) {
  setenv("AUTOPAR_DATA", AUTOPAR_SOURCE_DIR, /*overwrite=*/1);
  Result<MeasurementForms> forms = MeasurementForms::load();
  if (!forms)
    return forms.error();
  return forms->read(text, "file");
}

TEST(Measurements, ServedRunsOfVllm) {
  // 4 requests of 100 and 50 tokens.
  Result<MeasuredFile> read = readText(
      R"({"backend": "vllm", "model_id": "meta-llama/Llama-3.1-8B",
          "max_concurrency": 2, "completed": 4, "duration": 2.0,
          "total_input_tokens": 400, "total_output_tokens": 200,
          "median_ttft_ms": 20.5, "mean_tpot_ms": 8.0, "median_tpot_ms": 7.5})");
  ASSERT_TRUE(read) << read.error().str();
  EXPECT_EQ(read->form, "vllm-serve");
  const MeasuredRun &run = read->runs.at(0);
  EXPECT_EQ(run.number("tpot_ms"), 7.5);
  EXPECT_EQ(run.number("input_tokens"), 100);
  EXPECT_EQ(run.number("rounds"), 2);
  EXPECT_EQ(run.texts.at("engine"), "vllm");
}

TEST(Measurements, NcclTestsAsPrinted) {
  // Written by hand after src/util.cu.
  Result<MeasuredFile> read = readText(
      "# Rank  0 Group  0 Pid  1 on n device  0 [0x1] NVIDIA H100\n"
      "# Rank  1 Group  0 Pid  1 on n device  1 [0x2] NVIDIA H100\n"
      "        8     2   float     sum    -1   12.5    0.00    0.00      0"
      "   11.5    0.00    0.00      0\n"
      "  1048576  262144   float     sum    -1   30.0   34.95   34.95      0"
      "   29.0   36.16   36.16      0\n"
      "# Avg bus bandwidth    : 17.8\n");
  ASSERT_TRUE(read) << read.error().str();
  EXPECT_EQ(read->form, "nccl-tests-text");
  ASSERT_EQ(read->runs.size(), 2u);
  EXPECT_EQ(read->runs[1].number("bytes"), 1048576);
  EXPECT_EQ(read->runs[1].number("call_us"), 29);
  EXPECT_EQ(read->runs[1].number("devices"), 2);
}

TEST(Measurements, NcclTestsAsJson) {
  // Written by hand after src/util.cu.
  Result<MeasuredFile> read = readText(
      R"({"devices": [{"rank": 0}, {"rank": 1}, {"rank": 2}, {"rank": 3}],
          "results": [{"size": 8, "count": 2, "type": "float", "redop": "sum",
            "experiment_name": "all_reduce", "out_of_place": {"time": 12.5,
            "bus_bw": 0.1}, "in_place": {"time": 11.0, "bus_bw": 0.2}}]})");
  ASSERT_TRUE(read) << read.error().str();
  EXPECT_EQ(read->form, "nccl-tests");
  EXPECT_EQ(read->runs[0].number("call_us"), 11);
  EXPECT_EQ(read->runs[0].number("devices"), 4);
  EXPECT_EQ(read->runs[0].texts.at("collective"), "all_reduce");
}

TEST(Measurements, TrtllmBenchAndGuidellm) {
  // Written by hand after ../shared/facts/CALIBRATION.md.
  Result<MeasuredFile> read = readText(
      R"({"engine": {"model": "m", "version": "1.0", "dtype": "bfloat16"},
          "world_info": {"tp_size": 4, "pp_size": 1},
          "request_info": {"avg_num_concurrent_requests": 16.5,
            "avg_input_length": 1000, "avg_output_length": 100},
          "performance": {"system_output_throughput_tok_s": 2000.5},
          "streaming_metrics": {"avg_ttft_ms": 50.0, "avg_tpot_ms": 6.25}})");
  ASSERT_TRUE(read) << read.error().str();
  EXPECT_EQ(read->form, "trtllm-bench");
  EXPECT_EQ(read->runs[0].number("tpot_ms"), 6.25);
  EXPECT_EQ(read->runs[0].texts.at("engine"), "trtllm");
  read = readText(
      R"({"benchmarks": [{"metrics": {
          "time_to_first_token_ms": {"successful": {"mean": 30, "median": 28}},
          "inter_token_latency_ms": {"successful": {"mean": 9, "median": 8}},
          "request_concurrency": {"successful": {"mean": 4}}}}]})");
  ASSERT_TRUE(read) << read.error().str();
  EXPECT_EQ(read->form, "guidellm");
  EXPECT_EQ(read->runs[0].number("tpot_ms"), 8);
  EXPECT_EQ(read->runs[0].number("ttft_ms"), 28);
}

TEST(Measurements, ColumnsOfTablesAreGuessed) {
  Result<MeasuredFile> read =
      readText("Model,ISL,OSL,Conc,Mean TPOT (ms)\nm,1000,100,8,12.5\n");
  ASSERT_TRUE(read) << read.error().str();
  EXPECT_EQ(read->form, "table");
  EXPECT_EQ(read->runs[0].number("tpot_ms"), 12.5);
  EXPECT_EQ(read->runs[0].number("concurrency"), 8);
}

TEST(Measurements, MutatedFilesAreReadOrRefused) {
  const std::string samples[] = {
      R"({"backend": "vllm", "model_id": "m", "max_concurrency": 2,
          "completed": 4, "total_input_tokens": 400, "median_tpot_ms": 7.5})",
      R"({"benchmarks": [{"metrics": {
          "time_to_first_token_ms": {"successful": {"mean": 30, "median": 28}},
          "inter_token_latency_ms": {"successful": {"mean": 9}}}}]})",
      R"({"results": [{"size": 8, "redop": "sum", "out_of_place":
          {"time": 1e308, "bus_bw": -1}}], "devices": []})",
      "Model,ISL,OSL,Conc,Mean TPOT (ms)\nm,1000,100,8,12.5\n",
      "Successful requests: 4\nBenchmark duration (s): 3.5\n"
      "Mean TPOT (ms): 9.1\n",
      "#  Rank  0 Group\n 8 2 float sum -1 12.5 0 0 0 11.5 0 0 0\n"};
  setenv("AUTOPAR_DATA", AUTOPAR_SOURCE_DIR, /*overwrite=*/1);
  Result<MeasurementForms> forms = MeasurementForms::load();
  ASSERT_TRUE(forms);
  std::mt19937 draw(7);
  size_t read = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string text = samples[draw() % std::size(samples)];
    for (unsigned changes = draw() % 4; changes > 0 && !text.empty(); --changes)
      switch (draw() % 3) {
      case 0:
        text[draw() % text.size()] = static_cast<char>(draw());
        break;
      case 1:
        text.erase(draw() % text.size(), draw() % 8);
        break;
      default:
        text.insert(draw() % text.size(), text.substr(draw() % text.size(), 5));
      }
    Result<MeasuredFile> file = forms->read(text, "file");
    if (!file)
      continue;
    ++read;
    std::vector<MeasuredFile> files = {std::move(*file)};
    EXPECT_FALSE(measurementsText(files).empty());
    (void)servingTable(files, {{"tp", "1"}});
  }
  // A quarter of the samples stays as it is.
  EXPECT_GT(read, 1000u);
}

TEST(Measurements, ErrorsNameTheFile) {
  Result<MeasuredFile> read = readText("{\"a\": ");
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().str().find("file:1"), std::string::npos);
  read = readText(R"({"a": 1})");
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().str().find("no result of a benchmark"),
            std::string::npos);
}

TEST(Measurements, WhatFilesLackIsNamed) {
  Result<MeasuredFile> read = readText("tpot_ms,isl,osl,conc\n9,100,10,4\n");
  ASSERT_TRUE(read);
  auto table = servingTable({*read}, {{"model", "m"}, {"hardware", "h"}});
  ASSERT_FALSE(table);
  EXPECT_NE(table.error().str().find("--runtime states it"), std::string::npos);
  table = servingTable(
      {*read},
      {{"model", "m"}, {"hardware", "h"}, {"engine", "vllm"}, {"tp", "2"}});
  ASSERT_TRUE(table) << table.error().str();
  EXPECT_EQ((*table)->cell((*table)->rows()[0], "tp_size"), "2");
  EXPECT_EQ((*table)->cell((*table)->rows()[0], "lengths"), "mean");
}

} // namespace
