//===- DraftLayer.cpp - The steps of a layer ------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerDraft.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::checkpoint;

Json LayerDraft::run() {
  bool hasAttention = draftLatentAttention() || draftAttention();
  draftExperts();
  draftDense();
  Json steps = draftSteps(hasAttention);
  for (const auto &entry : tensors.all())
    if (entry.second.taken)
      draft.result.known +=
          entry.second.count() * static_cast<int64_t>(layers.size());
  noteRest();
  for (std::string &block :
       draft.placeRest("unplaced" + suffix, tensors.all(), /*runs=*/true,
                       static_cast<int64_t>(layers.size())))
    steps.push_back(std::move(block));
  return steps;
}

std::string LayerDraft::act() {
  static const std::vector<std::string> known = {
      "silu",      "swish", "gelu",  "gelu_new",  "gelu_pytorch_tanh",
      "gelu_fast", "relu",  "relu2", "quick_gelu"};
  const nlohmann::json *value = draft.config.find("hidden_act");
  bool isKnown =
      value && value->is_string() &&
      std::count(known.begin(), known.end(), value->get<std::string>());
  if (!isKnown)
    draft.guess("the activation: silu");
  return isKnown ? draft.fieldOr("hidden_act", "") : "'silu'";
}

std::string LayerDraft::draftNorm(const char *part) {
  std::string stem = tensors.find(part, [&](const std::string &name) {
    const TensorGroup *group = tensors.groupOf(name);
    return group->shape == std::vector<int64_t>{draft.hidden} &&
           group->dtype == draft.dtype && tensors.all().count(name + ".weight");
  });
  if (stem.empty())
    return "";
  bool bias = tensors.take(stem);
  Json &norm = block(part, bias ? "layer_norm" : "rms_norm");
  norm["name"] = stem;
  norm["eps"] = eps();
  return part + suffix;
}

/// Returns the steps of a layer: attention and the blocks after it, each with
/// the norms around it.
Json LayerDraft::draftSteps(bool hasAttention) {
  Json first = Json::array(), second = Json::array(), steps = Json::array();
  auto add = [](Json &list, const std::string &name) {
    if (!name.empty())
      list.push_back(name);
  };
  std::string before = draftNorm("input_norm");
  std::string behind = draftNorm("attention_norm");
  std::string next = draftNorm("post_norm"), last = draftNorm("mlp_norm");
  // If a further norm follows, attention may have a second norm after it.
  if (behind.empty() && !next.empty())
    behind = draftNorm("post_norm_too");
  if (hasAttention) {
    add(first, before);
    add(first, "attention" + suffix);
    add(first, behind);
  }
  if (!branches.empty()) {
    add(second, hasAttention ? next : next.empty() ? before : next);
    Json sum = Json::array();
    for (const std::string &branch : branches)
      sum.push_back(Json::array({branch}));
    if (branches.size() == 1)
      add(second, branches.front());
    else
      second.push_back({{"sum", sum}});
    add(second, last);
  }
  if (!first.empty())
    steps.push_back({{"residual", first}});
  if (!second.empty())
    steps.push_back({{"residual", second}});
  for (const std::string &name : {before, behind, next, last})
    if (!name.empty() && !contains(steps.dump(), ('"' + name + '"').c_str()))
      steps.push_back(name);
  return steps;
}

/// Adds a guess about what the tensors that no block uses look like.
void LayerDraft::noteRest() {
  bool hasState = false, hasHeads = false;
  for (const auto &[name, group] : tensors.all()) {
    if (group.taken)
      continue;
    hasState |= contains(name, "A_log") || contains(name, "dt_bias") ||
                contains(name, "conv1d") || contains(name, "time_decay") ||
                contains(name, "decay");
    hasHeads |= contains(name, "attn") || contains(name, "attention");
  }
  std::string where = formatLayers(layers);
  if (hasState)
    draft.guess(where + ": tensors of a state, which needs a new block here; "
                        "it and its FLOPs are not counted, its products are");
  else if (hasHeads)
    draft.guess(where + ": tensors of attention, which needs a new block here; "
                        "they count as products or bytes, without a cache");
}

Json autopar::checkpoint::draftLayer(Draft &draft, LayerKind &kind,
                                     const std::string &suffix) {
  return LayerDraft(draft, kind, suffix).run();
}
