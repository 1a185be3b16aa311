//===- DraftFeedForward.cpp - Dense and routed parts of a layer -----------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerDraft.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::checkpoint;

std::optional<LayerDraft::Experts> LayerDraft::findEach() {
  Experts found;
  found.up = tensors.find(
      "up", [](const std::string &stem) { return contains(stem, "*."); });
  if (found.up.empty())
    return std::nullopt;
  auto isBeside = [&](const std::string &stem) {
    return parentOf(stem) == parentOf(found.up);
  };
  found.gate = tensors.find("gate", isBeside);
  found.down = tensors.find("down", isBeside);
  found.experts = tensors.groupOf(found.up)->experts;
  found.width = tensors.size(found.up, 0);
  for (const Latent &latent : findLatents()) {
    bool fits = !found.down.empty() &&
                tensors.isMatrix(found.up, found.width, latent.width) &&
                tensors.isMatrix(found.down, latent.width, found.width) &&
                (found.gate.empty() ||
                 tensors.isMatrix(found.gate, found.width, latent.width));
    found.latent = latent;
    if (fits)
      return found;
  }
  return std::nullopt;
}

/// Returns in which of the known layouts the packed experts `in` and `out` are
/// stored; `in` may fuse two halves. "" if in none.
static std::string layoutOf(const TensorGroup &in, const TensorGroup &out,
                            int64_t outer, bool isHalved) {
  int64_t experts = in.shape[0];
  for (bool isOutIn : {true, false}) {
    int64_t rows = in.shape[isOutIn ? 1 : 2];
    int64_t width = isHalved ? rows / 2 : rows;
    using Shape = std::vector<int64_t>;
    bool fits = in.shape[isOutIn ? 2 : 1] == outer &&
                rows == (isHalved ? 2 : 1) * width &&
                out.shape == (isOutIn ? Shape{experts, outer, width}
                                      : Shape{experts, width, outer});
    if (fits)
      return isHalved  ? isOutIn ? "'out_in'" : "'in_out'"
             : isOutIn ? "'stacked'"
                       : "";
  }
  return "";
}

std::optional<LayerDraft::Experts> LayerDraft::findPacked() {
  std::vector<Packed> packed;
  auto experts = draft.config.number("num_experts");
  for (const auto &[name, group] : tensors.all())
    if (!group.taken && group.shape.size() == 3 && !group.experts &&
        group.dtype == draft.dtype &&
        (contains(name, "expert") || group.shape[0] == experts))
      packed.emplace_back(name, &group);
  for (const Latent &latent : findLatents())
    for (const Packed &in : packed)
      for (const Packed &out : packed)
        for (bool isHalved : {true, false}) {
          std::string layout = in == out ? ""
                                         : layoutOf(*in.second, *out.second,
                                                    latent.width, isHalved);
          if (!layout.empty())
            return pairUp(packed, in, out, latent, layout);
        }
  return std::nullopt;
}

/// Returns the possible widths of the experts' input: that of the stream, and
/// those that a pair of matmuls makes of it and back.
std::vector<LayerDraft::Latent> LayerDraft::findLatents() {
  std::vector<Latent> latents = {{draft.hidden, "", ""}};
  for (const auto &[in, group] : tensors.all()) {
    if (group.taken || group.shape.size() != 2 ||
        group.shape[1] != draft.hidden || group.shape[0] == draft.hidden)
      continue;
    for (const auto &[out, other] : tensors.all())
      if (!other.taken && lastOf(in) == "weight" && lastOf(out) == "weight" &&
          tensors.isMatrix(parentOf(out), draft.hidden, group.shape[0]))
        latents.push_back({group.shape[0], parentOf(in), parentOf(out)});
  }
  return latents;
}

