//===- DraftFamily.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Checkpoint/DraftFamily.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>

using namespace autopar;
using namespace autopar::checkpoint;

using Json = nlohmann::ordered_json;
using Words = std::vector<std::string>;

/// The last words of names that products and norms have, and config keys, in
/// published models.
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
    {"mlp_norm", {"post_feedforward_layernorm", "post_mlp_layernorm"}},
};
static const std::map<std::string, Words> configKeys = {
    {"hidden_size", {"hidden_size", "n_embd", "d_model", "dim", "n_embed"}},
    {"vocab_size", {"vocab_size", "padded_vocab_size"}},
    {"num_hidden_layers",
     {"num_hidden_layers", "n_layer", "n_layers", "num_layers"}},
    {"num_attention_heads",
     {"num_attention_heads", "n_head", "n_heads", "num_heads"}},
    {"num_key_value_heads",
     {"num_key_value_heads", "n_head_kv", "n_kv_heads", "num_kv_heads"}},
    {"head_dim", {"head_dim", "kv_channels"}},
    {"intermediate_size",
     {"intermediate_size", "ffn_hidden_size", "ffn_dim", "d_ff", "n_inner",
      "hidden_dim"}},
    {"rms_norm_eps",
     {"rms_norm_eps", "layer_norm_eps", "norm_eps", "layernorm_epsilon",
      "layer_norm_epsilon", "norm_epsilon"}},
    {"hidden_act", {"hidden_act", "hidden_activation", "activation_function"}},
    {"num_experts",
     {"num_experts", "num_local_experts", "n_routed_experts",
      "moe_num_experts"}},
    {"num_experts_per_tok",
     {"num_experts_per_tok", "moe_topk", "moe_top_k", "experts_per_token",
      "moe_k"}},
    {"moe_intermediate_size",
     {"moe_intermediate_size", "expert_dim", "intermediate_size"}},
};

static std::string lastOf(const std::string &name) {
  return name.substr(name.rfind('.') + 1);
}
static std::string parentOf(const std::string &name) {
  size_t dot = name.rfind('.');
  return dot == std::string::npos ? "" : name.substr(0, dot);
}
static bool isNumber(const std::string &word) {
  return !word.empty() &&
         word.find_first_not_of("0123456789") == std::string::npos;
}
static bool contains(const std::string &text, const char *part) {
  return text.find(part) != std::string::npos;
}

namespace {

/// Tensors that differ in the layer alone, or in the layer and the expert.
struct Group {
  std::vector<int64_t> shape;
  std::set<int64_t> layers, experts;
  bool taken = false;
};

class Drafter {
public:
  Drafter(const JsonDocument &config, const CheckpointIndex &checkpoint)
      : config(config.toJson()) {
    sort(checkpoint);
  }

  Result<DraftedFamily> run(const std::string &file) {
    if (!config.is_object())
      return Error{file, "expected an object", ""};
    if (inner.empty())
      return Error{"", "no tensor of the checkpoint is in a numbered layer",
                   "names are expected to be like model.layers.0.mlp.up"};
    draftTokens();
    draftAttention();
    draftExperts();
    draftFeedForward();
    draftNorms();
    draftFields();
    return finish();
  }

private:
  //===--------------------------------------------------------------------===//
  // Names
  //===--------------------------------------------------------------------===//

