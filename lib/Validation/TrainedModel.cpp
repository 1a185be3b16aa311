//===- TrainedModel.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Validation/TrainedModel.h"

#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"
#include "autopar/Support/Words.h"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace autopar;
using namespace autopar::validation;
using json = nlohmann::ordered_json;

/// GPT-2's 50,257 tokens as Megatron pads them for products.
static constexpr int64_t gptVocabulary = 51200;

static bool isCalled(const TrainingRow &row, const char *name) {
  return lower(row.model).find(name) != std::string::npos;
}

/// "the architecture has no ffn, vocab".
static std::optional<Error>
checkSizes(std::initializer_list<std::pair<const char *, bool>> stated) {
  std::vector<std::string> missing;
  for (const auto &[key, isStated] : stated)
    if (!isStated)
      missing.emplace_back(key);
  if (missing.empty())
    return std::nullopt;
  return Error{"", "the architecture has no " + join(missing, ", "), ""};
}

static Error noFamily(const std::string &what) {
  return {"", "no family has " + what, ""};
}

static json head(const char *family, const char *architecture) {
  return {{"model_type", family},
          {"architectures", {architecture}},
          {"torch_dtype", "bfloat16"}};
}

//===----------------------------------------------------------------------===//
// Families
//===----------------------------------------------------------------------===//

/// The names of LLaMA's config, which most families have.
static json common(const char *family, const char *architecture,
                   const TrainingRow &row) {
  const TrainedArchitecture &sizes = *row.architecture;
  json config = head(family, architecture);
  config["num_hidden_layers"] = *sizes.layers;
  config["hidden_size"] = *sizes.hidden;
  config["num_attention_heads"] = *sizes.heads;
  config["num_key_value_heads"] = sizes.kvHeads.value_or(*sizes.heads);
  if (sizes.headSize)
    config["head_dim"] = *sizes.headSize;
  if (sizes.width)
    config["intermediate_size"] = *sizes.width;
  config["vocab_size"] = sizes.vocabulary.value_or(gptVocabulary);
  if (row.sequenceTokens)
    config["max_position_embeddings"] = *row.sequenceTokens;
  config["tie_word_embeddings"] = false;
  return config;
}

static Result<json> withExperts(const TrainingRow &row) {
  const TrainedArchitecture &sizes = *row.architecture;
  if (sizes.latentAttention)
    return *checkSizes({{"q_lora_rank", false},
                        {"kv_lora_rank", false},
                        {"qk_nope_head_dim", false},
                        {"qk_rope_head_dim", false},
                        {"v_head_dim", false}});
  if (auto error = checkSizes({{"topk", sizes.topK.has_value()},
                               {"moe_ffn", sizes.expertWidth.has_value()}}))
    return *error;
  if (!*sizes.gated)
    return noFamily("experts without a gate");
  if (sizes.firstDense.value_or(0) > 0)
    return noFamily("dense layers before experts");
  bool isPlain = !sizes.sharedExperts && !sizes.headSize;
  json config = isPlain ? common("mixtral", "MixtralForCausalLM", row)
                : sizes.sharedExperts
                    ? common("qwen2_moe", "Qwen2MoeForCausalLM", row)
                    : common("qwen3_moe", "Qwen3MoeForCausalLM", row);
  config["num_experts_per_tok"] = *sizes.topK;
  config[isPlain ? "num_local_experts" : "num_experts"] = *sizes.experts;
  config[isPlain ? "intermediate_size" : "moe_intermediate_size"] =
      *sizes.expertWidth;
  if (isPlain)
    config["sliding_window"] = nullptr;
  if (sizes.sharedExperts)
    config["shared_expert_intermediate_size"] =
        *sizes.sharedExperts * *sizes.expertWidth;
  return config;
}

