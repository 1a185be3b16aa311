//===- JsonTree.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonTree.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>

using namespace autopar;
using nlohmann::json;

const JsonTree::Numbers *JsonTree::sortedKeys(const JsonNode &object) const {
  if (object.size <= JsonTree::mostUnsorted)
    return nullptr;
  return &sorted.at(static_cast<uint32_t>(&object - nodes.data()));
}

const JsonNode *JsonTree::find(const JsonNode &object,
                               std::string_view key) const {
  if (const Numbers *numbers = sortedKeys(object)) {
    auto it = std::lower_bound(numbers->begin(), numbers->end(), key,
                               [&](uint32_t number, std::string_view key) {
                                 return nodes[number].string() < key;
                               });
    bool isThere = it != numbers->end() && nodes[*it].string() == key;
    return isThere ? &nodes[*it] + 1 : nullptr;
  }
  const JsonNode *at = &object + 1;
  for (uint32_t i = 0; i < object.size; ++i, at = (at + 1)->next())
    if (at->string() == key)
      return at + 1;
  return nullptr;
}

std::vector<const JsonNode *> JsonTree::keys(const JsonNode &object) const {
  std::vector<const JsonNode *> all;
  all.reserve(object.size);
  if (const Numbers *numbers = sortedKeys(object)) {
    for (uint32_t number : *numbers)
      all.push_back(&nodes[number]);
    return all;
  }
  const JsonNode *at = &object + 1;
  for (uint32_t i = 0; i < object.size; ++i, at = (at + 1)->next())
    all.push_back(at);
  std::sort(all.begin(), all.end(), [](const JsonNode *a, const JsonNode *b) {
    return a->string() < b->string();
  });
  return all;
}

std::string JsonTree::pointerTo(const JsonNode &value) const {
  std::string pointer;
  const JsonNode *at = nodes.data(), *end = at + nodes.size();
  if (std::less<>()(&value, at) || !std::less<>()(&value, end))
    return pointer;
  while (at != &value) {
    bool isObject = at->kind == JsonNode::Kind::object;
    const JsonNode *inside = at + 1;
    size_t index = 0;
    // Finds the child that is `value` or contains it.
    for (; (inside + isObject)->next() <= &value; ++index)
      inside = (inside + isObject)->next();
    json::json_pointer step;
    step.push_back(isObject ? std::string(inside->string())
                            : std::to_string(index));
    pointer += step.to_string();
    at = inside + isObject;
  }
  return pointer;
}

json autopar::toJson(const JsonNode &node) {
  switch (node.kind) {
  case JsonNode::Kind::null:
    return nullptr;
  case JsonNode::Kind::boolean:
    return node.boolean;
  case JsonNode::Kind::integer:
    // nlohmann::json uses the same types when it parses.
    return node.integer < 0 ? json(node.integer)
                            : json(static_cast<uint64_t>(node.integer));
  case JsonNode::Kind::natural:
    return node.natural;
  case JsonNode::Kind::number:
    return node.number;
  case JsonNode::Kind::string:
    return std::string(node.string());
  case JsonNode::Kind::array:
  case JsonNode::Kind::object:
    break;
  }
  bool isObject = node.kind == JsonNode::Kind::object;
  json all = isObject ? json::object() : json::array();
  if (!isObject)
    all.get_ref<json::array_t &>().reserve(node.size);
  const JsonNode *at = &node + 1;
  for (uint32_t i = 0; i < node.size; ++i, at = at->next()) {
    json *place =
        isObject ? &all[std::string((at++)->string())] : &all.emplace_back();
    *place = toJson(*at);
  }
  return all;
}
