//===- SourceScanner.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SourceScanner.h"

#include "autopar/Support/Limits.h"

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

bool SourceScanner::scan() {
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

/// Takes one token.
bool SourceScanner::step() {
  char c = at(position);
  if (c == '\n')
    endOfLine();
  if (std::isspace(static_cast<unsigned char>(c))) {
    ++position;
    return true;
  }
  if (c == '/' && at(position + 1) == '/') {
    position = std::min(text.find('\n', position), text.size());
    return true;
  }
  ++definition.size;
  if (c == '"') {
    signs = 0;
    last = c;
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
  // Brackets, unless they are part of an arrow or a comparison.
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

bool SourceScanner::word() {
  size_t end = endOfWord(position);
  std::string_view name = text.substr(position, end - position);
  if (name == "affine_map" || name == "affine_set") {
    affineDepth = depth + 1;
    operators = 0;
  }
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

/// The next token from `from` on, past spaces and comments.
size_t SourceScanner::nextToken(size_t from) const {
  for (; from < text.size(); ++from) {
    if (at(from) == '/' && at(from + 1) == '/')
      from = std::min(text.find('\n', from), text.size());
    else if (!std::isspace(static_cast<unsigned char>(at(from))))
      break;
  }
  return from;
}

/// `#name` or `!name`: a definition, a use, or of a dialect.
bool SourceScanner::aliasAt(char sigil) {
  size_t end = endOfWord(position + 1, /*ofAlias=*/true);
  std::string name(text.substr(position, end - position));
  size_t next = nextToken(end);
  signs = 0;
  if (depth == 0 && at(next) == '=' && at(next + 1) != '=') {
    endOfLine();
    defined = std::move(name);
    definition = {};
    last = '=';
    position = next + 1;
    return true;
  }
  last = sigil;
  auto it = aliases.find(name);
  if (it != aliases.end() && !use(it->second))
    return false;
  position = end;
  return true;
}

bool SourceScanner::use(const Alias &alias) {
  if (depth + alias.depth > limits::maxNestingDepth)
    return fail(deeperThan("aliases"));
  // What an alias stands for is inside of another, in brackets or not.
  definition.depth =
      std::max(definition.depth, std::max<uint64_t>(depth, 1) + alias.depth);
  definition.size += alias.size;
  uint64_t &all = defined.empty() ? expanded : definition.used;
  // What is short is as long as what users write.
  if (alias.size >= limits::longAlias || !defined.empty())
    all += alias.size;
  uint64_t most =
      defined.empty() ? limits::maxExpandedSize : limits::maxAliasSize;
  if (all <= most)
    return true;
  return fail("aliases stand for more than " + std::to_string(most) +
              " tokens " + (defined.empty() ? "in all" : "in another"));
}

void SourceScanner::endOfLine() {
  // Behind an arrow, too, something must follow.
  if (defined.empty() || depth != 0 || last == '=' || last == '-' ||
      last == ':' || last == ',')
    return;
  char next = at(nextToken(position));
  bool goesOn = next == '<' || next == '(' || next == '[' || next == '-' ||
                next == ':' || next == ',' || next == '>';
  if (goesOn)
    return;
  aliases[std::exchange(defined, "")] = definition;
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
