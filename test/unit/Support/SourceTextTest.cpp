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
  EXPECT_EQ(check("#a = dense<[" + times(2'000'000, "1,") + "1]>\n#b = [#a]"),
            "a.mlir:2:7: aliases stand for more than 1048576 tokens in "
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

TEST(SourceText, CountsAliasesThroughArrows) {
  std::string types = "!a0 = i1\n";
  for (int i = 1; i < 300; ++i)
    types += "!a" + std::to_string(i) + " = ()\n-> !a" + std::to_string(i - 1) +
             "\n";
  EXPECT_NE(check(types).find("aliases are nested deeper"), std::string::npos);
}
