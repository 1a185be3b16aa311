//===- TrainedModelTest.cpp - Configs of models by their sizes ------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"

#include "autopar/Validation/TrainedModel.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

using namespace autopar;
using namespace autopar::validation;
using namespace autopar::test;

namespace {

/// The config of a row of that name and with these sizes; what is wrong as
/// {"error": ...}.
nlohmann::json config(const std::string &model, const std::string &sizes) {
  Result<TrainedConfig> made = trainedConfigOf(
      plainTraining("\"model\": \"" + model +
                    "\", \"arch\": {\"layers\": 2, \"hidden\": 64, "
                    "\"heads\": 4, " +
                    sizes + "}"));
  if (!made)
    return {{"error", made.error().message}};
  return nlohmann::json::parse(made->json);
}

} // namespace

TEST(TrainedModel, FamiliesOfDenseModels) {
  nlohmann::json llama = config(
      "LLaMA", R"("kv_heads": 2, "ffn": 128, "gated": true, "vocab": 1000)");
  EXPECT_EQ(llama["model_type"], "llama");
  EXPECT_EQ(llama["num_key_value_heads"], 2);
  EXPECT_EQ(llama["intermediate_size"], 128);
  EXPECT_EQ(llama["tie_word_embeddings"], false);
  nlohmann::json gpt =
      config("GPT", R"("ffn": 256, "gated": false, "vocab": 1000)");
  EXPECT_EQ(gpt["model_type"], "gpt2");
  EXPECT_EQ(gpt["n_inner"], 256);
  EXPECT_EQ(gpt["n_positions"], 2048);
  EXPECT_EQ(config("BLOOM-x", R"("ffn": 256, "gated": false,
                                 "vocab": 1000)")["model_type"],
            "bloom");
  EXPECT_EQ(config("Nemotron4-15B", R"("kv_heads": 2, "ffn": 256,
                       "gated": false, "vocab": 1000)")["model_type"],
            "nemotron");
  EXPECT_EQ(config("Falcon", R"("kv_heads": 2, "ffn": 256, "gated": false,
                                "vocab": 1000)")["model_type"],
            "starcoder2");
}

TEST(TrainedModel, FamiliesWithExperts) {
  std::string experts = R"("moe_ffn": 96, "experts": 8, "topk": 2,
                           "gated": true, "vocab": 1000)";
  nlohmann::json mixtral = config("Grok", experts);
  EXPECT_EQ(mixtral["model_type"], "mixtral");
  EXPECT_EQ(mixtral["intermediate_size"], 96);
  nlohmann::json qwen = config("Qwen", experts + R"(, "head_dim": 32)");
  EXPECT_EQ(qwen["model_type"], "qwen3_moe");
  EXPECT_EQ(qwen["moe_intermediate_size"], 96);
  nlohmann::json shared = config("MoE", experts + R"(, "shared_experts": 2)");
  EXPECT_EQ(shared["model_type"], "qwen2_moe");
  EXPECT_EQ(shared["shared_expert_intermediate_size"], 192);
}

TEST(TrainedModel, SizesThatAreMissing) {
  EXPECT_EQ(config("GPT", R"("vocab": 1000)")["error"],
            "the architecture has no gated");
  EXPECT_EQ(config("GPT", R"("gated": true)")["error"],
            "the architecture has no vocab");
  EXPECT_EQ(config("GPT", R"("gated": false)")["error"],
            "the architecture has no ffn");
  EXPECT_EQ(config("DeepSeek", R"("mla": true, "experts": 8, "gated": true,
                                  "vocab": 1000)")["error"],
            "the architecture has no q_lora_rank, kv_lora_rank, "
            "qk_nope_head_dim, qk_rope_head_dim, v_head_dim");
  EXPECT_EQ(config("M", R"("experts": 8, "topk": 2, "moe_ffn": 8,
                           "gated": false, "vocab": 1000)")["error"],
            "no family has experts without a gate");
  Result<TrainedConfig> gpt = trainedConfigOf(plainTraining(
      R"("arch": {"layers": 2, "hidden": 64, "heads": 4, "ffn": 256,
                  "gated": false})"));
  ASSERT_TRUE(gpt);
  ASSERT_EQ(gpt->assumed.size(), 1u);
  EXPECT_EQ(gpt->assumed[0],
            "vocabulary of 51,200 tokens, GPT-2's as Megatron pads it");
}

TEST(TrainedModel, BundledModelsOfOtherSizes) {
  TrainedArchitecture sizes;
  sizes.layers = 80;
  sizes.hidden = 8192;
  auto is = [&](const char *text) {
    return hasSizes(*JsonDocument::parse(text, "c.json"), sizes);
  };
  EXPECT_TRUE(is(R"({"num_hidden_layers": 80, "hidden_size": 8192})"));
  EXPECT_FALSE(is(R"({"num_hidden_layers": 40, "hidden_size": 8192})"));
  EXPECT_FALSE(is(R"({"num_hidden_layers": 80})"));
  EXPECT_FALSE(is(R"({"num_hidden_layers": "80", "hidden_size": 8192})"));
  EXPECT_TRUE(is(R"({"text_config": {"num_hidden_layers": 80,
                                     "hidden_size": 8192}})"));
  sizes.experts = 8;
  EXPECT_FALSE(is(R"({"num_hidden_layers": 80, "hidden_size": 8192})"));
  EXPECT_TRUE(is(R"({"num_hidden_layers": 80, "hidden_size": 8192,
                     "num_local_experts": 8})"));
}
