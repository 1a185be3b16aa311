//===- BundleTest.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Manifest.h"
#include "Zip.h"

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::bundle;

/// The example of FIPS 180-4.
TEST(Bundle, HashesAsOthersDo) {
  EXPECT_EQ(hashOf("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Bundle, NamesStayWhereTheyAre) {
  for (const char *name : {"a", "a/b.json", "hardware/chips/h100-sxm.json",
                           "files/0-my_node+1.json"})
    EXPECT_TRUE(isPlainName(name)) << name;
  for (const char *name :
       {"", "/", "/a", "a/", "a//b", "..", "../a", "a/../b", "./a", ".a",
        "a\\b", "a b", "c:a", "a\n", "\xc3\xa4"})
    EXPECT_FALSE(isPlainName(name)) << name;
}

TEST(Bundle, ComesBackFromItsZip) {
  Entries entries = {{"a/b.json", "{}"}, {"c", std::string(100000, 'x') + "y"}};
  entries["empty"] = "";
  for (int i = 0; i < 30000; ++i)
    entries["c"] += std::to_string(i * 7919 % 30011);
  Result<std::string> bytes = packZip(entries), again = packZip(entries);
  ASSERT_TRUE(bytes) << bytes.error().str();
  EXPECT_EQ(*bytes, *again);
  Result<Entries> unpacked = unpackZip(*bytes, "x.zip");
  ASSERT_TRUE(unpacked) << unpacked.error().str();
  EXPECT_EQ(*unpacked, entries);
}

TEST(Bundle, RefusesWhatIsPackedTooWell) {
  Result<std::string> bytes = packZip({{"a", std::string(1 << 20, 'x')}});
  ASSERT_TRUE(bytes);
  Result<Entries> entries = unpackZip(*bytes, "x.zip");
  ASSERT_FALSE(entries);
  EXPECT_EQ(entries.error().where, "x.zip: entry \"a\"");
  EXPECT_EQ(entries.error().message,
            "is packed to less than 1/200 of its 1,048,576 bytes");
}

/// Each byte of a zip: what does not stop it must not change it.
TEST(Bundle, NoticesDamage) {
  Entries entries = {{"a", "some text"}, {"b", "another text"}};
  Result<std::string> bytes = packZip(entries);
  ASSERT_TRUE(bytes);
  for (size_t i = 0; i < bytes->size(); ++i) {
    std::string damaged = *bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x15);
    Result<Entries> unpacked = unpackZip(damaged, "x.zip");
    if (unpacked)
      for (const auto &[name, text] : *unpacked)
        EXPECT_TRUE(text == "some text" || text == "another text") << i;
  }
  for (size_t size = 1; size < bytes->size(); ++size)
    EXPECT_FALSE(unpackZip(bytes->substr(0, size), "x.zip")) << size;
}
