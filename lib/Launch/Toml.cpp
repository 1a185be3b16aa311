//===- Toml.cpp - A reader of TOML ----------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Launch/Toml.h"

#include "autopar/Launch/LaunchLimits.h"
#include "autopar/Support/Limits.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

using namespace autopar;
using namespace autopar::launch;
using json = decltype(YamlDocument::value);

namespace {

/// Reads one text from front to back; `at` is the next character. After an
/// error nothing more is read.
class TomlReader {
public:
  TomlReader(const std::string &text, const std::string &name)
      : text(text), name(name) {
    document.value = json::object();
  }

  Result<YamlDocument> read();

private:
  char peek(size_t ahead = 0) const {
    return at + ahead < text.size() ? text[at + ahead] : '\0';
  }
  bool isDone() const { return failure || at >= text.size(); }
  bool take(char wanted);
  bool takeWord(std::string_view word);
  void fail(std::string message);
  void skipBlanks();
  /// Skips blanks, comments and ends of lines.
  void skipSpace();
  void endLine();

  std::vector<std::string> readKeys();
  std::string readKey();
  std::string readString();
  std::string readLongString(char quote);
  void readEscape(std::string &string);
  json readValue(unsigned depth);
  json readArray(unsigned depth);
  json readInlineTable(unsigned depth);
  json readPlain();
  void readHeader();
  json *open(json &table, const std::vector<std::string> &keys, size_t count,
             std::string &pointer);
  void assign(json &table, const std::vector<std::string> &keys, json value,
              int64_t line, const std::string &prefix);

  const std::string &text;
  const std::string &name;
  size_t at = 0;
  int64_t line = 1;
  size_t values = 0;
  YamlDocument document;
  std::optional<Error> failure;
  /// The table that lines are members of, by its keys and its pointer.
  std::vector<std::string> header;
  std::string headerPointer;
};

} // namespace

static bool isBareKey(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-';
}

bool TomlReader::take(char wanted) {
  if (peek() != wanted)
    return false;
  ++at;
  return true;
}

bool TomlReader::takeWord(std::string_view word) {
  if (text.compare(at, word.size(), word) != 0)
    return false;
  at += word.size();
  return true;
}

void TomlReader::fail(std::string message) {
  if (!failure)
    failure = Error{name + ":" + std::to_string(line), std::move(message), ""};
}

void TomlReader::skipBlanks() {
  while (peek() == ' ' || peek() == '\t')
    ++at;
  if (peek() == '#')
    at = std::min(text.find('\n', at), text.size());
  if (peek() == '\r' && peek(1) == '\n')
    ++at;
}

void TomlReader::skipSpace() {
  for (skipBlanks(); peek() == '\n'; skipBlanks()) {
    ++at;
    ++line;
  }
}

void TomlReader::endLine() {
  skipBlanks();
  if (!isDone() && peek() != '\n')
    fail("expected the end of the line");
}

//===----------------------------------------------------------------------===//
// Keys and strings
//===----------------------------------------------------------------------===//

void TomlReader::readEscape(std::string &string) {
  static constexpr std::pair<char, char> escapes[] = {
      {'n', '\n'}, {'t', '\t'}, {'r', '\r'},  {'b', '\b'},
      {'f', '\f'}, {'"', '"'},  {'\\', '\\'}, {'e', '\x1b'}};
  if (isDone())
    return fail("a string has no end");
  char letter = text[at++];
  for (auto [one, meaning] : escapes)
    if (one == letter) {
      string += meaning;
      return;
    }
  if (letter != 'u' && letter != 'U')
    return fail("no escape begins with this letter");
  // No setting has a letter outside of ASCII: what such an escape stands for is
  // kept as it is written.
  string += '\\';
  string += letter;
}

std::string TomlReader::readLongString(char quote) {
  std::string string, end(3, quote);
  if (peek() == '\n') {
    ++at;
    ++line;
  }
  while (!isDone() && text.compare(at, end.size(), end) != 0) {
    line += peek() == '\n';
    if (quote == '"' && take('\\')) {
      if (std::isspace(static_cast<unsigned char>(peek())))
        skipSpace();
      else
        readEscape(string);
      continue;
    }
    string += text[at++];
  }
  if (!takeWord(end))
    fail("a string has no end");
  return string;
}

std::string TomlReader::readString() {
  char quote = text[at++];
  if (peek() == quote && peek(1) == quote) {
    at += 2;
    return readLongString(quote);
  }
  std::string string;
  while (!isDone() && peek() != quote && peek() != '\n') {
    if (quote == '"' && take('\\'))
      readEscape(string);
    else
      string += text[at++];
  }
  if (!take(quote))
    fail("a string has no end");
  return string;
}

std::string TomlReader::readKey() {
  if (peek() == '"' || peek() == '\'')
    return readString();
  std::string key;
  while (isBareKey(peek()))
    key += text[at++];
  if (key.empty())
    fail("expected a key");
  return key;
}

