//===- Json.cpp - Documents of JSON ---------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/Json.h"
#include "JsonBuilder.h"
#include "JsonState.h"

#include "autopar/Support/File.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <nlohmann/json.hpp>

#include <cmath>

using namespace autopar;
using nlohmann::json;

namespace {

/// Reads any JSON, and describes the errors of texts that are no JSON.
class Judge : public nlohmann::json_sax<json> {
public:
  explicit Judge(JsonTreeBuilder &builder) : builder(builder) {}

  /// The error, and the byte at which it is (0: at the last token).
  std::string message, note;
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
  bool string(std::string &v) override {
    builder.addText(builder.keep(std::move(v)));
    return true;
  }
  bool binary(json::binary_t &) override { return refuse("binary value"); }
  bool start_object(size_t) override { return begin(JsonNode::Kind::object); }
  bool end_object() override { return end(); }
  bool start_array(size_t) override { return begin(JsonNode::Kind::array); }
  bool end_array() override { return end(); }
  bool key(std::string &name) override {
    builder.addKey(builder.keep(std::move(name)));
    return true;
  }
  bool parse_error(size_t position, const std::string &token,
                   const nlohmann::detail::exception &) override {
    offset = position;
    message = "syntax error near '" + shorten(token) + "'";
    if (position == 1)
      note = "the file is not JSON, which begins with { or [";
    return false;
  }

private:
  bool refuse(std::string why) {
    message = std::move(why);
    return false;
  }
  bool add(const json &value) {
    addJson(builder, value);
    return true;
  }
  bool begin(JsonNode::Kind kind) {
    return builder.begin(kind) ||
           refuse("nested deeper than " +
                  std::to_string(limits::maxNestingDepth) + " levels");
  }
  bool end() {
    return builder.end() ||
           refuse("duplicate key \"" + shorten(builder.duplicate()) + "\"");
  }

  JsonTreeBuilder &builder;
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
  auto tree = std::make_unique<JsonTree>(text.size());
  JsonTreeBuilder builder(*tree);
  if (readValidJson(builder, text))
    return JsonDocument(std::move(name), std::move(tree));
  builder.clear();
  Judge judge(builder);
  if (!json::sax_parse(text, &judge))
    return Error{judge.offset ? locate(name, text, judge.offset) : name,
                 std::move(judge.message), std::move(judge.note)};
  // A zero byte is refused here, because nlohmann takes it for the end of the
  // text.
  if (size_t zero = text.find('\0'); zero != text.npos)
    return Error{locate(name, text, zero + 1), "syntax error near a zero byte",
                 ""};
  return JsonDocument(std::move(name), std::move(tree));
}

/// Puts the numbers that only Python's JSON has in quotes, so that getters of
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

JsonDocument::JsonDocument(std::string file, std::unique_ptr<JsonTree> tree)
    : file(std::move(file)), tree(std::move(tree)) {}
JsonDocument::JsonDocument(JsonDocument &&) = default;
JsonDocument &JsonDocument::operator=(JsonDocument &&) = default;
JsonDocument::~JsonDocument() = default;

json JsonDocument::toJson() const { return autopar::toJson(tree->root()); }

void JsonDocument::set(const json &value) {
  auto made = std::make_unique<JsonTree>();
  JsonTreeBuilder builder(*made);
  addJson(builder, value);
  tree = std::move(made);
}

JsonReader JsonDocument::reader() const {
  auto state =
      std::make_shared<JsonReader::State>(JsonReader::State{*tree, file});
  return JsonReader(std::move(state), &tree->root());
}