  /// Splits names into those of the deepest stack of layers and others.
  void sort(const CheckpointIndex &checkpoint) {
    struct Split {
      std::string prefix, rest;
      int64_t layer = 0;
    };
    auto split = [](const std::string &name) -> Split {
      for (size_t at = 0; (at = name.find('.', at)) != std::string::npos;) {
        size_t end = name.find('.', ++at);
        std::string word = name.substr(at, end - at);
        if (end != std::string::npos && isNumber(word) && word.size() < 6)
          return {name.substr(0, at - 1), name.substr(end + 1),
                  std::stoll(word)};
      }
      return {};
    };
    std::map<std::string, size_t> counts;
    for (const CheckpointTensor &tensor : checkpoint.tensors)
      if (Split parts = split(tensor.name); !parts.rest.empty())
        ++counts[parts.prefix];
    for (const auto &[name, count] : counts)
      if (prefix.empty() || count > counts[prefix])
        prefix = name;
    for (const CheckpointTensor &tensor : checkpoint.tensors) {
      Split parts = split(tensor.name);
      if (parts.rest.empty() || parts.prefix != prefix) {
        outer[tensor.name].shape = tensor.shape;
        continue;
      }
      int64_t expert = -1;
      std::string name = parts.rest;
      if (size_t at = name.find("experts."); at != std::string::npos) {
        size_t start = at + 8, end = name.find('.', start);
        std::string word = name.substr(start, end - start);
        if (end != std::string::npos && isNumber(word) && word.size() < 6) {
          expert = std::stoll(word);
          name = name.substr(0, start) + "*" + name.substr(end);
        }
      }
      Group &group = inner[name];
      group.shape = tensor.shape;
      group.layers.insert(parts.layer);
      if (expert >= 0)
        group.experts.insert(expert);
      layers = std::max(layers, parts.layer + 1);
    }
  }

  /// The stem of the tensor whose last word the part has, in order of the
  /// words, where `accepts` its stem; "" where there is none.
  template <typename Accepts>
  std::string find(const std::string &part, Accepts accepts) {
    for (const std::string &word : lastWords.at(part))
      for (auto &[name, group] : inner) {
        bool isWeight = lastOf(name) == "weight";
        std::string stem = isWeight ? parentOf(name) : name;
        if (!group.taken && lastOf(stem) == word && accepts(stem))
          return stem;
      }
    return "";
  }

  /// Marks a stem's tensors as described; whether it has a bias.
  bool take(const std::string &stem) {
    for (const std::string &name : {stem, stem + ".weight"})
      if (auto it = inner.find(name); it != inner.end())
        it->second.taken = true;
    auto bias = inner.find(stem + ".bias");
    if (bias != inner.end())
      bias->second.taken = true;
    return bias != inner.end();
  }

  const Group *groupOf(const std::string &stem) const {
    for (const std::string &name : {stem + ".weight", stem})
      if (auto it = inner.find(name); it != inner.end())
        return &it->second;
    return nullptr;
  }

  /// A block that some layers have alone gets a condition.
  void restrict(Json &block, const std::string &name, const std::string &stem) {
    const Group *group = groupOf(stem);
    if (!group || int64_t(group->layers.size()) == layers)
      return;
    int64_t first = *group->layers.begin(), last = *group->layers.rbegin();
    std::string condition;
    if (last - first + 1 == int64_t(group->layers.size()) &&
        (first == 0 || last + 1 == layers)) {
      condition = first ? "i >= " + std::to_string(first)
                        : "i < " + std::to_string(last + 1);
    } else {
      for (int64_t layer : group->layers)
        condition +=
            (condition.empty() ? "i in [" : ", ") + std::to_string(layer);
      condition += "]";
    }
    variables["has_" + name] = condition;
    block["when"] = "has_" + name;
    guess("which layers have " + stem + ": by their numbers, " + condition);
  }

  void guess(std::string text) { draft.guesses.push_back(std::move(text)); }

  /// A number of the config, by any of the keys that a field has.
  std::optional<int64_t> number(const std::string &field) const {
    for (const std::string &key : configKeys.at(field))
      if (auto it = config.find(key);
          it != config.end() && it->is_number_integer())
        return it->get<int64_t>();
    return std::nullopt;
  }

  /// A dimension of a tensor; 0 where only its name is known.
  int64_t sizeOf(const std::string &stem, size_t dim) const {
    const Group *group = groupOf(stem);
    return group && dim < group->shape.size() ? group->shape[dim] : 0;
  }

  //===--------------------------------------------------------------------===//
  // Blocks
  //===--------------------------------------------------------------------===//

