//===- BytesTest.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/Bytes.h"

#include <gtest/gtest.h>

using namespace autopar;

using Text = std::shared_ptr<std::string>;

TEST(Bytes, WhatIsSharedIsWrittenOnce) {
  Text one = std::make_shared<std::string>("one"), other, none;
  other = std::make_shared<std::string>("other");
  ByteWriter writer;
  writer(one, other, none, one, other);
  // A number for each, and before each text its length.
  EXPECT_EQ(writer.bytes.size(), 5 + (1 + 3) + (1 + 5));
  Text read[5];
  ByteReader reader(writer.bytes);
  reader(read[0], read[1], read[2], read[3], read[4]);
  ASSERT_FALSE(reader.failed);
  EXPECT_EQ(*read[0], "one");
  EXPECT_EQ(*read[1], "other");
  EXPECT_FALSE(read[2]);
  EXPECT_EQ(read[3], read[0]);
  EXPECT_EQ(read[4], read[1]);
}

TEST(Bytes, NobodySharesWhatIsNotThere) {
  // The third of two things.
  const char bytes[] = {1, 1, 'a', 3};
  Text first, third;
  ByteReader reader({bytes, sizeof(bytes)});
  reader(first, third);
  EXPECT_TRUE(reader.failed);
  EXPECT_EQ(*first, "a");
  EXPECT_FALSE(third);
}
