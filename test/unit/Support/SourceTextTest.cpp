//===- SourceTextTest.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/SourceText.h"

#include "gtest/gtest.h"

using namespace autopar;

static std::string check(const std::string &text) {
  std::optional<Error> error = checkSourceText(text, "a.mlir");
  return error ? error->str() : "";
}

static std::string times(size_t count, const std::string &text) {
  std::string all;
  for (size_t i = 0; i < count; ++i)
    all += text;
  return all;
}

static std::string chain(size_t count, const std::string &before,
                         const std::string &after) {
  std::string text = "#a0 = 1 : i64\n";
  for (size_t i = 1; i < count; ++i)
    text += "#a" + std::to_string(i) + " =" + before + "#a" +
            std::to_string(i - 1) + after + "\n";
  return text;
}

TEST(SourceText, TakesWhatIsWithinTheBounds) {
  EXPECT_EQ(check(times(256, "[") + times(256, "]")), "");
  EXPECT_EQ(check("a = 1 - -1 -> -> ->" + times(300, " -1")), "");
  EXPECT_EQ(check("affine_map<(d0) -> (d0" + times(1000, " + 1") + ")>"), "");
  // Operators elsewhere are none of an affine map.
  EXPECT_EQ(check("affine_map<(d0) -> (d0)> " + times(5000, "+ ")), "");
  EXPECT_EQ(check(times(4096, "7")), "");
  EXPECT_EQ(check("\"" + times(5000, "7[") + "\""), "");
  // Long is what is written, and what aliases make of it.
  EXPECT_EQ(check("#a = dense<[" + times(2'000'000, "1,\n") + "1]>\n#b = [#a]"),
            "a.mlir:2000002:7: aliases stand for more than 1048576 tokens in "
            "another");
  EXPECT_EQ(check("#a = dense<[" + times(200'000, "1,") + "1]>\n#b = [#a]"),
            "");
  EXPECT_EQ(check(chain(250, " [", "]")), "");
  // Ops after the last definition are not part of it.
  EXPECT_EQ(check("!t = tensor<4xf32>\n" + times(100'000, "x.y : !t\n")), "");
}

TEST(SourceText, NamesThePlaceOfWhatIsNot) {
  EXPECT_EQ(check("\n  " + times(257, "[")),
            "a.mlir:2:259: brackets are nested deeper than 256 levels");
  EXPECT_EQ(check(times(257, "-")),
            "a.mlir:1:257: signs are nested deeper than 256 levels");
  EXPECT_EQ(check("affine_map<(d0) -> (d0" + times(1001, "-1") + ")>"),
            "a.mlir:1:2023: an affine expression has more than 1000 operators");
  EXPECT_EQ(check("x 0x" + times(4096, "f")),
            "a.mlir:1:3: a number has 4098 digits, expected at most 4096");
  for (const char *before : {" [", " [\n", "\n[", " // a\n ["})
    EXPECT_NE(check(chain(300, before, "]"))
                  .find("aliases are nested deeper than 256 levels"),
              std::string::npos)
        << before;
}

/// MLIR's parser crashes on the two numbers that its table marks empty places
/// with.
TEST(SourceText, RefusesNumbersOfDistinctThatMLIRKeeps) {
  for (const char *text :
       {"distinct[18446744073709551615]<1>",
        "distinct [\n18446744073709551614]", "distinct[0xFFFFFFFFFFFFFFFF]<[]>",
        "distinct[018446744073709551615]"})
    EXPECT_NE(check(text).find("a distinct attribute has a number above"),
              std::string::npos)
        << text;
  for (const char *text : {"distinct[18446744073709551613]<1>", "distinct[0]",
                           "distinct[0x10]", "distinct<18446744073709551615>"})
    EXPECT_EQ(check(text), "") << text;
}

TEST(SourceText, KnowsWhatTakesMemoryAsItSays) {
  EXPECT_EQ(check("x : tensor<4x?x4096xi4096> : 2xui8, %i99999 @i99999"), "");
  for (const char *type : {"i4097", "4x?xsi99999999999999999999", "8xui5000"})
    EXPECT_NE(check(type).find("an integer type has more than 4096 bits"),
              std::string::npos)
        << type;
  EXPECT_EQ(check("%x#4194304"), "");
  EXPECT_EQ(check("%x#4194304, %x#1"),
            "a.mlir:1:16: numbers of results add up to more than 4194304");
  EXPECT_EQ(check("array<i64: 1>, %array, array < f32: 2>"), "");
  for (const char *array : {"array<index: 1>", "array <\n!a: 1>"})
    EXPECT_NE(check(array).find("an array has a type of elements"),
              std::string::npos)
        << array;
}

TEST(SourceText, KnowsResources) {
  auto resource = [](const char *text) {
    return check(std::string("\"0x00000000\" {-# dialect_resources: {x: \"") +
                 text + "\"} #-}");
  };
  EXPECT_EQ(resource("0x08000000FF"), "");
  EXPECT_EQ(resource("0x00100000FF"), "");
  EXPECT_EQ(
      resource("0x00000000FF"),
      "a.mlir:1:41: a resource has an alignment of 0, expected 1 to 4096");
  EXPECT_NE(resource("0x00200000"), "");
  EXPECT_NE(resource("0x00000080"), "");
}

TEST(SourceText, CountsWhatIsLong) {
  EXPECT_EQ(check(times(500'000, "x\n")), "");
  EXPECT_EQ(check(times(2'000'000, "1,\n")), "");
  EXPECT_EQ(check(times(524'289, "x\n")),
            "a.mlir:524289:1: there are more than 524288 words, signs, "
            "brackets and strings");
  EXPECT_EQ(check("a\n" + std::string(1'048'577, ' ')),
            "a.mlir:2:1: a line is longer than 1048576 bytes");
  EXPECT_EQ(check("affine_map<(" + times(256, "d,") + ") -> (d)> d d"), "");
  EXPECT_EQ(check("affine_map<(" + times(257, "d,") + ") -> (d)>"),
            "a.mlir:1:525: an affine map or set has more than 256 dimensions "
            "and symbols");
  // Locations are used before they are defined.
  std::string location = "#l = loc(fused[" + times(10'000, "x\n") + "])\n";
  EXPECT_EQ(check(times(100, "loc(#l)\n") + location), "");
  EXPECT_NE(check(times(2'000, "loc(#l)\n") + location)
                .find("aliases stand for more than 16777216 tokens in all"),
            std::string::npos);
}

TEST(SourceText, CountsAliasesThroughArrows) {
  std::string types = "!a0 = i1\n";
  for (int i = 1; i < 300; ++i)
    types += "!a" + std::to_string(i) + " = ()\n-> !a" + std::to_string(i - 1) +
             "\n";
  EXPECT_NE(check(types).find("aliases are nested deeper"), std::string::npos);
}
