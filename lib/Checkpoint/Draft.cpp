//===- Draft.cpp ----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Draft.h"

#include "DraftTensors.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::checkpoint;

void Draft::guess(const std::string &text) {
  std::vector<std::string> &all = result.guesses;
  if (std::find(all.begin(), all.end(), text) == all.end())
    all.push_back(text);
}

/// Types of the fields that "llama" does not have.
static const std::map<std::string, std::string> furtherTypes = {
    {"num_experts", "experts"},         {"num_experts_per_tok", "experts"},
    {"moe_intermediate_size", "width"}, {"q_lora_rank", "width"},
    {"kv_lora_rank", "width"},          {"qk_nope_head_dim", "count"},
    {"qk_rope_head_dim", "count"},      {"v_head_dim", "count"},
};

void Draft::useKey(const std::string &field) {
  auto type = furtherTypes.find(field);
  if (type != furtherTypes.end())
    fields[field]["type"] = type->second;
  if (std::string key = config.keyOf(field); key != field)
    fields[field]["key"] = key;
}

std::string Draft::size(const std::string &field, int64_t value) {
  auto known = values.find(field);
  if (known == values.end() && config.number(field) == value) {
    useKey(field);
    known = values.emplace(field, value).first;
  }
  if (known != values.end() && known->second == value)
    return field;
  result.hasLiterals = true;
  return std::to_string(value);
}

std::string Draft::fieldOr(const std::string &field,
                           const std::string &absent) {
  if (!config.find(field))
    return absent;
  useKey(field);
  return field;
}

/// Whether a name is that of keys or values of attention to an encoder, which
/// are matmuls of the encoder's tokens instead of the stream's.
static bool isOfEncoder(const std::string &name) {
  auto has = [&](const char *part) {
    return name.find(part) != std::string::npos;
  };
  bool isCross = readsEncoder(name);
  return isCross && (has(".k") || has(".v") || has("key") || has("value"));
}

/// Whether a name is that of a single expert unlike the others of its layer,
/// such as "mlp.experts.64.up".
static bool isOneExpert(const std::string &name) {
  return contains(maskNumbers(name), "experts.N.");
}

/// Returns the matrices of `groups` with which a token of `width` elements, or
/// a product of it, can be multiplied, directly or transposed: those that the
/// block "unplaced" counts as matmuls.
static std::set<std::string>
reachable(const TensorGroups &groups, int64_t width, const std::string &dtype) {
  std::set<std::string> names;
  std::set<int64_t> widths = {width};
  for (bool goesOn = true; goesOn;) {
    goesOn = false;
    for (const auto &[name, group] : groups) {
      bool isMatrix = !group.taken && group.shape.size() == 2 &&
                      group.dtype == dtype && !isOfEncoder(name) &&
                      !isOneExpert(name);
      if (!isMatrix || names.count(name) ||
          (!widths.count(group.shape[0]) && !widths.count(group.shape[1])))
        continue;
      names.insert(name);
      widths.insert(group.shape.begin(), group.shape.end());
      goesOn = true;
    }
  }
  return names;
}

/// Adds a guess that names the matrices of a layer that count only by their
/// bytes. A kernel per channel is not a matrix.
void Draft::guessUncounted(const TensorGroups &groups,
                           const std::set<std::string> &products) {
  for (const auto &[name, group] : groups) {
    bool isKernel = group.shape.size() > 2 && group.shape[1] == 1;
    if (!group.taken && group.shape.size() > 1 && !isKernel &&
        !products.count(name))
      guess("no FLOPs of " + maskNumbers(name) + ", whose place is not known");
    if (group.experts && products.count(name) &&
        !config.find("num_experts_per_tok"))
      guess("how many of " + std::to_string(group.experts) +
            " experts a token runs is not known: all are counted");
  }
}

std::vector<std::string> Draft::placeRest(const std::string &name,
                                          const TensorGroups &groups, bool runs,
                                          int64_t layers) {
  std::map<RestKey, Json> rest;
  std::set<std::string> products;
  if (runs) {
    products = reachable(groups, hidden, dtype);
    guessUncounted(groups, products);
  }
  for (const auto &[tensor, group] : groups) {
    if (group.taken)
      continue;
    std::optional<ElementType> type = parseSafetensorsName(group.dtype);
    bool isQuantized = group.dtype.rfind("F8_", 0) == 0 &&
                       config.whole().contains("quantization_config");
    RestKey key;
    if (type && group.dtype != dtype && !isQuantized)
      key.element = nameOf(*type);
    key.experts = group.experts;
    key.isKept = !products.count(tensor);
    std::string pattern = tensor;
    if (size_t star = pattern.find('*'); star != std::string::npos)
      pattern[star] = '#';
    rest[key][pattern] = group.shape;
    (key.isKept ? result.kept : result.products) += group.count() * layers;
  }
  std::vector<std::string> steps;
  for (const auto &[key, tensors] : rest) {
    std::string block = key.in(name);
    blocks[block] = unplaced(key, tensors);
    steps.push_back(block);
  }
  result.hasLiterals |= !rest.empty();
  if (!products.empty())
    guess("products without a place are whole on every device");
  return steps;
}

Json Draft::unplaced(const RestKey &key, const Json &tensors) {
  Json description = {{"is", "unplaced"}};
  if (!key.element.empty())
    description["element"] = key.element;
  if (key.isKept)
    description["kept"] = true;
  if (key.experts) {
    description["count"] = key.experts;
    if (!key.isKept && config.find("num_experts_per_tok"))
      description["multiplied"] = fieldOr("num_experts_per_tok", "");
  }
  description["tensors"] = tensors;
  return description;
}