  void draftTokens() {
    std::string embedding, head, norm;
    for (auto &[name, group] : outer) {
      std::string stem = parentOf(name);
      bool isMatrix = group.shape.empty() || group.shape.size() == 2;
      bool isHead = contains(name, "head") || contains(name, "embed_out") ||
                    stem == "output";
      if (lastOf(name) == "weight" && isMatrix && isHead)
        head = name;
      else if (isMatrix && embedding.empty() &&
               (contains(name, "tok") || contains(name, "wte") ||
                contains(name, "word_emb") || contains(name, "embed_in")))
        embedding = name;
      else if (lastOf(name) == "weight" &&
               (contains(name, "norm") || contains(name, "ln_f")))
        norm = stem;
    }
    if (!embedding.empty()) {
      outer[embedding].taken = true;
      if (!outer[embedding].shape.empty())
        hidden = outer[embedding].shape.back();
      blocks["embedding"]["table"] = embedding;
      blocks["head"]["tied_to"] = embedding;
    }
    if (!hidden)
      hidden = number("hidden_size").value_or(0);
    if (!norm.empty())
      blocks["final_norm"] = normBlock(norm, outer);
    if (!head.empty()) {
      outer[head].taken = true;
      blocks["head"]["table"] = head;
    } else {
      fields["tie_word_embeddings"]["default"] = true;
      guess("the head is tied: the checkpoint has none");
    }
  }

  Json normBlock(const std::string &stem, std::map<std::string, Group> &from) {
    Json block;
    auto bias = from.find(stem + ".bias");
    from[stem + ".weight"].taken = true;
    if (bias != from.end()) {
      block["is"] = "layer_norm";
      bias->second.taken = true;
    }
    block["name"] = stem;
    return block;
  }

  void draftAttention() {
    auto any = [](const std::string &) { return true; };
    Json &block = blocks["attention"];
    std::string q = find("q", any), module;
    bool bias;
    if (!q.empty()) {
      module = parentOf(q);
      bias = take(q);
      block["q"] = q;
      for (const char *part : {"k", "v"}) {
        std::string stem = find(part, [&](const std::string &name) {
          return parentOf(name) == module;
        });
        block[part] = stem;
        block[std::string(part) + "_bias"] = take(stem);
      }
    } else {
      q = find("qkv", any);
      if (q.empty())
        return guess("attention: no product is called like one of its");
      module = parentOf(q);
      bias = take(q);
      block["q"] = block["k"] = block["v"] = nullptr;
      block["qkv"] = q;
      block["layout"] = "'concat'";
      guess("the order in " + q + ": all queries, all keys, all values");
    }
    block["input_bias"] = bias;
    restrict(block, "attention", q);
    // Names like attention.self.query have attention.output.dense.
    std::string o = find("o", [&](const std::string &name) {
      return parentOf(name) == module ||
             (!parentOf(module).empty() &&
              name.rfind(parentOf(module) + ".output", 0) == 0);
    });
    block["o"] = o;
    block["output_bias"] = take(o);
    draftHeads(o);
    for (const char *part : {"q_norm", "k_norm"}) {
      std::string stem = find(part, any);
      if (stem.empty())
        continue;
      block[part] = stem;
      block["eps"] = "rms_norm_eps";
      int64_t width = sizeOf(stem, 0);
      if (take(stem)) {
        block["norm"] = "'layer_norm'";
        block["norm_bias"] = true;
      }
      if (headDim && width > headDim)
        block["qk_norm"] = "'all'";
    }
    guess("rotation: rope_theta of the config turns whole heads, halves");
  }

  /// The width of a head, from the columns that go back into the stream.
  void draftHeads(const std::string &o) {
    int64_t heads = number("num_attention_heads").value_or(0);
    int64_t columns = sizeOf(o, 1);
    if (!heads || !columns || columns % heads)
      return;
    headDim = columns / heads;
    if (number("head_dim").value_or(hidden / heads) == headDim)
      return;
    fields["head_dim"]["key"] = Json::array();
    fields["head_dim"]["default"] = headDim;
    guess("heads are " + std::to_string(headDim) +
          " wide, which no key of the config says");
  }

