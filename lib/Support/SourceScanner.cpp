//===- SourceScanner.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SourceScanner.h"

#include "autopar/Support/Limits.h"
#include "autopar/Support/SourceLimits.h"

#include <algorithm>
#include <cctype>
#include <utility>

using namespace autopar;

static bool isWordStart(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
}
static bool isWordPart(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' ||
         c == '.';
}
static bool isDigit(char c) {
  return std::isdigit(static_cast<unsigned char>(c));
}

bool SourceScanner::checkLines() {
  for (size_t end; position < text.size(); position = end + 1) {
    end = std::min(text.find('\n', position), text.size());
    if (end - position > limits::maxLineBytes)
      return fail("a line is longer than " +
                  std::to_string(limits::maxLineBytes) + " bytes");
  }
  position = 0;
  return true;
}

bool SourceScanner::scan() {
  if (!checkLines())
    return false;
  while (position < text.size())
    if (!step())
      return false;
  return true;
}

std::string SourceScanner::location() const {
  size_t line = 1, column = 1;
  for (char c : text.substr(0, position)) {
    column = c == '\n' ? 1 : column + 1;
    line += c == '\n';
  }
  return std::to_string(line) + ":" + std::to_string(column);
}

bool SourceScanner::fail(std::string message) {
  wrong = std::move(message);
  return false;
}

static std::string deeperThan(const char *what) {
  return std::string(what) + " are nested deeper than " +
         std::to_string(limits::maxNestingDepth) + " levels";
}

/// Consumes one token. Returns false after a violation.
bool SourceScanner::step() {
  char c = at(position);
  if (c == '\n' && !endOfLine())
    return false;
  if (std::isspace(static_cast<unsigned char>(c))) {
    ++position;
    return true;
  }
  if (c == '/' && at(position + 1) == '/') {
    position = std::min(text.find('\n', position), text.size());
    return true;
  }
  ++definition.size;
  tokens += c != ',' && !isDigit(c);
  if (tokens > limits::maxSourceTokens)
    return fail("there are more than " +
                std::to_string(limits::maxSourceTokens) +
                " words, signs, brackets and strings");
  if (c == '"') {
    signs = 0;
    last = c;
    if (inResources && !checkAlignment())
      return false;
    skipString();
    return true;
  }
  if (isWordStart(c))
    return word();
  if (isDigit(c))
    return number();
  if ((c == '!' || c == '#') && isWordStart(at(position + 1)))
    return aliasAt(c);
  return operation();
}

bool SourceScanner::operation() {
  char c = at(position);
  bool arrow = c == '-' && at(position + 1) == '>';
  namesDims &= !arrow && c != ':';
  bool affine = affineDepth && (c == '+' || c == '*' || (c == '-' && !arrow));
  if (affine && ++operators > limits::maxAffineOperators)
    return fail("an affine expression has more than " +
                std::to_string(limits::maxAffineOperators) + " operators");
  if (c == '-' && !arrow && ++signs > limits::maxNestingDepth)
    return fail(deeperThan("signs"));
  if (c != '-' || arrow)
    signs = 0;
  last = c;
  switch (c) {
  case '(':
  case '[':
  case '{':
    if (!open())
      return false;
    break;
  // "<" is a bracket, unless it is part of an arrow or of a comparison.
  case '<':
    if (at(position + 1) != '=' && !open())
      return false;
    break;
  case ')':
  case ']':
  case '}':
    close();
    break;
  case '>':
    if (at(position + 1) != '=')
      close();
    break;
  default:
    break;
  }
  position += arrow ? 2 : 1;
  return true;
}

bool SourceScanner::open() {
  if (++depth > limits::maxNestingDepth)
    return fail(deeperThan("brackets"));
  definition.depth = std::max(definition.depth, depth);
  return true;
}

void SourceScanner::close() {
  depth -= depth > 0;
  if (depth < affineDepth)
    affineDepth = 0;
}

/// Returns the value of digits; a value above 64 bits becomes the largest one.
static uint64_t valueOf(std::string_view digits, int base = 10) {
  return std::strtoull(std::string(digits).c_str(), nullptr, base);
}

