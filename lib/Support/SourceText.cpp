//===- SourceText.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/SourceText.h"

#include "autopar/Support/File.h"
#include "autopar/Support/Limits.h"

using namespace autopar;

bool autopar::isBytecode(std::string_view text) {
  return text.substr(0, 4) == "ML\xEFR";
}

namespace {

/// Follows brackets through text, past strings and comments.
class BracketScanner {
public:
  explicit BracketScanner(std::string_view text) : text(text) {}

  /// Whether no bracket is nested too deep; else the scan stops at it.
  bool scan() {
    for (; position < text.size(); ++position)
      if (!step())
        return false;
    return true;
  }

  std::string location() const {
    size_t line = 1, column = 1;
    for (char c : text.substr(0, position)) {
      column = c == '\n' ? 1 : column + 1;
      line += c == '\n';
    }
    return std::to_string(line) + ":" + std::to_string(column);
  }

private:
  char at(size_t index) const {
    return index < text.size() ? text[index] : '\0';
  }

  bool step() {
    switch (at(position)) {
    case '"':
      skipString();
      return true;
    case '/':
      if (at(position + 1) == '/')
        position = std::min(text.find('\n', position), text.size());
      return true;
    case '(':
    case '[':
    case '{':
      return ++depth <= limits::maxNestingDepth;
    case ')':
    case ']':
    case '}':
      close();
      return true;
    // Brackets, unless they are part of an arrow or a comparison.
    case '<':
      return at(position + 1) == '=' || ++depth <= limits::maxNestingDepth;
    case '>':
      if (at(position + 1) != '=' && (!position || at(position - 1) != '-'))
        close();
      return true;
    default:
      return true;
    }
  }

  void close() { depth -= depth > 0; }

  void skipString() {
    for (++position; position < text.size(); ++position) {
      if (text[position] == '\\')
        ++position;
      else if (text[position] == '"' || text[position] == '\n')
        return;
    }
  }

  std::string_view text;
  size_t position = 0;
  unsigned depth = 0;
};

} // namespace

std::optional<Error> autopar::checkSourceText(std::string_view text,
                                              const std::string &name) {
  BracketScanner scanner(text);
  if (scanner.scan())
    return std::nullopt;
  return Error{name + ":" + scanner.location(),
               "brackets are nested deeper than " +
                   std::to_string(limits::maxNestingDepth) + " levels",
               ""};
}

Result<SourceText> autopar::readSourceText(const std::string &path,
                                           bool trustsBytecode) {
  Result<std::string> text = readFile(path);
  if (!text)
    return text.error();
  std::string name = path == "-" ? "<stdin>" : path;
  if (isBytecode(*text) && !trustsBytecode)
    return Error{name,
                 "is MLIR bytecode, whose reader is not hardened against "
                 "hostile files",
                 "give autopar-opt --trust-bytecode where you trust the file"};
  if (!isBytecode(*text))
    if (std::optional<Error> refused = checkSourceText(*text, name))
      return *refused;
  return SourceText{std::move(name), std::move(*text)};
}
