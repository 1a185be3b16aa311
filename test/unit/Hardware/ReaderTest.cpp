//===- ReaderTest.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::test;

using ReaderTest = LibraryTest;

TEST_F(ReaderTest, ChipErrorsNameTheField) {
  EXPECT_EQ(chipError("\"unit\": \"B/s\"", "\"unit\": \"GB/s\""),
            "h100-sxm.json: /memory_bandwidth/unit: expected \"B/s\", found "
            "\"GB/s\"");
  EXPECT_EQ(chipError("\"value\": 3350000000000", "\"value\": \"fast\""),
            "h100-sxm.json: /memory_bandwidth/value: expected a number from 1 "
            "to 1e+18, found \"fast\"");
  EXPECT_EQ(chipError("autopar.chip/1", "autopar.chip/2"),
            "h100-sxm.json: /schema: expected \"autopar.chip/1\", found "
            "\"autopar.chip/2\"");
  EXPECT_EQ(chipError("\"name\": \"h100-sxm\"", "\"name\": \"H100 SXM\""),
            "h100-sxm.json: /name: expected lower-case letters, digits and "
            "\"-\", found \"H100 SXM\"");
  EXPECT_EQ(chipError("\"kind\": \"datasheet\"", "\"kind\": \"rumour\""),
            "h100-sxm.json: /memory_label/source/kind: expected one of "
            "datasheet, measured, derived, recalled, user, found \"rumour\"");
  EXPECT_EQ(chipError("\"memory_usable\"", "\"memory_useable\""),
            "h100-sxm.json: /memory_useable: unknown field "
            "\"memory_useable\"\n  note: known fields: schema, name, title, "
            "source, platform, memory_label, memory_usable, memory_bandwidth, "
            "peak_flops, kernels, implementations, sustained_compute, "
            "board_power, idle_power");
  EXPECT_EQ(chipError("\"elementwise\"", "\"element_wise\""),
            "h100-sxm.json: /kernels/element_wise: unknown kernel "
            "\"element_wise\"\n  note: known: matmul, grouped_matmul, "
            "attention, attention_backward, latent_attention, elementwise, "
            "gather, scan, index, encoder_attention, sparse_attention, "
            "batched_matmul, channel_scan, hyper_pre, hyper_post");
  EXPECT_EQ(chipError("\"tf32\"", "\"fp12\""),
            "h100-sxm.json: /peak_flops/fp12: unknown format \"fp12\"\n  "
            "note: known: bf16, fp16, fp8, fp32, tf32, int8, fp4");
  EXPECT_EQ(chipError("\"exponent\": 4", "\"exponent\": 2.5"),
            "h100-sxm.json: /kernels/matmul/bf16/exponent: expected one of 1, "
            "1.5, 2, 3, 4, found 2.5");
  EXPECT_EQ(chipError("\"compute_efficiency\": {\"value\": 0.",
                      "\"compute_efficiency\": {\"value\": 1."),
            "h100-sxm.json: /kernels/matmul/bf16/compute_efficiency/value: "
            "expected a number from 1e-06 to 1, found 1.784");
  EXPECT_EQ(chipError("\"exponent\": 4",
                      "\"tiles\": {\"queries\": 64, \"slots\": 132}, "
                      "\"exponent\": 4"),
            "h100-sxm.json: /kernels/matmul/bf16/tiles: kernels of kind matmul "
            "have no tiles that are known");
  EXPECT_EQ(chipError("\"queries\": 192", "\"queries\": 0"),
            "h100-sxm.json: /kernels/encoder_attention/bf16/tiles/queries: "
            "expected an integer from 1 to 65536, found 0");
}

TEST_F(ReaderTest, SystemErrorsNameTheField) {
  EXPECT_EQ(systemError("\"domain\": 8", "\"domain\": \"rack\""),
            "h100-sxm-8.json: /tiers/0/domain: expected a number of devices "
            "or \"nodes\", found \"rack\"");
  EXPECT_EQ(systemError("\"domain\": 8,", ""),
            "h100-sxm-8.json: /tiers/0: only the last tier may have no "
            "domain");
  EXPECT_EQ(systemError("\"scale_out\"", "\"scale_up\""),
            "h100-sxm-8.json: /tiers/1/name: another tier has the name "
            "\"scale_up\"");
  EXPECT_EQ(systemError("\"all_reduce\"", "\"allreduce\""),
            "h100-sxm-8.json: /tiers/0/collectives/allreduce: unknown "
            "collective \"allreduce\"\n  note: known: all_reduce, all_gather, "
            "reduce_scatter, all_to_all, permute");
  auto algorithmError = [&](const std::string &entry) {
    return systemError("\"collectives\": {",
                       "\"algorithms\": [{\"name\": \"a\", " + entry +
                           "}], \"collectives\": {");
  };
  EXPECT_EQ(algorithmError("\"collective\": \"gather\", \"sent\": \"all\", "
                           "\"hops\": \"one\""),
            "h100-sxm-8.json: /tiers/0/algorithms/0/collective: unknown "
            "collective \"gather\"\n  note: known: all_reduce, all_gather, "
            "reduce_scatter, all_to_all, permute");
  EXPECT_EQ(algorithmError("\"collective\": \"permute\", \"sent\": \"some\", "
                           "\"hops\": \"one\""),
            "h100-sxm-8.json: /tiers/0/algorithms/0/sent: unknown \"some\"\n"
            "  note: known: all, others, to_each");
  EXPECT_EQ(algorithmError("\"collective\": \"permute\", \"sent\": \"all\", "
                           "\"hops\": \"two\""),
            "h100-sxm-8.json: /tiers/0/algorithms/0/hops: unknown \"two\"\n"
            "  note: known: one, tree, others");
  EXPECT_EQ(systemError("\"2\": {", "\"9\": {"),
            "h100-sxm-8.json: /tiers/0/collectives/all_reduce/9: expected a "
            "number of devices from 2 to 8, the tier's domain, found \"9\"");
  EXPECT_EQ(systemError("\"devices_per_node\": 8", "\"devices_per_node\": 0"),
            "h100-sxm-8.json: /devices_per_node: expected an integer from 1 "
            "to 1073741824, found 0");
}

TEST_F(ReaderTest, OtherShapes) {
  for (const char *text : {"[]", "7", "null", "{}", "{\"name\": 3}",
                           "{\"name\": \"x\", \"kernels\": []}"}) {
    std::string path = folder + "shape.json";
    ASSERT_TRUE(writeFile(path, text));
    EXPECT_FALSE(HardwareLibrary().chip(path)) << text;
    EXPECT_FALSE(HardwareLibrary().machine(path)) << text;
  }
}