LayerDraft::Experts LayerDraft::pairUp(const std::vector<Packed> &packed,
                                       const Packed &in, const Packed &out,
                                       const Latent &latent,
                                       const std::string &layout) {
  Experts found;
  found.layout = layout;
  found.latent = latent;
  found.experts = in.second->shape[0];
  bool isHalved = layout != "'stacked'";
  (isHalved ? found.packed : found.up) = in.first;
  found.down = out.first;
  found.width = out.second->shape[layout == "'in_out'" ? 1 : 2];
  // Of three tensors, the one with the shape of `in` is the gate.
  for (const auto &[other, group] : packed)
    if (!isHalved && other != in.first && other != out.first &&
        group->shape == in.second->shape)
      found.gate = other;
  return found;
}

/// Finds experts that are stored as three matrices with the rows of all
/// experts. Of the two matmuls into an expert, the gate is the one whose name
/// comes last.
std::optional<LayerDraft::Experts> LayerDraft::findFlat() {
  auto experts = draft.config.number("num_experts");
  std::vector<std::string> stacked;
  for (const auto &[name, group] : tensors.all())
    if (!group.taken && contains(name, "experts.") && experts.value_or(0) > 0 &&
        group.shape.size() == 2 && group.shape[0] > *experts &&
        group.shape[0] % *experts == 0 && group.shape[1] == draft.hidden &&
        group.dtype == draft.dtype && !group.experts)
      stacked.push_back(name);
  constexpr size_t products = 3;
  if (stacked.size() != products)
    return std::nullopt;
  Experts found;
  found.layout = "'flat'";
  found.experts = *experts;
  found.width = tensors.groupOf(stacked[0])->shape[0] / *experts;
  found.up = stacked[0];
  found.gate = stacked[1];
  found.down = stacked[2];
  draft.guess("which of " + stacked[0] + ", " + stacked[1] + " and " +
              stacked[2] + " is the last: by name");
  return found;
}

void LayerDraft::draftExperts() {
  std::optional<Experts> found = findEach();
  if (!found)
    found = findPacked();
  if (!found)
    found = findFlat();
  if (!found || !draft.config.number("num_experts_per_tok"))
    return;
  const std::string &any = found->packed.empty() ? found->up : found->packed;
  bool hasWord = contains(any, "expert");
  std::string module = hasWord ? any.substr(0, any.find("expert"))
                               : any.substr(0, any.find('.') + 1);
  std::string router = findRouter(module, found->experts);
  if (router.empty())
    return;
  Json &experts = block("experts", "experts");
  branches.push_back("experts" + suffix);
  experts["experts"] = draft.size("num_experts", found->experts);
  experts["top_k"] = draft.fieldOr("num_experts_per_tok", "");
  experts["width"] = draft.size("moe_intermediate_size", found->width);
  experts["activation"] = act();
  for (const auto &[part, stem] :
       {std::pair("gate", found->gate), std::pair("up", found->up),
        std::pair("gate_up", found->packed), std::pair("down", found->down)})
    if (!stem.empty()) {
      experts[part] = stem;
      tensors.take(stem);
    }
  if (!found->layout.empty())
    experts["layout"] = found->layout;
  if (!found->latent.in.empty()) {
    experts["latent"] = std::to_string(found->latent.width);
    experts["latent_in"] = found->latent.in;
    experts["latent_out"] = found->latent.out;
    tensors.take(found->latent.in);
    tensors.take(found->latent.out);
    draft.result.hasLiterals = true;
  }
  if (!found->packed.empty())
    draft.guess("which half of " + found->packed + " is the gate: the first");
  draftRouter(experts, router, module);
}

/// Returns the router: the matrix from a token to one number per expert, found
/// by its name, else by its shape.
std::string LayerDraft::findRouter(const std::string &module, int64_t experts) {
  std::string router = tensors.find("router", [&](const std::string &stem) {
    return stem.rfind(module, 0) == 0 &&
           (tensors.isMatrix(stem, experts, draft.hidden) ||
            tensors.isMatrix(stem, draft.hidden, experts));
  });
  for (const auto &[name, group] : tensors.all())
    if (router.empty() && !group.taken && lastOf(name) == "weight" &&
        tensors.isMatrix(parentOf(name), experts, draft.hidden) &&
        group.dtype == draft.dtype)
      router = parentOf(name);
  return router;
}

