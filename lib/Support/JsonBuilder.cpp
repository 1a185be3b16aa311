//===- JsonBuilder.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonBuilder.h"

#include "autopar/Support/Limits.h"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace autopar;
using nlohmann::json;

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
  return node.size <= JsonTree::mostUnsorted ? isUnique(node)
                                             : sortKeys(number);
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