static Result<json> gpt(const TrainingRow &row) {
  const TrainedArchitecture &sizes = *row.architecture;
  if (sizes.headSize)
    return noFamily("heads of a size of their own beside two products");
  if (sizes.kvHeads && sizes.kvHeads != sizes.heads) {
    json config = common("starcoder2", "Starcoder2ForCausalLM", row);
    config["sliding_window"] = nullptr;
    return config;
  }
  json config = head("gpt2", "GPT2LMHeadModel");
  config["n_layer"] = *sizes.layers;
  config["n_embd"] = *sizes.hidden;
  config["n_head"] = *sizes.heads;
  config["n_inner"] = *sizes.width;
  config["vocab_size"] = sizes.vocabulary.value_or(gptVocabulary);
  if (row.sequenceTokens)
    config["n_positions"] = *row.sequenceTokens;
  return config;
}

static Result<json> bloom(const TrainingRow &row) {
  const TrainedArchitecture &sizes = *row.architecture;
  if (*sizes.width != 4 * *sizes.hidden)
    return noFamily("BLOOM's layers with another ffn than 4 hidden");
  json config = head("bloom", "BloomForCausalLM");
  config["n_layer"] = *sizes.layers;
  config["hidden_size"] = *sizes.hidden;
  config["n_head"] = *sizes.heads;
  config["vocab_size"] = sizes.vocabulary.value_or(gptVocabulary);
  return config;
}

static Result<json> configOf(const TrainingRow &row) {
  const TrainedArchitecture &sizes = *row.architecture;
  if (sizes.experts)
    return withExperts(row);
  if (auto error = checkSizes({{"ffn", sizes.width.has_value()}}))
    return *error;
  if (*sizes.gated)
    return common("llama", "LlamaForCausalLM", row);
  if (isCalled(row, "bloom"))
    return bloom(row);
  if (isCalled(row, "nemotron"))
    return common("nemotron", "NemotronForCausalLM", row);
  return gpt(row);
}

Result<TrainedConfig>
autopar::validation::trainedConfigOf(const TrainingRow &row) {
  if (!row.architecture)
    return Error{"", "the architecture is not stated", ""};
  const TrainedArchitecture &sizes = *row.architecture;
  if (auto error = checkSizes(
          {{"layers", sizes.layers.has_value()},
           {"hidden", sizes.hidden.has_value()},
           {"heads", sizes.heads.has_value()},
           {"gated", sizes.gated.has_value()},
           {"vocab", sizes.vocabulary || !sizes.gated.value_or(true)}}))
    return *error;
  Result<json> config = configOf(row);
  if (!config)
    return config.error();
  TrainedConfig made{config->dump(2) + "\n", {}};
  if (!sizes.vocabulary)
    made.assumed.push_back("vocabulary of " + formatInteger(gptVocabulary) +
                           " tokens, GPT-2's as Megatron pads it");
  return made;
}

//===----------------------------------------------------------------------===//
// Bundled models
//===----------------------------------------------------------------------===//

bool autopar::validation::hasSizes(const JsonDocument &config,
                                   const TrainedArchitecture &sizes) {
  JsonReader root = config.reader();
  // A model of several parts has its language model below.
  JsonReader reader =
      root.has("text_config") ? root.member("text_config") : root;
  auto is = [&](std::initializer_list<const char *> keys,
                const std::optional<int64_t> &size) {
    return !size || std::any_of(keys.begin(), keys.end(), [&](const char *key) {
      return reader.has(key) &&
             reader.integer(key, 0, limits::maxDimension) == *size;
    });
  };
  bool same =
      is({"num_hidden_layers"}, sizes.layers) &&
      is({"hidden_size"}, sizes.hidden) &&
      is({"num_attention_heads"}, sizes.heads) &&
      is({"vocab_size"}, sizes.vocabulary) &&
      is({"num_experts", "num_local_experts", "n_routed_experts"},
         sizes.experts) &&
      is({"moe_intermediate_size", "intermediate_size"}, sizes.expertWidth);
  return same && !reader.failed();
}
