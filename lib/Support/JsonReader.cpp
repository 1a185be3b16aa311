//===- JsonReader.cpp - Checked reading of values -------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonState.h"

#include "autopar/Support/Text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

using namespace autopar;
using nlohmann::json;
using Kind = JsonNode::Kind;

/// The value that readers have after an error.
static const JsonNode nullNode;

static std::string describe(const JsonNode &value) {
  switch (value.kind) {
  case Kind::null:
    return "null";
  case Kind::object:
    return "an object";
  case Kind::array:
    return "an array";
  default:
    return shorten(
        toJson(value).dump(-1, ' ', false, json::error_handler_t::replace));
  }
}

/// Returns the value as an integer; nothing if it is none or out of range. A
/// double without a fraction counts as an integer, because Python writes 1e9
/// for an integer.
static std::optional<int64_t> integerIn(const JsonNode &value, int64_t min,
                                        int64_t max) {
  int64_t integer = value.integer;
  if (value.kind == Kind::number) {
    if (std::floor(value.number) != value.number ||
        std::fabs(value.number) > 9e15)
      return std::nullopt;
    integer = static_cast<int64_t>(value.number);
  } else if (value.kind != Kind::integer) {
    return std::nullopt;
  }
  if (integer < min || integer > max)
    return std::nullopt;
  return integer;
}

static bool isNumberNode(const JsonNode &value) {
  return value.kind == Kind::integer || value.kind == Kind::natural ||
         value.kind == Kind::number;
}

static double numberOf(const JsonNode &value) {
  switch (value.kind) {
  case Kind::integer:
    return static_cast<double>(value.integer);
  case Kind::natural:
    return static_cast<double>(value.natural);
  default:
    return value.number;
  }
}

static std::optional<double> numberIn(const JsonNode &value, double min,
                                      double max) {
  if (!isNumberNode(value))
    return std::nullopt;
  double number = numberOf(value);
  return number >= min && number <= max ? std::optional(number) : std::nullopt;
}

static std::string rangeText(int64_t min, int64_t max) {
  return "expected an integer from " + std::to_string(min) + " to " +
         std::to_string(max);
}

static std::string rangeText(double min, double max) {
  return "expected a number from " + formatNumber(min) + " to " +
         formatNumber(max);
}

bool JsonReader::failed() const { return state->error.has_value(); }
Error JsonReader::takeError() const { return *state->error; }

void JsonReader::State::fail(const std::string &pointer, std::string message,
                             std::string note) {
  error = Error{pointer.empty() ? file : file + ": " + pointer,
                std::move(message), std::move(note)};
}

void JsonReader::fail(std::string message, std::string note) const {
  if (!failed())
    state->fail(pointer(), std::move(message), std::move(note));
}

void JsonReader::failAt(std::string_view key, std::string message,
                        std::string note) const {
  if (failed())
    return;
  json::json_pointer step;
  step.push_back(std::string(key));
  state->fail(pointer() + step.to_string(), std::move(message),
              std::move(note));
}

bool JsonReader::isObject() const { return value->kind == Kind::object; }
bool JsonReader::isArray() const { return value->kind == Kind::array; }
bool JsonReader::isString() const { return value->kind == Kind::string; }
bool JsonReader::isNumber() const { return isNumberNode(*value); }
bool JsonReader::isBoolean() const { return value->kind == Kind::boolean; }

json JsonReader::toJson() const { return autopar::toJson(*value); }

std::string JsonReader::pointer() const {
  return state->tree.pointerTo(*value);
}

const JsonNode *JsonReader::find(std::string_view key) const {
  if (!isObject())
    return nullptr;
  const JsonNode *found = state->tree.find(*value, key);
  return found && found->kind != Kind::null ? found : nullptr;
}

const JsonNode *JsonReader::require(std::string_view key) const {
  if (const JsonNode *found = find(key))
    return found;
  if (!isObject()) {
    fail("expected an object, found " + describe(*value));
  } else {
    bool null = state->tree.find(*value, key);
    fail((null ? "field \"" : "missing field \"") + std::string(key) +
         (null ? "\" is null" : "\""));
  }
  return nullptr;
}

bool JsonReader::has(std::string_view key) const { return find(key); }

bool JsonReader::isNullMember(std::string_view key) const {
  return isObject() && state->tree.find(*value, key) && !find(key);
}

JsonReader JsonReader::member(std::string_view key) const {
  const JsonNode *found = require(key);
  return JsonReader(state, found ? found : &nullNode);
}