  void draftExperts() {
    std::string each = find("up", [](const std::string &name) {
      return contains(name, ".experts.*.");
    });
    std::string packed = find("gate_up", [](const std::string &name) {
      return contains(name, "experts.");
    });
    if (each.empty() && packed.empty())
      return;
    std::string parent = parentOf(each.empty() ? packed : each);
    std::string module = parent.substr(0, parent.rfind("experts"));
    Json &block = blocks["experts"];
    block["is"] = "experts";
    restrict(block, "experts", each.empty() ? packed : each);
    block["experts"] = "num_experts";
    block["top_k"] = "num_experts_per_tok";
    block["width"] = "moe_intermediate_size";
    block["activation"] = "hidden_act";
    fields["num_experts"] = {{"type", "experts"}};
    fields["num_experts_per_tok"] = {{"type", "experts"},
                                     {"at_most", "num_experts"}};
    fields["moe_intermediate_size"] = {{"type", "width"}};
    if (each.empty()) {
      std::string down = parent + ".down_proj";
      bool isOutIn = sizeOf(packed, 2) == hidden;
      block["layout"] = isOutIn ? "'out_in'" : "'in_out'";
      block["gate_up"] = packed;
      block["down"] = down;
      take(packed);
      take(down);
      guess("which half of " + packed + " is the gate: the first");
    } else {
      for (const char *part : {"gate", "up", "down"}) {
        std::string stem = find(part, [&](const std::string &name) {
          return parentOf(name) == parent;
        });
        take(stem);
        if (!stem.empty())
          block[part] = stem;
      }
    }
    std::string router = find("router", [&](const std::string &name) {
      return name.rfind(module, 0) == 0 && !contains(name, "expert");
    });
    block["router"] = router;
    take(router);
    auto normalized = config.find("norm_topk_prob");
    block["normalized"] =
        normalized == config.end() || *normalized != nlohmann::json(false);
    for (auto &[name, group] : inner)
      if (name.rfind(module, 0) == 0 && contains(name, "correction")) {
        group.taken = true;
        block["correction"] = name;
        block["sigmoid"] = true;
      }
    guess("how the router weighs experts: " +
          std::string(block.contains("sigmoid") ? "sigmoid" : "softmax") +
          ", normalized " + (block["normalized"] ? "true" : "false"));
    draftDense("shared_expert", "shared_expert");
  }

  void draftFeedForward() { draftDense("mlp", ""); }

  /// A dense feed-forward whose names have `word`.
  void draftDense(const std::string &name, const char *word) {
    auto accepts = [&](const std::string &stem) {
      return contains(stem, word) && !contains(stem, "experts.*") &&
             !contains(stem, "attn") && !contains(stem, "attention");
    };
    std::string up = find("up", accepts), fused = find("gate_up", accepts);
    std::string gate = find("gate", accepts), down = find("down", accepts);
    if (down.empty() || (up.empty() && fused.empty())) {
      if (name == "mlp" && blocks.contains("experts"))
        blocks["mlp"] = nullptr;
      return;
    }
    Json &block = blocks[name];
    restrict(block, name, down);
    bool bias = take(down);
    block["down"] = down;
    block["bias"] = bias;
    if (name != "mlp") {
      block["is"] = "feed_forward";
      block["activation"] = "hidden_act";
      int64_t width = sizeOf(down, 1);
      block["width"] = width;
      guess(name + " is " + std::to_string(width) +
            " wide; which key of the config says so");
    }
    block["gate"] = block["up"] = nullptr;
    if (!fused.empty()) {
      take(fused);
      block["gate_up"] = fused;
      guess("which half of " + fused + " is the gate: the first");
      return;
    }
    take(up);
    block["up"] = up;
    if (!gate.empty()) {
      take(gate);
      block["gate"] = gate;
    }
  }

