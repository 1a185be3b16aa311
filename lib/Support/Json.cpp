//===- Json.cpp -----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/Json.h"

#include "autopar/Support/File.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <set>

using namespace autopar;
using nlohmann::json;

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

namespace {

/// Builds the value from parser events, so that depth and duplicate keys are
/// seen as they come and nothing is ever recursed into.
class Builder : public nlohmann::json_sax<json> {
public:
  json root;
  /// Why the text was refused, and at which byte (0: at the last token).
  std::string message;
  size_t offset = 0;

  bool null() override { return add(nullptr); }
  bool boolean(bool v) override { return add(v); }
  bool number_integer(int64_t v) override { return add(v); }
  bool number_unsigned(uint64_t v) override { return add(v); }
  bool number_float(double v, const std::string &text) override {
    if (!std::isfinite(v))
      return refuse("number " + text + " does not fit in a double");
    return add(v);
  }
  bool string(std::string &v) override { return add(std::move(v)); }
  bool binary(json::binary_t &) override { return refuse("binary value"); }
  bool start_object(size_t) override { return open(json::object()); }
  bool end_object() override { return close(); }
  bool start_array(size_t) override { return open(json::array()); }
  bool end_array() override { return close(); }
  bool key(std::string &name) override {
    auto &object = stack.back()->get_ref<json::object_t &>();
    auto [it, isNew] = object.try_emplace(std::move(name));
    if (!isNew)
      return refuse("duplicate key \"" + shorten(it->first) + "\"");
    member = &it->second;
    return true;
  }
  bool parse_error(size_t position, const std::string &token,
                   const nlohmann::detail::exception &) override {
    offset = position;
    message = "syntax error near '" + shorten(token) + "'";
    return false;
  }

private:
  bool refuse(std::string why) {
    message = std::move(why);
    return false;
  }
  json *place(json value) {
    if (stack.empty()) {
      root = std::move(value);
      return &root;
    }
    json &parent = *stack.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    return &(*member = std::move(value));
  }
  bool add(json value) {
    place(std::move(value));
    return true;
  }
  bool open(json value) {
    if (stack.size() >= limits::maxNestingDepth)
      return refuse("nested deeper than " +
                    std::to_string(limits::maxNestingDepth) + " levels");
    stack.push_back(place(std::move(value)));
    return true;
  }
  bool close() {
    stack.pop_back();
    return true;
  }

  std::vector<json *> stack;
  /// Where the value of the last key goes.
  json *member = nullptr;
};

} // namespace

static std::string locate(const std::string &name, std::string_view text,
                          size_t offset) {
  offset = std::min(offset ? offset - 1 : 0, text.size());
  size_t line = 1, lineStart = 0;
  for (size_t i = 0; i < offset; ++i)
    if (text[i] == '\n') {
      ++line;
      lineStart = i + 1;
    }
  return name + ":" + std::to_string(line) + ":" +
         std::to_string(offset - lineStart + 1);
}

Result<JsonDocument> JsonDocument::parse(std::string_view text,
                                         std::string name) {
  Builder builder;
  if (!json::sax_parse(text.begin(), text.end(), &builder)) {
    std::string where =
        builder.offset ? locate(name, text, builder.offset) : name;
    return Error{std::move(where), std::move(builder.message), ""};
  }
  return JsonDocument(std::move(name),
                      std::make_unique<json>(std::move(builder.root)));
}

/// Makes texts of the numbers that only Python's JSON has, so that getters of
/// numbers refuse them.
static std::string quotePythonNumbers(const std::string &text) {
  std::string quoted;
  bool inString = false;
  auto wordAt = [&](size_t i) -> std::string_view {
    for (std::string_view word : {"-Infinity", "Infinity", "NaN"})
      if (!inString && text.compare(i, word.size(), word) == 0)
        return word;
    return "";
  };
  for (size_t i = 0; i < text.size();) {
    if (std::string_view word = wordAt(i); !word.empty()) {
      quoted.append(1, '"').append(word).append(1, '"');
      i += word.size();
      continue;
    }
    if (text[i] == '"')
      inString = !inString;
    else if (inString && text[i] == '\\' && i + 1 < text.size())
      quoted += text[i++];
    quoted += text[i++];
  }
  return quoted;
}

Result<JsonDocument> JsonDocument::readFile(const std::string &path,
                                            Dialect dialect) {
  Result<std::string> text = autopar::readFile(path);
  if (!text)
    return text.error();
  if (text->size() > limits::maxJsonBytes)
    return Error{path,
                 "is a JSON document of " + std::to_string(text->size()) +
                     " bytes, expected at most " +
                     std::to_string(limits::maxJsonBytes),
                 ""};
  if (dialect == Dialect::python)
    text = quotePythonNumbers(*text);
  return parse(*text, path == "-" ? "<stdin>" : path);
}

JsonDocument::JsonDocument(std::string file, std::unique_ptr<json> root)
    : file(std::move(file)), root(std::move(root)) {}
JsonDocument::JsonDocument(JsonDocument &&) = default;
JsonDocument &JsonDocument::operator=(JsonDocument &&) = default;
JsonDocument::~JsonDocument() = default;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

struct JsonReader::State {
  std::string file;
  std::optional<Error> error;
};

/// What readers point at after an error.
static const json nullValue;

JsonReader JsonDocument::reader() const {
  auto state = std::make_shared<JsonReader::State>();
  state->file = file;
  return JsonReader(std::move(state), root.get(), "");
}

