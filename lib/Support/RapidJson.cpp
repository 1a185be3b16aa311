//===- RapidJson.cpp - Documents without mistakes -------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonBuilder.h"

// Space and letters of strings, many at once.
#ifdef __SSE2__
#define RAPIDJSON_SSE2
#endif
#include <rapidjson/reader.h>

using namespace autopar;
using Kind = JsonNode::Kind;

namespace {

/// What RapidJSON's reader tells of a text.
class Handler {
public:
  explicit Handler(JsonTreeBuilder &builder) : builder(builder) {}

  // RapidJSON's names. NOLINTBEGIN(readability-identifier-naming)
  bool Null() { return add({}); }
  bool Bool(bool value) {
    JsonNode node;
    node.kind = Kind::boolean;
    node.boolean = value;
    return add(node);
  }
  bool Int(int value) { return Int64(value); }
  bool Uint(unsigned value) { return Int64(value); }
  bool Int64(int64_t value) {
    JsonNode node;
    node.kind = Kind::integer;
    node.integer = value;
    return add(node);
  }
  /// One that int64_t has not.
  bool Uint64(uint64_t value) {
    if (value <= uint64_t(INT64_MAX))
      return Int64(int64_t(value));
    JsonNode node;
    node.kind = Kind::natural;
    node.natural = value;
    return add(node);
  }
  bool Double(double value) {
    JsonNode node;
    node.kind = Kind::number;
    node.number = value;
    return add(node);
  }
  /// Of numbers as strings, which nobody asks for.
  bool RawNumber(const char *, unsigned, bool) { return false; }
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
  // NOLINTEND(readability-identifier-naming)

private:
  bool add(JsonNode node) {
    builder.add(node);
    return true;
  }

  JsonTreeBuilder &builder;
};

} // namespace

/// Without a way out, so that many letters are looked at at once.
static bool isAscii(const std::string &text) {
  unsigned char all = 0;
  for (char c : text)
    all |= static_cast<unsigned char>(c);
  return all < 0x80;
}

/// RapidJSON looks at each letter where some may be beyond ASCII.
bool autopar::readValidJson(JsonTreeBuilder &builder, const std::string &text) {
  constexpr unsigned flags =
      rapidjson::kParseInsituFlag | rapidjson::kParseFullPrecisionFlag;
  if (!isAscii(text))
    return false;
  auto own = std::make_shared<std::string>(text);
  rapidjson::InsituStringStream stream(own->data());
  Handler handler(builder);
  rapidjson::Reader reader;
  if (!reader.Parse<flags>(stream, handler) || stream.Tell() != text.size())
    return false;
  builder.keep(std::move(own));
  return true;
}
