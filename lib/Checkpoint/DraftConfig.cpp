//===- DraftConfig.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DraftConfig.h"

#include <functional>
#include <map>

using namespace autopar;
using namespace autopar::checkpoint;

using Words = std::vector<std::string>;

static const std::map<std::string, Words> configKeys = {
    {"hidden_size",
     {"hidden_size", "n_embd", "d_model", "dim", "n_embed", "embed_dim"}},
    {"vocab_size", {"vocab_size", "padded_vocab_size"}},
    {"num_hidden_layers",
     {"num_hidden_layers", "n_layer", "n_layers", "num_layers",
      "decoder_layers", "num_decoder_layers", "layers"}},
    {"num_attention_heads",
     {"num_attention_heads", "n_head", "n_heads", "num_heads",
      "decoder_attention_heads", "attention_heads"}},
    {"num_key_value_heads",
     {"num_key_value_heads", "n_head_kv", "n_kv_heads", "num_kv_heads"}},
    {"head_dim", {"head_dim", "kv_channels", "d_kv"}},
    {"intermediate_size",
     {"intermediate_size", "ffn_hidden_size", "ffn_dim", "d_ff", "n_inner",
      "hidden_dim", "decoder_ffn_dim"}},
    {"rms_norm_eps",
     {"rms_norm_eps", "layer_norm_eps", "norm_eps", "layernorm_epsilon",
      "layer_norm_epsilon", "norm_epsilon"}},
    {"hidden_act", {"hidden_act", "hidden_activation", "activation_function"}},
    {"num_experts",
     {"num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts",
      "num_routed_experts"}},
    {"num_experts_per_tok",
     {"num_experts_per_tok", "moe_topk", "moe_top_k", "experts_per_token",
      "moe_k", "num_experts_per_token", "top_k_experts", "router_topk"}},
    {"moe_intermediate_size",
     {"moe_intermediate_size", "expert_dim", "intermediate_size",
      "moe_ffn_hidden_size", "expert_ffn_hidden_size"}},
    {"q_lora_rank", {"q_lora_rank"}},
    {"kv_lora_rank", {"kv_lora_rank"}},
    {"qk_nope_head_dim", {"qk_nope_head_dim"}},
    {"qk_rope_head_dim", {"qk_rope_head_dim"}},
    {"v_head_dim", {"v_head_dim"}},
    {"rope_theta", {"rope_theta", "rope_parameters.rope_theta"}},
    {"rope_scaling",
     {"rope_scaling.rope_type", "rope_scaling.type",
      "rope_parameters.rope_type"}},
    {"rope_factor", {"rope_scaling.factor", "rope_parameters.factor"}},
};

std::vector<std::string> autopar::checkpoint::draftFields() {
  std::vector<std::string> fields;
  for (const auto &entry : configKeys)
    fields.push_back(entry.first);
  return fields;
}

/// Returns the value at `path`, in which dots separate keys; null if there is
/// none.
static const nlohmann::json *lookUp(const nlohmann::json &config,
                                    const std::string &path) {
  const nlohmann::json *at = &config;
  for (size_t begin = 0; begin <= path.size();) {
    size_t end = std::min(path.find('.', begin), path.size());
    auto found =
        at->is_object() ? at->find(path.substr(begin, end - begin)) : at->end();
    if (!at->is_object() || found == at->end())
      return nullptr;
    at = &*found;
    begin = end + 1;
  }
  return at;
}

/// The objects inside a config that describe a part of each layer.
static const Words layerConfigs = {"", "ffn_config.", "attn_config.",
                                   "moe_config."};

static std::string firstKey(const nlohmann::json &config,
                            const std::string &path, const std::string &field) {
  for (const std::string &inner : layerConfigs)
    for (const std::string &key : configKeys.at(field))
      if (const nlohmann::json *value = lookUp(config, path + inner + key);
          value && !value->is_null())
        return path + inner + key;
  return "";
}

static std::optional<int64_t> numberAt(const nlohmann::json &config,
                                       const std::string &path,
                                       const std::string &field) {
  std::string key = firstKey(config, path, field);
  const nlohmann::json *value = key.empty() ? nullptr : lookUp(config, key);
  if (!value || !value->is_number_integer())
    return std::nullopt;
  return value->get<int64_t>();
}

/// Calls `visit` with "" and then with the paths of all objects in the config,
/// outer ones first, until it returns true.
static bool
visitConfigs(const nlohmann::json &config, const std::string &path,
             const std::function<bool(const std::string &)> &visit) {
  if (visit(path))
    return true;
  for (auto it = config.begin(); it != config.end(); ++it)
    if (it->is_object() && visitConfigs(*it, path + it.key() + ".", visit))
      return true;
  return false;
}

/// Whether a path leads to the config of an image or audio encoder.
static bool describesTower(const std::string &path) {
  for (const char *word : {"vision", "audio", "encoder", "speech", "image"})
    if (path.find(word) != std::string::npos)
      return true;
  return false;
}

void DraftConfig::enterTextOf(int64_t hidden, int64_t rows) {
  auto enter = [&](bool hasRows, bool hasLayers) {
    return visitConfigs(root, "", [&](const std::string &candidate) {
      bool fits =
          !describesTower(candidate) &&
          numberAt(root, candidate, "hidden_size") == hidden &&
          (!hasLayers || numberAt(root, candidate, "num_hidden_layers")) &&
          (!hasRows || numberAt(root, candidate, "vocab_size") == rows);
      if (fits)
        path = candidate;
      return fits;
    });
  };
  if (!enter(/*hasRows=*/true, /*hasLayers=*/false) &&
      !enter(/*hasRows=*/false, /*hasLayers=*/true))
    enter(/*hasRows=*/false, /*hasLayers=*/false);
}

std::optional<int64_t>
DraftConfig::numberAnywhere(const std::string &field) const {
  std::optional<int64_t> found;
  visitConfigs(root, "", [&](const std::string &candidate) {
    found = numberAt(root, candidate, field);
    return found.has_value();
  });
  return found;
}

std::optional<int64_t> DraftConfig::number(const std::string &field) const {
  return numberAt(root, path, field);
}

std::string DraftConfig::keyOf(const std::string &field) const {
  return firstKey(root, path, field);
}

const nlohmann::json *DraftConfig::find(const std::string &field) const {
  std::string key = keyOf(field);
  return key.empty() ? nullptr : lookUp(root, key);
}