void LayerDraft::draftRouter(Json &experts, const std::string &router,
                             const std::string &module) {
  experts["router"] = router;
  if (tensors.size(router, 0) == draft.hidden)
    experts["router_transposed"] = true;
  if (tensors.take(router))
    experts["router_bias"] = true;
  const nlohmann::json &config = draft.config.whole();
  auto normalized = config.find("norm_topk_prob");
  bool isNormalized =
      normalized == config.end() || *normalized != nlohmann::json(false);
  experts["normalized"] = isNormalized;
  for (auto &[name, group] : tensors.all())
    if (name.rfind(module, 0) == 0 && contains(name, "correction") &&
        group.shape.size() == 1) {
      group.taken = true;
      experts["correction"] = name;
      experts["correction_f32"] = group.dtype == "F32";
      experts["sigmoid"] = true;
    }
  draft.guess("how the router weighs experts: " +
              std::string(experts.contains("sigmoid") ? "sigmoid" : "softmax") +
              ", normalized " + (isNormalized ? "true" : "false"));
}

void LayerDraft::draftDense() {
  std::vector<std::string> tried;
  auto isNew = [&](const std::string &stem) {
    return !contains(stem, "*") && !contains(maskNumbers(stem), "experts.N.") &&
           !contains(stem, "attn") && !contains(stem, "attention") &&
           std::find(tried.begin(), tried.end(), stem) == tried.end();
  };
  for (std::string down; !(down = tensors.find("down", isNew)).empty();)
    if (!draftDense(down))
      tried.push_back(down);
}

/// Drafts a dense feed-forward block that ends with the matrix `down`; returns
/// whether it is one.
bool LayerDraft::draftDense(const std::string &down) {
  auto isBeside = [&](const std::string &stem) {
    return parentOf(stem) == parentOf(down);
  };
  std::string up = tensors.find("up", isBeside);
  std::string fused = up.empty() ? tensors.find("gate_up", isBeside) : "";
  std::string gate = up.empty() ? "" : tensors.find("gate", isBeside);
  bool transposed = lastOf(up) == "c_fc" && lastOf(down) == "c_proj" &&
                    tensors.size(up, 0) == draft.hidden;
  int64_t width = tensors.size(down, transposed ? 0 : 1);
  auto isProduct = [&](const std::string &stem, int64_t out, int64_t in) {
    return transposed ? tensors.isMatrix(stem, in, out)
                      : tensors.isMatrix(stem, out, in);
  };
  if (!isProduct(down, draft.hidden, width) ||
      !(fused.empty() ? isProduct(up, width, draft.hidden)
                      : isProduct(fused, 2 * width, draft.hidden)) ||
      (!gate.empty() && !isProduct(gate, width, draft.hidden)))
    return false;
  std::string name = draft.blocks.contains("mlp" + suffix)
                         ? "mlp_" + std::to_string(branches.size() + 1)
                         : "mlp";
  Json &dense = block(name, "feed_forward");
  branches.push_back(name + suffix);
  dense["width"] = draft.size("intermediate_size", width);
  dense["activation"] = act();
  dense["gate"] = gate.empty() ? Json() : Json(gate);
  dense["up"] = up.empty() ? Json() : Json(up);
  dense["down"] = down;
  if (transposed)
    dense["transposed"] = true;
  bool outer = tensors.take(down);
  bool inner = tensors.take(fused.empty() ? up : fused);
  tensors.take(gate);
  dense["bias"] = inner;
  if (outer != inner)
    dense["down_bias"] = outer;
  if (!fused.empty()) {
    dense["gate_up"] = fused;
    draft.guess("which half of " + fused + " is the gate: the first");
  }
  return true;
}
