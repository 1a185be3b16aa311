//===- DraftAttention.cpp - Heads of a layer, by shapes -------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerDraft.h"

using namespace autopar;
using namespace autopar::checkpoint;

bool LayerDraft::draftLatentAttention() {
  std::string kvA = tensors.find("kv_a"), kvB = tensors.find("kv_b");
  std::string kvNorm = tensors.find("kv_a_norm"), o = tensors.find("o");
  int64_t heads = draft.config.number("num_attention_heads").value_or(0);
  if (kvA.empty() || kvB.empty() || kvNorm.empty() || o.empty() || !heads)
    return false;
  int64_t rank = tensors.size(kvNorm, 0);
  int64_t rope = tensors.size(kvA, 0) - rank;
  int64_t value = tensors.size(o, 1) / heads;
  int64_t nope = tensors.size(kvB, 0) / heads - value;
  std::string qA = tensors.find("q_a"), qNorm = tensors.find("q_a_norm");
  std::string q = tensors.find(qA.empty() ? "q" : "q_b");
  int64_t qIn = qA.empty() ? draft.hidden : tensors.size(qA, 0);
  if (rope <= 0 || value <= 0 || nope <= 0 ||
      !tensors.isMatrix(kvB, heads * (nope + value), rank) ||
      !tensors.isMatrix(o, draft.hidden, heads * value) ||
      !tensors.isMatrix(q, heads * (nope + rope), qIn))
    return false;
  Json &attention = block("attention", "latent_attention");
  for (const char *key :
       {"kv_heads", "head_dim", "k", "v", "input_bias", "output_bias", "q"})
    attention[key] = nullptr;
  attention["heads"] = draft.size("num_attention_heads", heads);
  attention["kv_rank"] = draft.size("kv_lora_rank", rank);
  attention["nope_dim"] = draft.size("qk_nope_head_dim", nope);
  attention["rope_dim"] = draft.size("qk_rope_head_dim", rope);
  attention["v_dim"] = draft.size("v_head_dim", value);
  attention["q_rank"] = qA.empty() ? "None" : draft.size("q_lora_rank", qIn);
  attention[qA.empty() ? "q" : "q_b"] = q;
  if (!qA.empty()) {
    attention["q_a"] = qA;
    attention["q_a_norm"] = qNorm;
  }
  attention["kv_a"] = kvA;
  attention["kv_a_norm"] = kvNorm;
  attention["kv_b"] = kvB;
  attention["o"] = o;
  attention["eps"] = eps();
  bool bias = false;
  for (const std::string &stem : {qA, qNorm, q, kvA, kvNorm, kvB, o})
    bias |= tensors.take(stem) && stem == kvA;
  attention["bias"] = bias;
  draft.guess("latent attention, whose neighbouring elements are turned");
  return true;
}

std::optional<LayerDraft::Products> LayerDraft::findProducts() {
  Products found;
  found.q = tensors.find("q");
  std::string any = found.q.empty() ? found.qkv = tensors.find("qkv") : found.q;
  if (any.empty())
    return std::nullopt;
  std::string module = parentOf(any);
  auto isBeside = [&](const std::string &stem) {
    return parentOf(stem) == module;
  };
  if (!found.q.empty()) {
    found.k = tensors.find("k", isBeside);
    found.v = tensors.find("v", isBeside);
  }
  // Projections called attention.self.query belong to an output projection
  // called attention.output.dense.
  found.o = tensors.find("o", [&](const std::string &stem) {
    return isBeside(stem) || (!parentOf(module).empty() &&
                              stem.rfind(parentOf(module) + ".output", 0) == 0);
  });
  found.transposed = lastOf(any) == "c_attn";
  bool isWhole = !found.o.empty() &&
                 (found.q.empty() || (!found.k.empty() && !found.v.empty()));
  return isWhole && findHeads(found) ? std::optional(found) : std::nullopt;
}

