//===- FieldTypes.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FieldTypes.h"

#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <map>

using namespace autopar;
using namespace autopar::model;

namespace {
struct Range {
  int64_t min, max;
};
} // namespace

/// Returns the ranges of integer types: far above any model, far below an
/// overflow.
static const std::map<std::string_view, Range> &integerTypes() {
  static const std::map<std::string_view, Range> ranges = {
      {"width", {1, int64_t(1) << 28}},
      {"count", {1, int64_t(1) << 20}},
      {"experts", {1, int64_t(1) << 24}},
      {"layers", {1, limits::maxConfigLayers}},
      {"tokens", {1, limits::maxTokens}},
      {"integer", {-(int64_t(1) << 53), int64_t(1) << 53}}};
  return ranges;
}

/// Returns the names of activation functions in configs, with those of
/// `transformer.activation`.
static const std::map<std::string, std::string> &activations() {
  static const std::map<std::string, std::string> names = {
      {"silu", "silu"},
      {"swish", "silu"},
      {"swiglu", "silu"},
      {"gelu", "gelu"},
      {"gelu_new", "gelu_tanh"},
      {"gelu_fast", "gelu_tanh"},
      {"gelu_pytorch_tanh", "gelu_tanh"},
      {"gelu_tanh", "gelu_tanh"},
      {"quick_gelu", "quick_gelu"},
      {"relu", "relu"},
      {"relu2", "relu2"},
      {"tanh", "tanh"},
      {"sigmoid", "sigmoid"}};
  return names;
}

std::string autopar::model::showValue(const JsonValue &value) {
  if (value.is_string())
    return shorten(value.get_ref<const std::string &>());
  if (value.is_number_float())
    return formatNumber(value.get<double>());
  return shorten(
      value.dump(-1, ' ', false, JsonValue::error_handler_t::replace));
}

static JsonValue readActivation(const JsonReader &reader) {
  std::string name = reader.asString();
  auto it = activations().find(name);
  if (it != activations().end())
    return it->second;
  std::vector<std::string> known;
  for (const auto &entry : activations())
    known.push_back(entry.first);
  if (!reader.failed())
    reader.fail("unknown function \"" + shorten(name) + "\"",
                "known: " + join(known, ", "));
  return name;
}

static void checkChoices(const JsonReader &reader, const JsonValue &field) {
  std::vector<std::string> known;
  for (const JsonValue &choice : field["choices"]) {
    if (choice == reader.toJson())
      return;
    known.push_back(showValue(choice));
  }
  reader.fail(
      "unknown value \"" + showValue(reader.toJson()) + "\"",
      "known: " + join(known, ", ") +
          (field.contains("why") ? "; " + showValue(field["why"]) : ""));
}

static void checkLetters(const JsonReader &reader, const std::string &text,
                         const JsonValue &letters) {
  std::string known = showValue(letters);
  size_t unknown = text.find_first_not_of(known);
  if (unknown != std::string::npos)
    reader.fail("unknown letter '" + shorten(text.substr(unknown, 1)) +
                    "' at position " + std::to_string(unknown),
                "known: " + known);
}

/// Returns `range`, narrowed by the members "min" and "max" of `field`.
static Range rangeOf(const JsonValue &field, Range range) {
  if (field.contains("min") && field["min"].is_number_integer())
    range.min = field["min"].get<int64_t>();
  if (field.contains("max") && field["max"].is_number_integer())
    range.max = field["max"].get<int64_t>();
  return range;
}

std::optional<int64_t> autopar::model::firstLayerOf(const JsonValue &field) {
  auto first = field.find("first_layer");
  if (first == field.end() || !first->is_number_integer())
    return std::nullopt;
  return first->get<int64_t>();
}

static JsonValue readList(const JsonReader &reader, const JsonValue &field) {
  if (!reader.isArray()) {
    reader.fail("expected a list, found " + showValue(reader.toJson()));
    return JsonValue::array();
  }
  if (field.contains("choices"))
    for (const JsonReader &element : reader.elements())
      checkChoices(element, field);
  // The entries are numbers of layers or blocks, or lists of such numbers.
  Range range = rangeOf(field, {-limits::maxLayers, limits::maxLayers});
  if (std::optional<int64_t> first = firstLayerOf(field))
    range.min = *first;
  if (field.contains("elements"))
    for (const JsonReader &element : reader.elements()) {
      if (field["elements"] != "list")
        element.asInteger(range.min, range.max);
      else if (!element.isArray())
        element.fail("expected a list, found " + showValue(element.toJson()));
    }
  return reader.toJson();
}