/// Returns the width of the integer type at the end of a token such as
/// "4x16xsi8"; 0 if there is none.
static uint64_t integerBits(std::string_view token) {
  size_t digits = token.find_last_not_of("0123456789") + 1;
  if (digits == 0 || digits == token.size() || token[digits - 1] != 'i')
    return 0;
  size_t shape = token.find_first_not_of("0123456789x");
  if (token[shape] == 's' || token[shape] == 'u')
    ++shape;
  if (shape != digits - 1)
    return 0;
  return valueOf(token.substr(digits));
}

bool SourceScanner::checkType(std::string_view token) {
  bool isName = last == '%' || last == '@' || last == '^';
  uint64_t bits = isName ? 0 : integerBits(token);
  if (bits <= limits::maxIntegerBits)
    return true;
  return fail("an integer type has more than " +
              std::to_string(limits::maxIntegerBits) + " bits");
}

/// Returns whether `array<index: 1>` stands at `from`, which is the place of
/// its "<". MLIR takes index for a type with a width. An alias of a type may
/// stand in its place.
bool SourceScanner::isArrayOfIndex(size_t from) const {
  if (at(from) != '<')
    return false;
  size_t type = nextToken(from + 1);
  return at(type) == '!' ||
         text.substr(type, endOfWord(type) - type) == "index";
}

/// Returns whether "[", at `from`, is followed by a number that no `distinct`
/// attribute may have.
bool SourceScanner::isBeyondDistinct(size_t from) const {
  size_t number = nextToken(from + 1);
  if (at(from) != '[' || !isDigit(at(number)))
    return false;
  std::string_view digits = text.substr(number, endOfWord(number) - number);
  bool isHex = digits.substr(0, 2) == "0x";
  return valueOf(digits, isHex ? 16 : 10) > limits::maxDistinctNumber;
}

bool SourceScanner::word() {
  size_t end = endOfWord(position);
  std::string_view name = text.substr(position, end - position);
  if (!checkType(name))
    return false;
  if (name == "array" && isArrayOfIndex(nextToken(end)))
    return fail("an array has a type of elements other than i8, f32, ...");
  if (name == "distinct" && isBeyondDistinct(nextToken(end)))
    return fail("a distinct attribute has a number above " +
                std::to_string(limits::maxDistinctNumber));
  if (name == "affine_map" || name == "affine_set") {
    affineDepth = depth + 1;
    operators = affineNames = 0;
    namesDims = true;
  } else if (affineDepth && namesDims &&
             ++affineNames > limits::maxAffineNames) {
    return fail("an affine map or set has more than " +
                std::to_string(limits::maxAffineNames) +
                " dimensions and symbols");
  }
  inResources |= name == "dialect_resources" && depth > 0;
  if (affineDepth &&
      (name == "mod" || name == "floordiv" || name == "ceildiv") &&
      ++operators > limits::maxAffineOperators)
    return fail("an affine expression has more than " +
                std::to_string(limits::maxAffineOperators) + " operators");
  signs = 0;
  last = 'a';
  position = end;
  return true;
}

bool SourceScanner::number() {
  size_t end = position;
  while (std::isalnum(static_cast<unsigned char>(at(end))))
    ++end;
  if (end - position > limits::maxDigits)
    return fail("a number has " + std::to_string(end - position) +
                " digits, expected at most " +
                std::to_string(limits::maxDigits));
  std::string_view token = text.substr(position, end - position);
  if (!checkType(token))
    return false;
  if (last == '#')
    results += std::min(valueOf(token), limits::maxResultNumbers + 1);
  if (results > limits::maxResultNumbers)
    return fail("numbers of results add up to more than " +
                std::to_string(limits::maxResultNumbers));
  signs = 0;
  last = '0';
  position = end;
  return true;
}

size_t SourceScanner::endOfWord(size_t from, bool ofAlias) const {
  while (isWordPart(at(from)) ||
         (ofAlias && at(from) == '-' && at(from + 1) != '>'))
    ++from;
  return from;
}

