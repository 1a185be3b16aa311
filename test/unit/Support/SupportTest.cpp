//===- SupportTest.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/Checked.h"
#include "autopar/Support/ElementType.h"
#include "autopar/Support/Text.h"

#include <gtest/gtest.h>

using namespace autopar;

TEST(Checked, RemembersOverflow) {
  Checked large = INT64_MAX;
  EXPECT_EQ(large.int64(), INT64_MAX);
  EXPECT_FALSE((large + 1).int64());
  EXPECT_TRUE((large + 1).valid());
  EXPECT_EQ((large * large - large * large + 5).int64(), 5);
  Checked over = large * large * large;
  EXPECT_FALSE(over.valid());
  EXPECT_FALSE((over - over).int64());
  EXPECT_FALSE(floorDiv(over, 2).int64());
  EXPECT_FALSE(ceilDiv(1, over).int64());
  EXPECT_EQ((Checked(0) - INT64_MAX - 1).int64(), INT64_MIN);
}

TEST(Checked, PrintsAllDigits) {
  EXPECT_EQ(Checked(0).str(), "0");
  EXPECT_EQ(Checked(-120).str(), "-120");
  EXPECT_EQ(Checked(INT64_MIN).str(), "-9223372036854775808");
  Checked large = INT64_MAX;
  EXPECT_EQ((large * 1000).str(), "9223372036854775807000");
  // The least and the largest of 128 bits.
  Checked least = (Checked(INT64_MIN) * INT64_MIN) * -2;
  EXPECT_EQ(least.str(), "-170141183460469231731687303715884105728");
  EXPECT_EQ((Checked(-1) - least).str(),
            "170141183460469231731687303715884105727");
  EXPECT_EQ((large * large * large).str(), "overflow");
}

TEST(Checked, Divides) {
  EXPECT_EQ(floorDiv(Checked(7), 2).int64(), 3);
  EXPECT_EQ(floorDiv(Checked(-7), 2).int64(), -4);
  EXPECT_EQ(ceilDiv(Checked(7), 2).int64(), 4);
  EXPECT_EQ(ceilDiv(Checked(-7), 2).int64(), -3);
  EXPECT_EQ(ceilDiv(Checked(8), 2).int64(), 4);
  EXPECT_EQ(roundUp(Checked(100), 64).int64(), 128);
  EXPECT_EQ(roundUp(Checked(128), 64).int64(), 128);
  EXPECT_EQ(roundUp(Checked(0), 64).int64(), 0);
}

TEST(ElementType, HasSizesAndNames) {
  EXPECT_EQ(bitsOf(ElementType::bf16), 16);
  EXPECT_EQ(bitsOf(ElementType::fp8_e5m2), 8);
  EXPECT_EQ(parseElementType("torch.bfloat16"), ElementType::bf16);
  EXPECT_FALSE(parseElementType("bf17"));
  for (ElementType type :
       {ElementType::f32, ElementType::bf16, ElementType::f16,
        ElementType::fp8_e4m3, ElementType::fp8_e5m2})
    EXPECT_EQ(parseElementType(nameOf(type)), type);
}

TEST(Text, Formats) {
  EXPECT_EQ(formatInteger(70'553'706'496), "70,553,706,496");
  EXPECT_EQ(formatInteger(-1234), "-1,234");
  EXPECT_EQ(formatInteger(999), "999");
  EXPECT_EQ(formatBytes(17'640'734'720), "16.43 GiB");
  EXPECT_EQ(formatInteger(Checked(INT64_MAX) * 10),
            "92,233,720,368,547,758,070");
  EXPECT_EQ(formatBytes(1023), "1023 B");
  EXPECT_EQ(formatTime(5212.5), "5.21 ms");
  EXPECT_EQ(formatTime(1.5), "1.50 us");
  EXPECT_EQ(formatTime(2.5e6), "2.50 s");
  EXPECT_EQ(formatNumber(0.1), "0.1");
  EXPECT_EQ(formatNumber(1.0 / 3), "0.3333333333333333");
}

TEST(Text, FindsTheNearest) {
  EXPECT_EQ(nearest("lama", {"llama", "mistral"}), "llama");
  EXPECT_EQ(nearest("zebra", {"llama", "mistral"}), "");
  EXPECT_EQ(shorten(std::string(100, 'a')), std::string(60, 'a') + "...");
  EXPECT_EQ(shorten("a\nb"), "a?b");
}

/// llama.cpp's ggml-common.h: 34 bytes hold 32 values of q8_0, 18 those of
/// q4_0. Blocks are formats of caches alone.
TEST(ElementType, KnowsBlocks) {
  struct {
    const char *name;
    int64_t values, bytes;
  } rows[] = {{"q8_0", 32, 34}, {"q5_1", 32, 24}, {"q5_0", 32, 22},
              {"q4_1", 32, 20}, {"q4_0", 32, 18}, {"iq4_nl", 32, 18},
              {"nvfp4", 16, 9}};
  for (const auto &row : rows) {
    std::optional<ElementType> type = parseCacheFormat(row.name);
    ASSERT_TRUE(type) << row.name;
    EXPECT_EQ(nameOf(*type), row.name);
    std::optional<BlockSize> block = blockOf(*type);
    ASSERT_TRUE(block) << row.name;
    EXPECT_EQ(block->values, row.values);
    EXPECT_EQ(block->bytes, row.bytes);
    EXPECT_GE(bitsOf(*type) * block->values, block->bytes * 8);
    EXPECT_FALSE(parseElementType(row.name));
  }
  EXPECT_EQ(parseCacheFormat("fp8"), ElementType::fp8_e4m3);
  EXPECT_FALSE(blockOf(ElementType::fp8_e4m3));
  EXPECT_FALSE(parseSafetensorsName("Q8_0"));
  EXPECT_FALSE(parseSafetensorsName(""));
}
