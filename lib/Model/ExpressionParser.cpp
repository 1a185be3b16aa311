//===- ExpressionParser.cpp -----------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExpressionParser.h"

#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <array>
#include <charconv>

using namespace autopar;
using namespace autopar::model;

/// Binary operators by precedence, lowest first; an operator that begins with
/// another one comes before it.
static const std::array<std::vector<std::string_view>, 5> levels = {{
    {"or"},
    {"and"},
    {"==", "!=", "<=", ">=", "<", ">", "in"},
    {"+", "-"},
    {"*", "//", "/", "%"},
}};

static bool isWordStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool isDigit(char c) { return c >= '0' && c <= '9'; }
static bool isWordPart(char c) { return isWordStart(c) || isDigit(c); }

std::optional<uint32_t> ExpressionParser::parse() {
  uint32_t root = parseConditional();
  skipSpace();
  if (position != text.size())
    fail("expected an operator");
  if (!message.empty())
    return std::nullopt;
  return root;
}

Error ExpressionParser::error() const {
  return Error{"",
               message + " at column " + std::to_string(failedAt + 1) +
                   " of \"" + shorten(text) + "\"",
               ""};
}

void ExpressionParser::fail(std::string why) {
  if (!message.empty())
    return;
  message = std::move(why);
  failedAt = position;
}

uint32_t ExpressionParser::add(Node::Kind kind, std::string name,
                               std::vector<uint32_t> operands) {
  nodes.push_back({kind, std::move(name), JsonValue(), std::move(operands)});
  return nodes.size() - 1;
}

void ExpressionParser::skipSpace() {
  while (position < text.size() &&
         (text[position] == ' ' || text[position] == '\n'))
    ++position;
}

bool ExpressionParser::atWord(std::string_view word) const {
  size_t end = position + word.size();
  return text.substr(position, word.size()) == word &&
         (end >= text.size() || !isWordPart(text[end]));
}

bool ExpressionParser::takeWord(std::string_view word) {
  skipSpace();
  if (!atWord(word))
    return false;
  position += word.size();
  return true;
}

bool ExpressionParser::take(std::string_view symbol) {
  skipSpace();
  if (text.substr(position, symbol.size()) != symbol)
    return false;
  position += symbol.size();
  return true;
}

void ExpressionParser::expect(std::string_view symbol) {
  if (!take(symbol))
    fail("expected \"" + std::string(symbol) + "\"");
}

uint32_t ExpressionParser::parseConditional() {
  if (++depth > limits::maxNestingDepth)
    fail("nested too deeply");
  uint32_t value = message.empty() ? parseBinary(0) : 0;
  if (message.empty() && takeWord("if")) {
    uint32_t condition = parseBinary(0);
    if (!takeWord("else"))
      fail("expected \"else\"");
    uint32_t other = message.empty() ? parseConditional() : 0;
    value = add(Node::Kind::conditional, "", {condition, value, other});
  }
  --depth;
  return value;
}

std::string_view ExpressionParser::takeOperator(unsigned level) {
  skipSpace();
  for (std::string_view op : levels[level])
    if (isWordStart(op.front()) ? takeWord(op) : take(op))
      return op;
  if (level == 2 && takeWord("not")) {
    if (!takeWord("in"))
      fail("expected \"in\"");
    return "not in";
  }
  return "";
}

uint32_t ExpressionParser::parseBinary(unsigned level) {
  if (level == levels.size())
    return parseUnary();
  uint32_t left = parseBinary(level + 1);
  while (message.empty()) {
    std::string_view op = takeOperator(level);
    if (op.empty())
      break;
    uint32_t right = parseBinary(level + 1);
    left = add(Node::Kind::binary, std::string(op), {left, right});
  }
  return left;
}

uint32_t ExpressionParser::parseUnary() {
  if (++depth > limits::maxNestingDepth)
    fail("nested too deeply");
  uint32_t value = 0;
  if (!message.empty())
    value = 0;
  else if (takeWord("not"))
    value = add(Node::Kind::unary, "not", {parseBinary(2)});
  else if (take("-"))
    value = add(Node::Kind::unary, "-", {parseUnary()});
  else
    value = parsePostfix();
  --depth;
  return value;
}

uint32_t ExpressionParser::parsePostfix() {
  uint32_t value = parsePrimary();
  while (message.empty() && take("[")) {
    uint32_t index = parseConditional();
    expect("]");
    value = add(Node::Kind::index, "", {value, index});
  }
  return value;
}

uint32_t ExpressionParser::parsePrimary() {
  skipSpace();
  if (position >= text.size()) {
    fail("expected a value");
    return 0;
  }
  char c = text[position];
  if (isDigit(c))
    return parseNumber();
  if (c == '\'')
    return parseText();
  if (isWordStart(c))
    return parseName();
  if (take("[")) {
    std::vector<uint32_t> elements = parseList(']');
    return add(Node::Kind::list, "", std::move(elements));
  }
  if (!take("("))
    fail("expected a value");
  uint32_t value = message.empty() ? parseConditional() : 0;
  expect(")");
  return value;
}

std::vector<uint32_t> ExpressionParser::parseList(char close) {
  std::vector<uint32_t> elements;
  std::string_view end(&close, 1);
  if (take(end))
    return elements;
  do
    elements.push_back(parseConditional());
  while (message.empty() && take(","));
  expect(end);
  return elements;
}

uint32_t ExpressionParser::parseName() {
  size_t begin = position;
  while (position < text.size() &&
         (isWordPart(text[position]) ||
          (text[position] == '.' && position + 1 < text.size() &&
           isWordStart(text[position + 1]))))
    ++position;
  std::string name(text.substr(begin, position - begin));
  if (take("("))
    return add(Node::Kind::call, std::move(name), parseList(')'));
  uint32_t node = add(Node::Kind::literal, name);
  if (name == "True" || name == "False")
    nodes[node].literal = name == "True";
  else if (name != "None")
    nodes[node].kind = Node::Kind::name;
  return node;
}

uint32_t ExpressionParser::parseNumber() {
  const char *begin = text.data() + position, *end = text.data() + text.size();
  int64_t integer = 0;
  double number = 0;
  auto asInteger = std::from_chars(begin, end, integer);
  auto asNumber = std::from_chars(begin, end, number);
  bool whole = asInteger.ec == std::errc() && asInteger.ptr == asNumber.ptr;
  if (asNumber.ec != std::errc())
    fail("number out of range");
  position = asNumber.ptr - text.data();
  uint32_t node = add(Node::Kind::literal, "");
  nodes[node].literal = whole ? JsonValue(integer) : JsonValue(number);
  return node;
}

uint32_t ExpressionParser::parseText() {
  size_t end = text.find('\'', position + 1);
  if (end == std::string_view::npos) {
    fail("expected a closing '");
    return 0;
  }
  uint32_t node = add(Node::Kind::literal, "");
  nodes[node].literal = text.substr(position + 1, end - position - 1);
  position = end + 1;
  return node;
}
