//===- ServingRowsTest.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"

#include "autopar/Support/File.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::validation;
using namespace autopar::test;

namespace {

const std::string head =
    "id,silicon_data_source,backend,model_path,system,isl,osl,batch_size,"
    "tp_size,attention_dp_size,moe_ep_size,silicon_ttft_ms,silicon_tpot_ms\n";

TEST(ServingRows, AggregatedRow) {
  ServingRows read = servingRowsOf(
      head + "a,db-dump/1; measured=2026-02-05; silicon_concurrency = 16,"
             "trtllm,m/x,h200,1024,128,16,8.0,,4,nan,12.5\n");
  ASSERT_EQ(read.rows.size(), 1u) << read.unreadable.at(0).str();
  const ServingRow &row = read.rows[0];
  EXPECT_EQ(row.id, "a");
  EXPECT_EQ(row.line, 2u);
  EXPECT_EQ(row.source.substr(0, 9), "db-dump/1");
  EXPECT_EQ(row.sourceFields,
            (std::map<std::string, std::string>{
                {"measured", "2026-02-05"}, {"silicon_concurrency", "16"}}));
  EXPECT_EQ(row.runtime, "trtllm");
  EXPECT_EQ(row.inputTokens, 1024);
  EXPECT_EQ(row.outputTokens, 128);
  EXPECT_EQ(row.concurrency, 16);
  EXPECT_EQ(row.degrees.tp, 8);
  EXPECT_EQ(row.degrees.ep, 4);
  EXPECT_EQ(row.degrees.attentionDp, 1);
  EXPECT_FALSE(row.degrees.attentionDpStated);
  EXPECT_EQ(row.degrees.devices(), 8);
  EXPECT_FALSE(row.ttftMs);
  EXPECT_EQ(row.tpotMs, 12.5);
  EXPECT_FALSE(row.decode);
}

TEST(ServingRows, UnreadableCellsAreNamedAndTheRunGoesOn) {
  ServingRows read = servingRowsOf(head + "a,,v,m,s,1k,1,1,1,,,,1\n"
                                          "b,,v,m,s,1,1,,1,,,,1\n"
                                          "c,,v,m,s,1,1,1,0,,,,1\n"
                                          "d,,v,m,s,1,1,1,1,,,,-3\n"
                                          "e,,v,m,s,1,1.5,1,1,,,,1\n"
                                          "f,,v,m,s,1,1,1,1,,,,1e999\n"
                                          "g,,v,m,s,1,1,1,32768,32768,,,1\n"
                                          "h,,v,m,s,1,1,1,1,99999,,,1\n"
                                          "i,,v,m,s,1,1,1,1,,,,1\n");
  ASSERT_EQ(read.rows.size(), 2u);
  EXPECT_EQ(read.rows[0].id, "g");
  EXPECT_EQ(read.rows[0].degrees.devices(), int64_t(1) << 30);
  EXPECT_EQ(read.rows[1].id, "i");
  ASSERT_EQ(read.unreadable.size(), 7u);
  EXPECT_EQ(read.unreadable[0].str(), "t.csv:2: isl: expected a whole number "
                                      "from 1 to 1,099,511,627,776, found "
                                      "\"1k\"");
  EXPECT_EQ(read.unreadable[1].str(),
            "t.csv:3: batch_size: expected a whole number from 1 to "
            "1,099,511,627,776, found nothing");
  EXPECT_EQ(read.unreadable[2].str(),
            "t.csv:4: tp_size: expected a whole number from 1 to 32,768, "
            "found \"0\"");
  EXPECT_EQ(read.unreadable[3].str(),
            "t.csv:5: silicon_tpot_ms: expected a "
            "number from 0.000001 to 1e15, found \"-3\"");
  EXPECT_EQ(read.unreadable[4].where, "t.csv:6");
  EXPECT_EQ(read.unreadable[5].where, "t.csv:7");
  EXPECT_EQ(read.unreadable[6].where, "t.csv:9");
}

const std::string pools =
    "mode,silicon_data_source,backend,model_path,system,isl,osl,batch_size,"
    "tp_size,prefill_tp_size,prefill_num_workers,decode_tp_size,"
    "decode_attention_dp_size,decode_moe_ep_size,decode_num_workers,"
    "decode_batch_size,silicon_tpot_ms\n";

TEST(ServingRows, DisaggregatedRow) {
  ServingRows read = servingRowsOf(
      pools + "disagg,silicon_concurrency=2048,v,m,s,1,1,,,4,,8,2,0,3,64,1\n"
              "disagg,,v,m,s,1,1,,,4,2,8,2,1,3,64,1\n"
              "disagg,,v,m,s,1,1,,,4,2,8,2,1,,64,1\n"
              "disagg,silicon_concurrency=9x,v,m,s,1,1,,,4,2,8,2,1,,64,1\n"
              "other,,v,m,s,1,1,,,4,2,8,2,1,,64,1\n");
  ASSERT_EQ(read.rows.size(), 2u);
  const ServingRow &row = read.rows[0];
  EXPECT_EQ(row.id, "row 2");
  EXPECT_EQ(row.concurrency, 2048);
  EXPECT_EQ(row.prefill->degrees.tp, 4);
  EXPECT_EQ(row.prefill->workers, 0);
  EXPECT_EQ(row.decode->degrees.devices(), 16);
  EXPECT_EQ(row.decode->degrees.ep, 1);
  EXPECT_EQ(row.decode->workers, 3);
  EXPECT_EQ(row.decode->batchSize, 64);
  // 64 on each of 2 ranks of 3 workers.
  EXPECT_EQ(read.rows[1].concurrency, 384);
  ASSERT_EQ(read.unreadable.size(), 3u);
  EXPECT_EQ(read.unreadable[0].str(),
            "t.csv:4: batch_size: expected the number of requests at once, "
            "found nothing");
  EXPECT_EQ(read.unreadable[1].where, "t.csv:5");
  EXPECT_EQ(read.unreadable[2].str(),
            "t.csv:6: mode: expected \"agg\" or \"disagg\", found \"other\"");
}

TEST(ServingRows, MissingColumnsAreNamedAllAtOnce) {
  Result<DataTable> table =
      parseCsvTable("Model,backend,isl,osl\nm,v,1,1\n", "t.csv");
  Result<ServingRows> read = readServingRows(*table);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().str(),
            "t.csv: no column for model_path, system, tp_size, batch_size, "
            "silicon_tpot_ms; the table has Model, backend, isl, osl\n"
            "  note: --columns=FILE says what your columns are called: "
            "{\"schema\": \"autopar.columns/1\", \"columns\": "
            "{\"model_path\": \"...\"}}");
}

TEST(ServingRows, MeasuredTable) {
  std::string path = sharedData("measured/serving.csv");
  if (!fileExists(path))
    GTEST_SKIP() << "no measured rows beside the repository";
  Result<DataTable> table = readTable(path);
  ASSERT_TRUE(table) << table.error().str();
  Result<ServingRows> read = readServingRows(*table);
  ASSERT_TRUE(read) << read.error().str();
  EXPECT_EQ(read->rows.size(), 1965u);
  EXPECT_TRUE(read->unreadable.empty()) << read->unreadable[0].str();
}

} // namespace
