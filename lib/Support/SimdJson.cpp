//===- SimdJson.cpp - Documents without mistakes --------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonBuilder.h"

#include <simdjson.h>

using namespace autopar;
using Kind = JsonNode::Kind;
namespace dom = simdjson::dom;

static bool add(JsonTreeBuilder &builder, dom::element value);

static bool add(JsonTreeBuilder &builder, dom::object object) {
  if (!builder.begin(Kind::object))
    return false;
  for (dom::key_value_pair member : object) {
    builder.addKey(member.key);
    if (!add(builder, member.value))
      return false;
  }
  return builder.end();
}

static bool add(JsonTreeBuilder &builder, dom::array array) {
  if (!builder.begin(Kind::array))
    return false;
  for (dom::element value : array)
    if (!add(builder, value))
      return false;
  return builder.end();
}

static JsonNode scalarOf(dom::element value) {
  JsonNode node;
  switch (value.type()) {
  case dom::element_type::BOOL:
    node.kind = Kind::boolean;
    node.boolean = value.get_bool().value_unsafe();
    break;
  case dom::element_type::INT64:
    node.kind = Kind::integer;
    node.integer = value.get_int64().value_unsafe();
    break;
  case dom::element_type::UINT64:
    node.kind = Kind::natural;
    node.natural = value.get_uint64().value_unsafe();
    break;
  case dom::element_type::DOUBLE:
    node.kind = Kind::number;
    node.number = value.get_double().value_unsafe();
    break;
  default:
    break;
  }
  return node;
}

static bool add(JsonTreeBuilder &builder, dom::element value) {
  switch (value.type()) {
  case dom::element_type::OBJECT:
    return add(builder, value.get_object().value_unsafe());
  case dom::element_type::ARRAY:
    return add(builder, value.get_array().value_unsafe());
  case dom::element_type::STRING:
    builder.addText(value.get_string().value_unsafe());
    return true;
  default:
    builder.add(scalarOf(value));
    return true;
  }
}

bool autopar::readValidJson(JsonTreeBuilder &builder, const std::string &text) {
  auto parser = std::make_shared<dom::parser>();
  dom::element root;
  if (parser->parse(text).get(root) != simdjson::SUCCESS || !add(builder, root))
    return false;
  builder.keep(std::move(parser));
  return true;
}
