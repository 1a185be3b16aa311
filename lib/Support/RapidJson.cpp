//===- RapidJson.cpp - Documents without mistakes -------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonBuilder.h"

// With this definition, RapidJSON skips spaces and scans strings with SIMD
// instructions.
#ifdef __SSE2__
#define RAPIDJSON_SSE2
#endif
#include <rapidjson/reader.h>

#include <charconv>

using namespace autopar;
using Kind = JsonNode::Kind;

namespace {

/// Receives the events of RapidJSON's reader.
class Handler
    : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Handler> {
public:
  explicit Handler(JsonTreeBuilder &builder) : builder(builder) {}

  // RapidJSON's names, which replace its defaults.
  // NOLINTBEGIN(readability-identifier-naming)
  // NOLINTBEGIN(bugprone-derived-method-shadowing-base-method)
  bool Null() { return add({}); }
  bool Bool(bool value) {
    JsonNode node;
    node.kind = Kind::boolean;
    node.boolean = value;
    return add(node);
  }
  bool RawNumber(const char *text, unsigned size, bool) {
    return addNumber({text, size});
  }
  bool String(const char *text, unsigned size, bool) {
    builder.addText({text, size});
    return true;
  }
  bool Key(const char *text, unsigned size, bool) {
    builder.addKey({text, size});
    return true;
  }
  bool StartObject() { return builder.begin(Kind::object); }
  bool EndObject(unsigned) { return builder.end(); }
  bool StartArray() { return builder.begin(Kind::array); }
  bool EndArray(unsigned) { return builder.end(); }
  // NOLINTEND(bugprone-derived-method-shadowing-base-method)
  // NOLINTEND(readability-identifier-naming)

private:
  bool add(JsonNode node) {
    builder.add(node);
    return true;
  }
  bool addNumber(std::string_view text);

  JsonTreeBuilder &builder;
};

} // namespace

/// Adds the number in `text`. Returns false for integers above int64_t, and for
/// numbers beyond doubles.
bool Handler::addNumber(std::string_view text) {
  bool isWhole = text.find_first_of(".eE") == text.npos;
  JsonNode node;
  node.kind = isWhole ? Kind::integer : Kind::number;
  const char *first = text.data(), *last = first + text.size();
  std::from_chars_result read = isWhole
                                    ? std::from_chars(first, last, node.integer)
                                    : std::from_chars(first, last, node.number);
  return read.ec == std::errc() && add(node);
}

/// Returns whether `text` is ASCII without control characters that JSON
/// forbids. The loop has no early exit, so that it is vectorised.
static bool isPlain(std::string_view text) {
  bool isOdd = false;
  for (char c : text) {
    // Bytes beyond ASCII are negative as signed characters.
    auto letter = static_cast<signed char>(c);
    isOdd |= (letter < ' ') & (c != '\n') & (c != '\r') & (c != '\t');
  }
  return !isOdd;
}

/// Reads only plain text, because RapidJSON scans other text byte by byte, and
/// its version 1.1 accepts some control characters in strings.
bool autopar::readValidJson(JsonTreeBuilder &builder, std::string_view text) {
  constexpr unsigned flags =
      rapidjson::kParseInsituFlag | rapidjson::kParseNumbersAsStringsFlag;
  if (!isPlain(text))
    return false;
  // SIMD scans may read this many bytes beyond the end of the text.
  constexpr size_t together = 16;
  auto own = std::make_shared<std::string>();
  own->reserve(text.size() + together);
  own->append(text).append(together, '\0');
  rapidjson::InsituStringStream stream(own->data());
  Handler handler(builder);
  rapidjson::Reader reader;
  if (!reader.Parse<flags>(stream, handler) || stream.Tell() != text.size())
    return false;
  builder.keep(std::move(own));
  return true;
}