static JsonValue readInteger(const JsonReader &reader, const JsonValue &field,
                             Range range) {
  range = rangeOf(field, range);
  return reader.asInteger(range.min, range.max);
}

/// Reads a count, or the word "auto", which lets the count follow from other
/// fields.
static JsonValue readCountOrAuto(const JsonReader &reader,
                                 const JsonValue &field) {
  if (!reader.isString())
    return readInteger(reader, field, integerTypes().at("count"));
  if (reader.asString() != "auto")
    reader.fail("expected an integer or \"auto\", found \"" +
                showValue(reader.toJson()) + "\"");
  return "auto";
}

static JsonValue readFlag(const JsonReader &reader) {
  if (reader.isBoolean())
    return reader.toJson();
  reader.fail("expected true or false, found " + showValue(reader.toJson()));
  return false;
}

static JsonValue readTyped(const JsonReader &reader, const std::string &type,
                           const JsonValue &field) {
  auto integer = integerTypes().find(type);
  if (integer != integerTypes().end())
    return readInteger(reader, field, integer->second);
  if (type == "number")
    return reader.asNumber(-1e15, 1e15);
  if (type == "flag")
    return readFlag(reader);
  if (type == "text") {
    std::string text = reader.asString();
    if (!reader.failed() && field.contains("letters"))
      checkLetters(reader, text, field["letters"]);
    return text;
  }
  if (type == "activation")
    return readActivation(reader);
  if (type == "list")
    return readList(reader, field);
  if (type == "count_or_auto")
    return readCountOrAuto(reader, field);
  // The value is a list, or one integer for all layers.
  if (type == "list_or_integer")
    return reader.isArray()
               ? readList(reader, field)
               : readInteger(reader, field, integerTypes().at("integer"));
  if (type == "any") {
    if (field.contains("letters") && reader.isString())
      checkLetters(reader, reader.asString(), field["letters"]);
    return reader.toJson();
  }
  reader.fail("the family file gives this field the unknown type \"" +
              shorten(type) + "\"");
  return JsonValue();
}

/// Returns the number of entries of a list, or of letters of a text.
static int64_t lengthOf(const JsonValue &value) {
  if (value.is_string())
    return value.get_ref<const std::string &>().size();
  return value.is_array() ? value.size() : 0;
}

Result<JsonValue> autopar::model::readFieldValue(const JsonReader &reader,
                                                 const JsonValue &field) {
  auto type = field.find("type");
  JsonValue value = readTyped(
      reader,
      type != field.end() && type->is_string() ? type->get<std::string>() : "",
      field);
  if (!reader.failed() && !value.is_array() && field.contains("choices"))
    checkChoices(reader, field);
  if (int64_t length = lengthOf(value); length > limits::maxConfigLayers)
    reader.fail("has " + std::to_string(length) +
                " entries, expected at most " +
                std::to_string(limits::maxConfigLayers));
  if (reader.failed())
    return reader.takeError();
  return value;
}

std::string autopar::model::relationProblem(std::string_view relation,
                                            const JsonValue &value,
                                            const JsonValue &bound) {
  std::string shown = showValue(value);
  if (relation == "equals")
    return value.is_null() || bound.is_null() || value == bound
               ? ""
               : shown + " is not";
  if (relation == "length") {
    int64_t size = value.is_array() ? value.size() : -1;
    if (size < 0 || bound == size)
      return "";
    return "has " + std::to_string(size) + " entries for";
  }
  if (!value.is_number_integer() || !bound.is_number_integer())
    return "";
  int64_t a = value.get<int64_t>(), b = bound.get<int64_t>();
  if (relation == "divides")
    return a > 0 && b % a == 0 ? "" : shown + " does not divide";
  if (relation == "multiple_of")
    return b > 0 && a % b == 0 ? "" : shown + " is not a multiple of";
  return a <= b ? "" : shown + " exceeds";
}
