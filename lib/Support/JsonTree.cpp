//===- JsonTree.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonTree.h"

#include "autopar/Support/Limits.h"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace autopar;
using nlohmann::json;

/// Objects with more members have their keys sorted: readers may ask for each
/// of them by name.
static constexpr size_t mostUnsorted = 16;

//===----------------------------------------------------------------------===//
// Look-up
//===----------------------------------------------------------------------===//

const JsonTree::Numbers *JsonTree::sortedKeys(const JsonNode &object) const {
  if (object.size <= mostUnsorted)
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
    // The one that `value` is, or is inside of.
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

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

JsonNode JsonTreeBuilder::nodeOf(std::string_view string) {
  JsonNode node;
  node.kind = JsonNode::Kind::string;
  node.size = static_cast<uint32_t>(string.size());
  node.text = string.data();
  return node;
}

void JsonTreeBuilder::clear() {
  tree.nodes.clear();
  tree.strings.clear();
  tree.sorted.clear();
  open.clear();
}

bool JsonTreeBuilder::begin(JsonNode::Kind kind) {
  JsonNode node;
  node.kind = kind;
  add(node);
  open.push_back(static_cast<uint32_t>(tree.nodes.size() - 1));
  return open.size() <= limits::maxNestingDepth;
}

bool JsonTreeBuilder::end() {
  uint32_t number = open.back();
  open.pop_back();
  JsonNode &node = tree.nodes[number];
  node.span = tree.nodes.size() - number;
  if (node.kind == JsonNode::Kind::array)
    return true;
  return node.size <= mostUnsorted ? isUnique(node) : sortKeys(number);
}

bool JsonTreeBuilder::isUnique(const JsonNode &object) {
  few.clear();
  const JsonNode *at = &object + 1;
  for (uint32_t i = 0; i < object.size; ++i, at = (at + 1)->next()) {
    std::string_view key = at->string();
    if (std::find(few.begin(), few.end(), key) != few.end()) {
      twice = key;
      return false;
    }
    few.push_back(key);
  }
  return true;
}

bool JsonTreeBuilder::sortKeys(uint32_t object) {
  const std::vector<JsonNode> &nodes = tree.nodes;
  JsonTree::Numbers &numbers = tree.sorted[object];
  const JsonNode *at = &nodes[object] + 1;
  for (uint32_t i = 0; i < nodes[object].size; ++i, at = (at + 1)->next())
    numbers.push_back(static_cast<uint32_t>(at - nodes.data()));
  auto keyOf = [&](uint32_t number) { return nodes[number].string(); };
  std::sort(numbers.begin(), numbers.end(),
            [&](uint32_t a, uint32_t b) { return keyOf(a) < keyOf(b); });
  auto same = std::adjacent_find(
      numbers.begin(), numbers.end(),
      [&](uint32_t a, uint32_t b) { return keyOf(a) == keyOf(b); });
  if (same == numbers.end())
    return true;
  twice = keyOf(*same);
  return false;
}

//===----------------------------------------------------------------------===//
// From and to values that can be changed
//===----------------------------------------------------------------------===//

json autopar::toJson(const JsonNode &node) {
  switch (node.kind) {
  case JsonNode::Kind::null:
    return nullptr;
  case JsonNode::Kind::boolean:
    return node.boolean;
  case JsonNode::Kind::integer:
    // As nlohmann::json has them where it reads them.
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
    json *place = isObject ? &all[std::string((at++)->string())]
                           : &all.emplace_back();
    *place = toJson(*at);
  }
  return all;
}

static JsonNode numberOf(const json &value) {
  JsonNode node;
  if (value.is_number_float()) {
    node.kind = JsonNode::Kind::number;
    node.number = value.get<double>();
  } else if (value.is_number_unsigned() &&
             value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) {
    node.kind = JsonNode::Kind::natural;
    node.natural = value.get<uint64_t>();
  } else {
    node.kind = JsonNode::Kind::integer;
    node.integer = value.get<int64_t>();
  }
  return node;
}

void autopar::addJson(JsonTreeBuilder &builder, const json &value) {
  if (value.is_string()) {
    builder.addText(builder.keep(value.get<std::string>()));
  } else if (value.is_number()) {
    builder.add(numberOf(value));
  } else if (value.is_structured()) {
    builder.begin(value.is_object() ? JsonNode::Kind::object
                                    : JsonNode::Kind::array);
    for (auto it = value.begin(); it != value.end(); ++it) {
      if (value.is_object())
        builder.addKey(builder.keep(it.key()));
      addJson(builder, *it);
    }
    builder.end();
  } else {
    JsonNode node;
    node.kind =
        value.is_boolean() ? JsonNode::Kind::boolean : JsonNode::Kind::null;
    if (value.is_boolean())
      node.boolean = value.get<bool>();
    builder.add(node);
  }
}