  void draftNorms() {
    auto any = [](const std::string &) { return true; };
    // A name that means the norm behind attention where there is another
    // before the feed-forward.
    std::map<std::string, std::string> found;
    for (const char *part :
         {"input_norm", "attention_norm", "post_norm", "mlp_norm"})
      if (std::string stem = find(part, any); !stem.empty()) {
        found[part] = stem;
        blocks[part] = normBlock(stem, inner);
        if (!blocks[part].contains("is"))
          blocks[part]["is"] = "rms_norm";
        blocks[part]["eps"] = "rms_norm_eps";
      }
    if (auto it = inner.find("post_attention_layernorm.weight");
        it != inner.end() && !it->second.taken) {
      blocks["attention_norm"] = normBlock("post_attention_layernorm", inner);
      blocks["attention_norm"]["is"] = "rms_norm";
      blocks["attention_norm"]["eps"] = "rms_norm_eps";
      found["attention_norm"] = "post_attention_layernorm";
    }
    if (!found.count("input_norm") && found.count("post_norm") &&
        found.count("mlp_norm")) {
      blocks["attention_norm"] = blocks["post_norm"];
      found["attention_norm"] = found["post_norm"];
      found.erase("post_norm");
    }
    Json attention = Json::array(), dense = Json::array();
    for (const char *part : {"input_norm", "post_norm"})
      if (!found.count(part))
        blocks[part] = nullptr;
    if (found.count("input_norm"))
      attention.push_back("input_norm");
    attention.push_back("attention");
    if (found.count("attention_norm"))
      attention.push_back("attention_norm");
    if (found.count("post_norm"))
      dense.push_back("post_norm");
    Json branches = Json::array();
    for (const char *part : {"mlp", "experts", "shared_expert"})
      if (part == std::string("mlp")
              ? !blocks.contains(part) || !blocks[part].is_null()
              : blocks.contains(part))
        branches.push_back(Json::array({part}));
    if (branches.size() > 1)
      dense.push_back({{"sum", branches}});
    else
      dense.push_back(branches.empty() ? "mlp" : branches[0][0]);
    if (found.count("mlp_norm"))
      dense.push_back("mlp_norm");
    if (found.size() == 1 && found.count("input_norm")) {
      steps = Json::array(
          {{{"residual", {"input_norm", {{"sum", {{"attention"}, dense}}}}}}});
      guess("attention and feed-forward side by side: there is one norm");
    } else {
      steps = Json::array({{{"residual", attention}}, {{"residual", dense}}});
    }
  }

  //===--------------------------------------------------------------------===//
  // The file
  //===--------------------------------------------------------------------===//

  /// Keys by other names, or by a value that only one key has.
  void draftFields() {
    for (const auto &[field, keys] : configKeys) {
      bool isOurs = field == "num_experts" || field == "num_experts_per_tok" ||
                    field == "moe_intermediate_size";
      if ((isOurs && !fields.contains(field)) || config.contains(field) ||
          (fields.contains(field) && fields[field].contains("key")))
        continue;
      auto key = std::find_if(keys.begin(), keys.end(), [&](const auto &name) {
        return config.contains(name);
      });
      if (key != keys.end())
        fields[field]["key"] = *key;
    }
    guess("defaults of keys that a config may leave out: those of Llama");
  }

  DraftedFamily finish() {
    for (const std::map<std::string, Group> *tensors : {&outer, &inner})
      for (const auto &[name, group] : *tensors)
        if (!group.taken && !contains(name, "rotary_emb"))
          draft.left.push_back(tensors == &inner ? prefix + ".{i}." + name
                                                 : name);
    Json family;
    family["base"] = "llama";
    family["source"] = "its config.json";
    if (auto it = config.find("architectures"); it != config.end())
      family["architectures"] = *it;
    std::string note = "A draft. Guessed: ";
    for (size_t i = 0; i < draft.guesses.size(); ++i)
      note += (i ? "; " : "") + draft.guesses[i];
    family["note"] = note + ".";
    family["fields"] = fields;
    family["blocks"] = blocks;
    Json decoder = {{"prefix", prefix}, {"steps", steps}};
    if (!variables.empty())
      decoder["variables"] = variables;
    family["stacks"] = {{"decoder", decoder}};
    draft.text = family.dump(2) + "\n";
    return draft;
  }

  const nlohmann::json config;
  std::string prefix;
  std::map<std::string, Group> inner, outer;
  int64_t layers = 0, hidden = 0, headDim = 0;
  Json fields = Json::object(), blocks = Json::object(),
       variables = Json::object(), steps;
  DraftedFamily draft;
};

} // namespace

Result<DraftedFamily>
autopar::checkpoint::draftFamily(const JsonDocument &config,
                                 const CheckpointIndex &checkpoint) {
  return Drafter(config, checkpoint).run(config.name());
}