/// Returns the place of the next token from `from` on, after spaces and
/// comments.
size_t SourceScanner::nextToken(size_t from) const {
  for (; from < text.size(); ++from) {
    if (at(from) == '/' && at(from + 1) == '/')
      from = std::min(text.find('\n', from), text.size());
    else if (!std::isspace(static_cast<unsigned char>(at(from))))
      break;
  }
  return from;
}

/// Handles `#name` or `!name`: the definition or a use of an alias, or an
/// attribute or type of a dialect.
bool SourceScanner::aliasAt(char sigil) {
  size_t end = endOfWord(position + 1, /*ofAlias=*/true);
  std::string name(text.substr(position, end - position));
  size_t next = nextToken(end);
  signs = 0;
  if (depth == 0 && at(next) == '=' && at(next + 1) != '=') {
    if (!endOfLine())
      return false;
    defined = std::move(name);
    definition = {};
    last = '=';
    position = next + 1;
    return true;
  }
  last = sigil;
  auto it = aliases.find(name);
  if (it == aliases.end())
    ++awaited[name];
  else if (!use(it->second))
    return false;
  position = end;
  return true;
}

bool SourceScanner::use(const Alias &alias) {
  if (depth + alias.depth > limits::maxNestingDepth)
    return fail(deeperThan("aliases"));
  // The expansion of an alias nests inside another alias, whether or not it is
  // in brackets.
  definition.depth =
      std::max(definition.depth, std::max<uint64_t>(depth, 1) + alias.depth);
  definition.size += alias.size;
  uint64_t &all = defined.empty() ? expanded : definition.used;
  // The expansion of a short alias is no longer than text that users write.
  if (alias.size >= limits::longAlias || !defined.empty())
    all += alias.size;
  return defined.empty()
             ? checkExpanded(all, limits::maxExpandedSize, "in all")
             : checkExpanded(all, limits::maxAliasSize, "in another");
}

bool SourceScanner::endOfLine() {
  // A definition does not end after an arrow, because something must follow it.
  if (defined.empty() || depth != 0 || last == '=' || last == '-' ||
      last == ':' || last == ',')
    return true;
  char next = at(nextToken(position));
  bool goesOn = next == '<' || next == '(' || next == '[' || next == '-' ||
                next == ':' || next == ',' || next == '>';
  if (goesOn)
    return true;
  std::string name = std::exchange(defined, "");
  // Counts the uses that stand before the definition, which only locations may
  // do.
  uint64_t uses = awaited[name];
  if (definition.size >= limits::longAlias)
    expanded += definition.size * uses;
  aliases[std::move(name)] = definition;
  return checkExpanded(expanded, limits::maxExpandedSize, "in all");
}

bool SourceScanner::checkExpanded(uint64_t tokens, uint64_t most,
                                  const char *where) {
  if (tokens <= most)
    return true;
  return fail("aliases stand for more than " + std::to_string(most) +
              " tokens " + where);
}

/// Refuses a resource with a large alignment, because MLIR allocates as many
/// bytes. The text of a resource is "0x" and then its alignment in four bytes,
/// the least significant first.
bool SourceScanner::checkAlignment() {
  std::string_view resource = text.substr(position, 11);
  if (resource.substr(0, 3) != "\"0x" || resource.size() < 11)
    return true;
  uint64_t alignment = 0;
  for (size_t digits : {9, 7, 5, 3})
    alignment = alignment << 8 |
                std::strtoull(std::string(resource.substr(digits, 2)).c_str(),
                              nullptr, 16);
  if (alignment >= 1 && alignment <= limits::maxAlignment)
    return true;
  return fail("a resource has an alignment of " + std::to_string(alignment) +
              ", expected 1 to " + std::to_string(limits::maxAlignment));
}

void SourceScanner::skipString() {
  for (++position; position < text.size(); ++position) {
    if (text[position] == '\\')
      ++position;
    else if (text[position] == '\n')
      return;
    else if (text[position] == '"')
      break;
  }
  ++position;
}
