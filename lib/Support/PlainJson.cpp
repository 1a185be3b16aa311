//===- PlainJson.cpp - JSON as files of the library have it ---------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonBuilder.h"

#include <array>
#include <charconv>
#include <cstring>

using namespace autopar;
using Kind = JsonNode::Kind;

namespace {

constexpr std::array<bool, 256> plainLetters = [] {
  std::array<bool, 256> plain{};
  for (int c = ' '; c < 128; ++c)
    plain[c] = c != '"' && c != '\\';
  return plain;
}();

bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// By RFC 8259. The byte after the text is zero, which nothing goes beyond.
class PlainReader {
public:
  PlainReader(JsonTreeBuilder &builder, const std::string &text)
      : builder(builder), at(text.c_str()), end(at + text.size()) {}

  bool run() {
    skipSpace();
    if (!readValue())
      return false;
    skipSpace();
    return at == end;
  }

private:
  void skipSpace() {
    while (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')
      ++at;
  }
  /// Whether `sign` was next, with space around.
  bool skip(char sign) {
    skipSpace();
    if (*at != sign)
      return false;
    ++at;
    skipSpace();
    return true;
  }

  bool readValue() {
    switch (*at) {
    case '{':
      return readObject();
    case '[':
      return readArray();
    case '"':
      if (!readString())
        return false;
      builder.addText(string);
      return true;
    case 't':
      return readWord("true", Kind::boolean, true);
    case 'f':
      return readWord("false", Kind::boolean, false);
    case 'n':
      return readWord("null", Kind::null, false);
    default:
      return readNumber();
    }
  }

  bool readObject() {
    if (!builder.begin(Kind::object) || !skip('{'))
      return false;
    bool isEmpty = *at == '}';
    while (!isEmpty) {
      if (*at != '"' || !readString())
        return false;
      builder.addKey(string);
      if (!skip(':') || !readValue())
        return false;
      if (!skip(','))
        break;
    }
    return *at++ == '}' && builder.end();
  }

  bool readArray() {
    if (!builder.begin(Kind::array) || !skip('['))
      return false;
    bool isEmpty = *at == ']';
    while (!isEmpty) {
      if (!readValue())
        return false;
      if (!skip(','))
        break;
    }
    return *at++ == ']' && builder.end();
  }

  std::string_view readLetters() {
    const char *first = at;
    while (plainLetters[static_cast<unsigned char>(*at)])
      ++at;
    return {first, static_cast<size_t>(at - first)};
  }

  bool readString() {
    ++at;
    string = readLetters();
    if (*at == '\\' && !readEscapes())
      return false;
    return *at++ == '"';
  }

  /// The rest of `string` from its first escape on.
  bool readEscapes() {
    static constexpr std::string_view letters = "\"\\/bfnrt",
                                      meant = "\"\\/\b\f\n\r\t";
    std::string made(string);
    while (*at == '\\') {
      size_t which = letters.find(*++at);
      if (which == letters.npos)
        return false;
      ++at;
      made += meant[which];
      made += readLetters();
    }
    string = builder.keep(std::move(made));
    return true;
  }

  bool readWord(std::string_view word, Kind kind, bool value) {
    if (std::strncmp(at, word.data(), word.size()) != 0)
      return false;
    at += word.size();
    JsonNode node;
    node.kind = kind;
    node.boolean = value;
    builder.add(node);
    return true;
  }

  bool skipDigits() {
    const char *first = at;
    while (isDigit(*at))
      ++at;
    return at != first;
  }

  /// Moves over a number. `isWhole`: it has digits and a sign only.
  bool skipNumber(bool &isWhole) {
    at += *at == '-';
    const char *first = at;
    if (!skipDigits() || (*first == '0' && at != first + 1))
      return false;
    isWhole = true;
    if (*at == '.') {
      isWhole = false;
      ++at;
      if (!skipDigits())
        return false;
    }
    if (*at != 'e' && *at != 'E')
      return true;
    isWhole = false;
    ++at;
    at += *at == '+' || *at == '-';
    return skipDigits();
  }

  bool readNumber() {
    const char *first = at;
    bool isWhole = false;
    if (!skipNumber(isWhole))
      return false;
    JsonNode node;
    node.kind = isWhole ? Kind::integer : Kind::number;
    std::from_chars_result read = isWhole
                                      ? std::from_chars(first, at, node.integer)
                                      : std::from_chars(first, at, node.number);
    builder.add(node);
    return read.ec == std::errc();
  }

  JsonTreeBuilder &builder;
  const char *at, *end;
  /// The last that was read.
  std::string_view string;
};

} // namespace

bool autopar::readPlainJson(JsonTreeBuilder &builder, const std::string &text) {
  return PlainReader(builder, text).run();
}
