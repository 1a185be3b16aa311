//===- YamlTest.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Launch/Yaml.h"

#include "gtest/gtest.h"

using namespace autopar;
using namespace autopar::launch;
using nlohmann::ordered_json;

namespace {

TEST(Yaml, ScalarsHaveTypes) {
  Result<std::vector<YamlDocument>> documents = readYaml(
      "a: 1\nb: 0.5\nc: '1'\nd: true\ne: ~\nf: text\ng: [1, x]\n", "f");
  ASSERT_TRUE(documents);
  nlohmann::json expected = {{"a", 1},       {"b", 0.5},     {"c", "1"},
                             {"d", true},    {"e", nullptr}, {"f", "text"},
                             {"g", {1, "x"}}};
  EXPECT_EQ((*documents)[0].value, expected);
  EXPECT_EQ((*documents)[0].lineOf("/c"), 3);
}

TEST(Yaml, AliasesAndMergesAreReplaced) {
  Result<std::vector<YamlDocument>> documents =
      readYaml("x: &x {a: 1, b: 2}\ny:\n  <<: *x\n  b: 3\n---\nz\n", "f");
  ASSERT_TRUE(documents);
  ASSERT_EQ(documents->size(), 2u);
  EXPECT_EQ((*documents)[0].value["y"]["a"], 1);
  EXPECT_EQ((*documents)[1].value, "z");
}

TEST(Yaml, GrowingAliasesAreRefused) {
  std::string text = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int i = 1; i < 12; ++i) {
    std::string last = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 9; ++j)
      text += (j ? ", " : "") + last;
    text += "]\n";
  }
  Result<std::vector<YamlDocument>> documents = readYaml(text, "bomb.yaml");
  ASSERT_FALSE(documents);
  EXPECT_NE(documents.error().message.find("aliases included"),
            std::string::npos);
}

TEST(Yaml, DeepNestingAndSyntaxAreRefused) {
  EXPECT_FALSE(readYaml(std::string(5000, '['), "f"));
  Result<std::vector<YamlDocument>> open = readYaml("a: 1\nb: [", "f.yaml");
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().where.rfind("f.yaml:", 0), 0u);
  EXPECT_FALSE(readYaml("a: 1\na: 2\n", "f"));
  EXPECT_FALSE(readYaml("a: *b\n", "f"));
}

TEST(Yaml, WhatIsWrittenIsReadBack) {
  ordered_json value = {{"a", 1},      {"b", {{"c", "8"}, {"d", "two\nlines"}}},
                        {"e", {1, 2}}, {"f", {{{"g", true}}}},
                        {"h", ""},     {"i", "a: b # c"},
                        {"j", nullptr}};
  Result<std::vector<YamlDocument>> documents = readYaml(writeYaml(value), "f");
  ASSERT_TRUE(documents);
  EXPECT_EQ((*documents)[0].value, nlohmann::json(value));
}

} // namespace
