//===- DraftTensors.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DraftTensors.h"

using namespace autopar;
using namespace autopar::checkpoint;

using Words = std::vector<std::string>;

/// The last words that names of matrices and norms have in published models, by
/// their role.
static const std::map<std::string, Words> lastWords = {
    {"q", {"q_proj", "query", "wq", "q", "q_lin", "query_proj"}},
    {"k", {"k_proj", "key", "wk", "k", "k_lin", "key_proj"}},
    {"v", {"v_proj", "value", "wv", "v", "v_lin", "value_proj"}},
    {"qkv",
     {"qkv_proj", "query_key_value", "c_attn", "Wqkv", "wqkv", "qkv",
      "att_proj"}},
    {"o",
     {"o_proj", "out_proj", "wo", "attn_out", "out_lin", "c_proj", "dense",
      "proj", "o"}},
    {"q_a", {"q_a_proj", "wq_a"}},
    {"q_a_norm", {"q_a_layernorm", "q_a_norm"}},
    {"q_b", {"q_b_proj", "wq_b"}},
    {"kv_a", {"kv_a_proj_with_mqa", "kv_a_proj", "wkv_a"}},
    {"kv_a_norm", {"kv_a_layernorm", "kv_a_norm"}},
    {"kv_b", {"kv_b_proj", "wkv_b"}},
    {"q_norm", {"q_norm", "q_layernorm", "query_norm", "query_layernorm"}},
    {"k_norm", {"k_norm", "k_layernorm", "key_norm", "key_layernorm"}},
    {"gate_up", {"gate_up_proj", "gate_and_up_proj", "ff_proj"}},
    {"gate", {"gate_proj", "w1"}},
    {"up", {"up_proj", "w3", "fc1", "c_fc", "dense_h_to_4h", "fc_in", "lin1"}},
    {"down",
     {"down_proj", "w2", "fc2", "c_proj", "dense_4h_to_h", "fc_out", "ff_out",
      "lin2"}},
    {"router", {"gate", "router", "wg"}},
    {"input_norm",
     {"input_layernorm", "ln_1", "attention_norm", "attn_norm", "norm1",
      "operator_norm", "input_norm", "pre_attention_layernorm", "ln_attn"}},
    {"attention_norm", {"post_attention_norm", "post_self_attn_layernorm"}},
    {"post_norm",
     {"pre_feedforward_layernorm", "pre_mlp_layernorm", "ln_2", "ffn_norm",
      "ff_norm", "norm2", "post_attention_layernorm", "ln_mlp"}},
    {"post_norm_too", {"post_attention_layernorm"}},
    {"mlp_norm", {"post_feedforward_layernorm", "post_mlp_layernorm"}},
};

std::string autopar::checkpoint::lastOf(const std::string &name) {
  return name.substr(name.rfind('.') + 1);
}

std::string autopar::checkpoint::parentOf(const std::string &name) {
  size_t dot = name.rfind('.');
  return dot == std::string::npos ? "" : name.substr(0, dot);
}

bool autopar::checkpoint::contains(const std::string &text, const char *part) {
  return text.find(part) != std::string::npos;
}

std::string
autopar::checkpoint::formatLayers(const std::vector<int64_t> &layers) {
  constexpr size_t shown = 4;
  std::string text = layers.size() == 1 ? "layer " : "layers ";
  size_t runs = 0;
  for (size_t i = 0; i < layers.size(); ++runs) {
    size_t end = i + 1;
    while (end < layers.size() && layers[end] == layers[end - 1] + 1)
      ++end;
    if (runs == shown)
      return text + ", ...";
    text += (runs ? ", " : "") + std::to_string(layers[i]);
    if (end - i > 1)
      text += " to " + std::to_string(layers[end - 1]);
    i = end;
  }
  return text;
}

bool autopar::checkpoint::readsEncoder(const std::string &stem) {
  for (const char *word :
       {"encoder_attn", "EncDecAttention", "crossattention", "cross_attn",
        "encoder_decoder_attention", "cross_attention"})
    if (contains(stem, word))
      return true;
  return false;
}

std::string autopar::checkpoint::maskNumbers(const std::string &name) {
  std::string masked;
  for (size_t begin = 0; begin <= name.size();) {
    size_t end = std::min(name.find('.', begin), name.size());
    std::string word = name.substr(begin, end - begin);
    bool isNumber = !word.empty() &&
                    word.find_first_not_of("0123456789") == std::string::npos;
    masked += (begin ? "." : "") + (isNumber ? "N" : word);
    begin = end + 1;
  }
  return masked;
}

bool LayerTensors::isOfModel(const TensorGroup &group) const {
  return group.dtype.empty() || group.dtype == dtype ||
         group.dtype.rfind("F8_", 0) == 0;
}

std::string LayerTensors::find(const std::string &part,
                               const Accepts &accepts) const {
  for (const std::string &word : lastWords.at(part))
    for (const auto &[name, group] : groups) {
      std::string stem = lastOf(name) == "weight" ? parentOf(name) : name;
      if (!group.taken && isOfModel(group) && lastOf(stem) == word &&
          !readsEncoder(stem) && (!accepts || accepts(stem)))
        return stem;
    }
  return "";
}

bool LayerTensors::take(const std::string &stem) {
  if (stem.empty())
    return false;
  for (const std::string &name : {stem, stem + ".weight"})
    if (auto it = groups.find(name); it != groups.end())
      it->second.taken = true;
  auto bias = groups.find(stem + ".bias");
  if (bias != groups.end())
    bias->second.taken = true;
  return bias != groups.end();
}

const TensorGroup *LayerTensors::groupOf(const std::string &stem) const {
  for (const std::string &name : {stem + ".weight", stem})
    if (auto it = groups.find(name); it != groups.end())
      return &it->second;
  return nullptr;
}

int64_t LayerTensors::size(const std::string &stem, size_t dim) const {
  const TensorGroup *group = groupOf(stem);
  return group && dim < group->shape.size() ? group->shape[dim] : 0;
}

bool LayerTensors::isMatrix(const std::string &stem, int64_t rows,
                            int64_t columns) const {
  const TensorGroup *group = groupOf(stem);
  return group && group->shape == std::vector<int64_t>{rows, columns};
}