/// Whether the shapes of the projections fit the numbers of heads in the
/// config; sets the heads in `found`.
bool LayerDraft::findHeads(Products &found) {
  int64_t heads = draft.config.number("num_attention_heads").value_or(0);
  int64_t kvHeads = draft.config.number("num_key_value_heads").value_or(heads);
  int out = found.transposed ? 1 : 0, in = 1 - out;
  int64_t columns = tensors.size(found.o, in);
  if (heads <= 0 || kvHeads <= 0 || !columns || columns % heads ||
      tensors.size(found.o, out) != draft.hidden)
    return false;
  found.heads = heads;
  found.dim = found.valueDim = columns / heads;
  if (!found.qkv.empty()) {
    int64_t rows = tensors.size(found.qkv, out), own = rows - columns;
    found.kvHeads = own / 2 / found.dim;
    return own > 0 && own % (2 * found.dim) == 0 &&
           heads % found.kvHeads == 0 &&
           tensors.size(found.qkv, in) == draft.hidden;
  }
  int64_t rows = tensors.size(found.q, out);
  found.hasGate = rows == 2 * columns &&
                  tensors.size(found.k, out) % (found.dim * kvHeads) == 0;
  if (!found.hasGate && rows != columns)
    found.dim = rows / heads;
  if (found.dim <= 0)
    return false;
  found.kvHeads = tensors.size(found.k, out) / found.dim;
  int64_t q = found.heads * found.dim * (found.hasGate ? 2 : 1);
  return found.kvHeads > 0 && heads % found.kvHeads == 0 &&
         tensors.isMatrix(found.q, q, draft.hidden) &&
         tensors.isMatrix(found.k, found.kvHeads * found.dim, draft.hidden) &&
         tensors.isMatrix(found.v, found.kvHeads * found.valueDim,
                          draft.hidden);
}

bool LayerDraft::draftAttention() {
  std::optional<Products> found = findProducts();
  if (!found)
    return false;
  Json &attention = block("attention", "attention");
  attention["heads"] = draft.size("num_attention_heads", found->heads);
  attention["kv_heads"] =
      found->kvHeads == found->heads
          ? attention["heads"]
          : Json(draft.size("num_key_value_heads", found->kvHeads));
  attention["head_dim"] = draft.size("head_dim", found->dim);
  if (found->valueDim != found->dim)
    attention["v_head_dim"] = draft.size("v_head_dim", found->valueDim);
  bool inner = false;
  for (const auto &[part, stem] :
       {std::pair("q", found->q), std::pair("k", found->k),
        std::pair("v", found->v)}) {
    attention[part] = stem.empty() ? Json() : Json(stem);
    bool bias = tensors.take(stem);
    if (part != std::string("q") && bias != inner)
      attention[std::string(part) + "_bias"] = bias;
    else
      inner = bias;
  }
  if (!found->qkv.empty()) {
    inner = tensors.take(found->qkv);
    attention["qkv"] = found->qkv;
    attention["layout"] = "'concat'";
    draft.guess("the order in " + found->qkv +
                ": all queries, all keys, all values");
  }
  if (found->hasGate)
    attention["gate"] = "'fused'";
  if (found->transposed)
    attention["transposed"] = true;
  attention["input_bias"] = inner;
  attention["o"] = found->o;
  attention["output_bias"] = tensors.take(found->o);
  draftHeadNorms(attention, *found);
  draft.guess(std::string("attention: ") +
              (found->kvHeads == found->heads ? "every head has its own keys"
               : found->kvHeads == 1          ? "multi-query"
                                              : "grouped-query") +
              ", of all tokens, rotated by rope_theta in whole heads, halves");
  return true;
}

void LayerDraft::draftHeadNorms(Json &attention, const Products &found) {
  for (const auto &[part, heads] :
       {std::pair("q_norm", found.heads), std::pair("k_norm", found.kvHeads)}) {
    std::string stem = tensors.find(part);
    int64_t width = stem.empty() ? 0 : tensors.size(stem, 0);
    bool isOfHead = width == found.dim;
    if (!isOfHead && width != heads * found.dim)
      continue;
    attention[part] = stem;
    attention["eps"] = eps();
    if (!isOfHead)
      attention["qk_norm"] = "'all'";
    if (tensors.take(stem)) {
      attention["norm"] = "'layer_norm'";
      attention["norm_bias"] = true;
    }
  }
}