std::vector<std::string> TomlReader::readKeys() {
  std::vector<std::string> keys;
  do {
    skipBlanks();
    keys.push_back(readKey());
    skipBlanks();
  } while (!failure && take('.'));
  if (keys.size() > limits::maxNestingDepth)
    fail("keys are nested too deeply");
  return keys;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Numbers, and what is none: dates and times.
json TomlReader::readPlain() {
  std::string word;
  while (isBareKey(peek()) || peek() == '.' || peek() == ':' || peek() == '+')
    word += text[at++];
  if (word == "true" || word == "false")
    return word == "true";
  std::string digits = word;
  digits.erase(std::remove(digits.begin(), digits.end(), '_'), digits.end());
  bool isHex = digits.rfind("0x", 0) == 0;
  const char *begin = digits.data() + (isHex ? 2 : digits[0] == '+' ? 1 : 0);
  const char *end = digits.data() + digits.size();
  int64_t integer = 0;
  auto [rest, error] = std::from_chars(begin, end, integer, isHex ? 16 : 10);
  if (begin != end && error == std::errc() && rest == end)
    return integer;
  char *stop = nullptr;
  double number = std::strtod(digits.c_str(), &stop);
  if (!digits.empty() && !*stop && std::isfinite(number))
    return number;
  if (word.empty())
    fail("expected a value");
  return word;
}

json TomlReader::readArray(unsigned depth) {
  json array = json::array();
  ++at;
  for (skipSpace(); !isDone() && peek() != ']'; skipSpace()) {
    array.push_back(readValue(depth + 1));
    skipSpace();
    if (!take(',') && peek() != ']')
      fail("expected a comma or ]");
  }
  if (!take(']'))
    fail("an array has no end");
  return array;
}

json TomlReader::readInlineTable(unsigned depth) {
  json table = json::object();
  ++at;
  for (skipSpace(); !isDone() && peek() != '}'; skipSpace()) {
    std::vector<std::string> keys = readKeys();
    if (!take('='))
      fail("expected =");
    int64_t start = line;
    assign(table, keys, readValue(depth + 1), start, "");
    skipSpace();
    if (!take(',') && peek() != '}')
      fail("expected a comma or }");
  }
  if (!take('}'))
    fail("a table has no end");
  return table;
}

json TomlReader::readValue(unsigned depth) {
  skipBlanks();
  if (++values > limits::maxYamlValues)
    fail("more values than " + std::to_string(limits::maxYamlValues));
  if (depth > limits::maxNestingDepth)
    fail("values are nested too deeply");
  if (isDone()) {
    fail("expected a value");
    return nullptr;
  }
  switch (peek()) {
  case '"':
  case '\'':
    return readString();
  case '[':
    return readArray(depth);
  case '{':
    return readInlineTable(depth);
  default:
    return readPlain();
  }
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// The table at the first `count` keys, made where it is absent; of an array of
/// tables the last one.
json *TomlReader::open(json &table, const std::vector<std::string> &keys,
                       size_t count, std::string &pointer) {
  json *inner = &table;
  for (size_t i = 0; i < count; ++i) {
    pointer += "/" + keys[i];
    json &member = (*inner)[keys[i]];
    if (member.is_null())
      member = json::object();
    inner = member.is_array() && !member.empty() ? &member.back() : &member;
    if (!inner->is_object()) {
      fail(keys[i] + " has a value already");
      return nullptr;
    }
  }
  return inner;
}

void TomlReader::assign(json &table, const std::vector<std::string> &keys,
                        json value, int64_t valueLine,
                        const std::string &prefix) {
  if (failure || keys.empty())
    return;
  std::string pointer = prefix;
  json *inner = open(table, keys, keys.size() - 1, pointer);
  if (!inner)
    return;
  if (inner->contains(keys.back()))
    return fail("the key " + keys.back() + " is given twice");
  document.lines[pointer + "/" + keys.back()] = valueLine;
  (*inner)[keys.back()] = std::move(value);
}

void TomlReader::readHeader() {
  bool isArray = takeWord("[[");
  if (!isArray)
    ++at;
  header = readKeys();
  if (!takeWord(isArray ? "]]" : "]"))
    fail("a table's name has no end");
  headerPointer.clear();
  if (failure)
    return;
  if (!isArray) {
    open(document.value, header, header.size(), headerPointer);
    return;
  }
  if (json *outer =
          open(document.value, header, header.size() - 1, headerPointer)) {
    json &tables = (*outer)[header.back()];
    if (tables.is_null())
      tables = json::array();
    if (!tables.is_array())
      return fail(header.back() + " has a value already");
    tables.push_back(json::object());
    headerPointer += "/" + header.back();
  }
}

Result<YamlDocument> TomlReader::read() {
  for (skipSpace(); !isDone(); skipSpace()) {
    if (peek() == '[') {
      readHeader();
    } else {
      int64_t start = line;
      std::vector<std::string> keys = readKeys();
      if (!take('='))
        fail("expected =");
      json value = readValue(0);
      std::string pointer;
      if (json *table =
              failure ? nullptr
                      : open(document.value, header, header.size(), pointer))
        assign(*table, keys, std::move(value), start, headerPointer);
    }
    if (!failure)
      endLine();
  }
  if (failure)
    return *failure;
  return std::move(document);
}

Result<YamlDocument> autopar::launch::readToml(const std::string &text,
                                               const std::string &name) {
  return TomlReader(text, name).read();
}
