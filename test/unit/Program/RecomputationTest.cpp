//===- RecomputationTest.cpp ----------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Program/Recomputation.h"

#include "gtest/gtest.h"

using namespace autopar;
using namespace autopar::program;

static std::string again(const char *text) {
  Result<Recomputation> parsed = Recomputation::parse(text);
  return parsed ? parsed->str() : parsed.error().message;
}

TEST(Recomputation, IsWrittenAsItIsRead) {
  for (const char *text :
       {"none", "auto", "selective", "norms", "norms+mlp", "save_products",
        "save_products/2", "full", "full/2", "full:8",
        "attention_core+norms+mlp_activation+mlp+experts+shared_experts+"
        "mla_up"})
    EXPECT_EQ(again(text), text);
}

TEST(Recomputation, ListsAreOrderedAndHaveEachOnce) {
  EXPECT_EQ(again("attention_core"), "selective");
  EXPECT_EQ(again("mlp,norms,mlp"), "norms+mlp");
  EXPECT_EQ(again("mlp+selective"), "attention_core+mlp");
}

TEST(Recomputation, WhatIsUnknownIsNamed) {
  for (auto [text, word] :
       {std::pair("some", "some"), std::pair("norms,moe", "moe"),
        std::pair("full:0", "full:0"), std::pair("full/1", "full/1"),
        std::pair("full:x", "full:x"), std::pair("norms,", ""),
        std::pair("", ""), std::pair("norms+full", "full"),
        std::pair("full:99999999999999999999", "full:99999999999999999999")}) {
    Result<Recomputation> parsed = Recomputation::parse(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().message, "unknown recomputation '" +
                                          std::string(word) + "', expected " +
                                          recomputationChoices());
  }
  EXPECT_NE(recomputationChoices().find("mlp_activation, mlp, experts"),
            std::string::npos);
}

TEST(Recomputation, LayersThatAreMadeAgain) {
  auto taken = [](const char *text) {
    std::string layers;
    // Two stages of four layers.
    for (int64_t i = 0; i < 8; ++i)
      layers += Recomputation::parse(text)->takesLayer(i, i % 4) ? 'x' : '.';
    return layers;
  };
  EXPECT_EQ(taken("full"), "xxxxxxxx");
  EXPECT_EQ(taken("full/2"), ".x.x.x.x");
  EXPECT_EQ(taken("full/3"), "..x..x..");
  EXPECT_EQ(taken("full:1"), "x...x...");
  EXPECT_EQ(taken("full:3"), "xxx.xxx.");
  EXPECT_EQ(taken("full:9"), "xxxxxxxx");
  EXPECT_FALSE(Recomputation::parse("full")->variesByLayer());
  EXPECT_TRUE(Recomputation::parse("full:3")->variesByLayer());
  EXPECT_FALSE(Recomputation::parse("save_products/2")->variesByLayer());
}