static std::string describe(const json &value) {
  switch (value.type()) {
  case json::value_t::null:
    return "null";
  case json::value_t::object:
    return "an object";
  case json::value_t::array:
    return "an array";
  default:
    return shorten(value.dump(-1, ' ', false, json::error_handler_t::replace));
  }
}

/// Whether the value is an integer in range; a double that is whole counts,
/// as Python writes 1e9 for it.
static std::optional<int64_t> integerIn(const json &value, int64_t min,
                                        int64_t max) {
  int64_t integer;
  if (value.is_number_unsigned()) {
    auto number = value.get<uint64_t>();
    if (number > static_cast<uint64_t>(INT64_MAX))
      return std::nullopt;
    integer = static_cast<int64_t>(number);
  } else if (value.is_number_integer()) {
    integer = value.get<int64_t>();
  } else if (value.is_number_float()) {
    double number = value.get<double>();
    if (std::floor(number) != number || std::fabs(number) > 9e15)
      return std::nullopt;
    integer = static_cast<int64_t>(number);
  } else {
    return std::nullopt;
  }
  if (integer < min || integer > max)
    return std::nullopt;
  return integer;
}

static std::optional<double> numberIn(const json &value, double min,
                                      double max) {
  if (!value.is_number())
    return std::nullopt;
  double number = value.get<double>();
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

void JsonReader::fail(std::string message, std::string note) const {
  if (!failed())
    state->error = Error{path.empty() ? state->file : state->file + ": " + path,
                         std::move(message), std::move(note)};
}

void JsonReader::failAt(std::string_view key, std::string message,
                        std::string note) const {
  child(key, value).fail(std::move(message), std::move(note));
}

bool JsonReader::isObject() const { return value->is_object(); }
bool JsonReader::isArray() const { return value->is_array(); }
bool JsonReader::isString() const { return value->is_string(); }
bool JsonReader::isNumber() const { return value->is_number(); }

JsonReader JsonReader::child(std::string_view key, const json *value) const {
  std::string inner;
  inner.reserve(path.size() + 1 + key.size());
  inner.append(path).append(1, '/');
  for (size_t end; (end = key.find_first_of("~/")) != key.npos;) {
    inner.append(key.substr(0, end)).append(key[end] == '~' ? "~0" : "~1");
    key.remove_prefix(end + 1);
  }
  inner.append(key);
  return JsonReader(state, value, std::move(inner));
}

const json *JsonReader::find(std::string_view key) const {
  if (!value->is_object())
    return nullptr;
  auto it = value->find(key);
  return it == value->end() || it->is_null() ? nullptr : &*it;
}

const json *JsonReader::require(std::string_view key) const {
  if (const json *found = find(key))
    return found;
  if (!value->is_object()) {
    fail("expected an object, found " + describe(*value));
  } else {
    bool null = value->contains(key);
    fail((null ? "field \"" : "missing field \"") + std::string(key) +
         (null ? "\" is null" : "\""));
  }
  return nullptr;
}

bool JsonReader::has(std::string_view key) const { return find(key); }

bool JsonReader::isNullMember(std::string_view key) const {
  return value->is_object() && value->contains(key) && !find(key);
}

JsonReader JsonReader::member(std::string_view key) const {
  const json *found = require(key);
  return child(key, found ? found : &nullValue);
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
  if (!value->is_array())
    return readers;
  readers.reserve(value->size());
  for (size_t i = 0; i < value->size(); ++i)
    readers.push_back(child(std::to_string(i), &(*value)[i]));
  return readers;
}

std::vector<std::pair<std::string, JsonReader>> JsonReader::members() const {
  std::vector<std::pair<std::string, JsonReader>> readers;
  if (value->is_object())
    for (auto it = value->begin(); it != value->end(); ++it)
      readers.emplace_back(it.key(), child(it.key(), &it.value()));
  return readers;
}

std::string JsonReader::asString() const {
  if (value->is_string())
    return value->get<std::string>();
  fail("expected a string, found " + describe(*value));
  return "";
}

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
  const json *found = require(key);
  if (!found)
    return "";
  return found->is_string() ? found->get<std::string>()
                            : child(key, found).asString();
}

bool JsonReader::boolean(std::string_view key) const {
  const json *found = require(key);
  if (!found)
    return false;
  if (!found->is_boolean()) {
    failAt(key, "expected true or false, found " + describe(*found));
    return false;
  }
  return found->get<bool>();
}

int64_t JsonReader::integer(std::string_view key, int64_t min,
                            int64_t max) const {
  const json *found = require(key);
  if (!found)
    return min;
  auto integer = integerIn(*found, min, max);
  return integer ? *integer : child(key, found).asInteger(min, max);
}

double JsonReader::number(std::string_view key, double min, double max) const {
  const json *found = require(key);
  if (!found)
    return min;
  auto number = numberIn(*found, min, max);
  return number ? *number : child(key, found).asNumber(min, max);
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
  if (!value->is_object()) {
    fail("expected an object, found " + describe(*value));
    return;
  }
  for (auto it = value->begin(); it != value->end(); ++it)
    if (std::find(known.begin(), known.end(), it.key()) == known.end()) {
      failAt(it.key(), "unknown field \"" + shorten(it.key()) + "\"",
             "known fields: " + join(known, ", "));
      return;
    }
}