JsonReader JsonReader::object(std::string_view key) const {
  JsonReader reader = member(key);
  if (!failed() && !reader.isObject())
    reader.fail("expected an object, found " + describe(*reader.value));
  return reader;
}

JsonReader JsonReader::array(std::string_view key) const {
  JsonReader reader = member(key);
  if (!failed() && !reader.isArray())
    reader.fail("expected an array, found " + describe(*reader.value));
  return reader;
}

std::vector<JsonReader> JsonReader::elements() const {
  std::vector<JsonReader> readers;
  if (!isArray())
    return readers;
  readers.reserve(value->size);
  const JsonNode *at = value + 1;
  for (uint32_t i = 0; i < value->size; ++i, at = at->next())
    readers.push_back(JsonReader(state, at));
  return readers;
}

std::vector<std::string> JsonReader::strings(std::string_view key) const {
  std::vector<std::string> texts;
  for (const JsonReader &text : array(key).elements())
    texts.push_back(text.asString());
  return texts;
}

std::vector<std::pair<std::string, JsonReader>> JsonReader::members() const {
  std::vector<std::pair<std::string, JsonReader>> readers;
  if (!isObject())
    return readers;
  readers.reserve(value->size);
  for (const JsonNode *key : state->tree.keys(*value))
    readers.emplace_back(key->string(), JsonReader(state, key + 1));
  return readers;
}

std::string_view JsonReader::asStringView() const {
  if (isString())
    return value->string();
  fail("expected a string, found " + describe(*value));
  return "";
}

std::string JsonReader::asString() const { return std::string(asStringView()); }

int64_t JsonReader::asInteger(int64_t min, int64_t max) const {
  if (auto integer = integerIn(*value, min, max))
    return *integer;
  fail(rangeText(min, max) + ", found " + describe(*value));
  return min;
}

double JsonReader::asNumber(double min, double max) const {
  if (auto number = numberIn(*value, min, max))
    return *number;
  fail(rangeText(min, max) + ", found " + describe(*value));
  return min;
}

std::string JsonReader::string(std::string_view key) const {
  const JsonNode *found = require(key);
  return found ? JsonReader(state, found).asString() : "";
}

bool JsonReader::boolean(std::string_view key) const {
  const JsonNode *found = require(key);
  if (!found)
    return false;
  if (found->kind != Kind::boolean) {
    failAt(key, "expected true or false, found " + describe(*found));
    return false;
  }
  return found->boolean;
}

int64_t JsonReader::integer(std::string_view key, int64_t min,
                            int64_t max) const {
  const JsonNode *found = require(key);
  if (!found)
    return min;
  auto integer = integerIn(*found, min, max);
  return integer ? *integer : JsonReader(state, found).asInteger(min, max);
}

double JsonReader::number(std::string_view key, double min, double max) const {
  const JsonNode *found = require(key);
  if (!found)
    return min;
  auto number = numberIn(*found, min, max);
  return number ? *number : JsonReader(state, found).asNumber(min, max);
}

std::optional<int64_t> JsonReader::optionalInteger(std::string_view key,
                                                   int64_t min,
                                                   int64_t max) const {
  if (!has(key))
    return std::nullopt;
  return integer(key, min, max);
}

std::optional<double> JsonReader::optionalNumber(std::string_view key,
                                                 double min, double max) const {
  if (!has(key))
    return std::nullopt;
  return number(key, min, max);
}

std::optional<std::string>
JsonReader::optionalString(std::string_view key) const {
  if (!has(key))
    return std::nullopt;
  return string(key);
}

bool JsonReader::booleanOr(std::string_view key, bool absent) const {
  return has(key) ? boolean(key) : absent;
}

void JsonReader::allowOnly(const std::vector<std::string_view> &known) const {
  if (!isObject()) {
    fail("expected an object, found " + describe(*value));
    return;
  }
  auto isKnown = [&](std::string_view key) {
    return std::find(known.begin(), known.end(), key) != known.end();
  };
  // Of several unknown keys, the first in alphabetical order is reported.
  std::optional<std::string_view> wrong;
  const JsonNode *key = value + 1;
  for (uint32_t i = 0; i < value->size; ++i, key = (key + 1)->next())
    if (!isKnown(key->string()) && (!wrong || key->string() < *wrong))
      wrong = key->string();
  if (wrong)
    failAt(*wrong, "unknown field \"" + shorten(*wrong) + "\"",
           "known fields: " + join(known, ", "));
}
