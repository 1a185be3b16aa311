//===- SuggestionTest.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/Suggestion.h"

#include <gtest/gtest.h>

using namespace autopar;

using Names = std::vector<std::string>;

static const Names known = {"deepseek-r1",   "deepseek-v3", "llama-2-13b",
                            "llama-3.3-70b", "qwen3-32b",   "qwen3-30b-a3b"};

TEST(SuggestionTest, TakesNamesThatHaveAllWords) {
  EXPECT_EQ(suggestions("llama-70b", known), Names({"llama-3.3-70b"}));
  EXPECT_EQ(suggestions("Llama 70B", known), Names({"llama-3.3-70b"}));
  EXPECT_EQ(suggestions("deepseek", known),
            Names({"deepseek-r1", "deepseek-v3"}));
}

TEST(SuggestionTest, TakesTheNameWithMostOfTheWords) {
  EXPECT_EQ(suggestions("qwen3-32b-instruct", known), Names({"qwen3-32b"}));
}

TEST(SuggestionTest, TakesTheNearestNameElse) {
  EXPECT_EQ(suggestions("lama-3.3-70b", known), Names({"llama-3.3-70b"}));
  EXPECT_EQ(suggestions("toaster", known), Names());
  EXPECT_EQ(suggestions("", known), Names());
}

TEST(SuggestionTest, NamesFourAtMost) {
  EXPECT_EQ(didYouMean({}), "");
  EXPECT_EQ(didYouMean({"a"}), ", did you mean \"a\"?");
  EXPECT_EQ(didYouMean({"a", "b"}), ", did you mean \"a\" or \"b\"?");
  EXPECT_EQ(didYouMean({"a", "b", "c"}),
            ", did you mean \"a\", \"b\" or \"c\"?");
  EXPECT_EQ(didYouMean({"a", "b", "c", "d", "e", "f"}),
            ", did you mean \"a\", \"b\", \"c\", \"d\" or one of 2 more?");
}
