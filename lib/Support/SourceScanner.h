//===- SourceScanner.h - What a parser of MLIR should not see ---*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SUPPORT_SOURCESCANNER_H
#define AUTOPAR_LIB_SUPPORT_SOURCESCANNER_H

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace autopar {

/// Follows the tokens of MLIR's text, once, for what a recursive parser or
/// printer would not survive: nesting, of brackets, signs and aliases; aliases
/// that stand for more text than anybody wrote; affine expressions and numbers
/// without end; types and numbers of results that take memory as they say.
/// `limits` has the bounds.
class SourceScanner {
public:
  explicit SourceScanner(std::string_view text) : text(text) {}

  /// Whether all is within the bounds; else the scan stops where it is not.
  bool scan();
  const std::string &message() const { return wrong; }
  /// "line:column" of where it stopped.
  std::string location() const;

private:
  /// Whether all lines are short enough to be shown.
  bool checkLines();

  /// What an alias stands for, written out: nested brackets, and tokens, of
  /// which `used` are of other aliases.
  struct Alias {
    uint64_t depth = 0, size = 0, used = 0;
  };

  char at(size_t index) const {
    return index < text.size() ? text[index] : '\0';
  }
  bool fail(std::string message);
  bool step();
  bool open();
  void close();
  bool operation();
  bool word();
  bool number();
  bool checkType(std::string_view token);
  bool isArrayOfIndex(size_t from) const;
  bool isBeyondDistinct(size_t from) const;
  bool aliasAt(char sigil);
  /// Ends the definition of an alias where nothing of it can follow.
  bool endOfLine();
  bool use(const Alias &alias);
  bool checkExpanded(uint64_t tokens, uint64_t most, const char *where);
  bool checkAlignment();
  void skipString();
  size_t endOfWord(size_t from, bool ofAlias = false) const;
  size_t nextToken(size_t from) const;

  std::string_view text;
  size_t position = 0;
  uint64_t depth = 0;
  /// Signs without an operand between them.
  uint64_t signs = 0;
  /// Operators since an affine map or set began, at which depth; 0: none.
  uint64_t operators = 0, affineDepth = 0;
  /// The dimensions and symbols that it names, first of all.
  uint64_t affineNames = 0;
  bool namesDims = false;
  /// Whether it is behind the word "dialect_resources".
  bool inResources = false;
  /// All but numbers and commas.
  uint64_t tokens = 0;
  /// Tokens of all uses of aliases, written out.
  uint64_t expanded = 0;
  /// Sum of the numbers of results that values have.
  uint64_t results = 0;
  /// How often the text has used an alias that is defined later: locations.
  std::unordered_map<std::string, uint64_t> awaited;
  std::unordered_map<std::string, Alias> aliases;
  std::string defined;
  Alias definition;
  char last = '\0';
  std::string wrong;
};

} // namespace autopar

#endif // AUTOPAR_LIB_SUPPORT_SOURCESCANNER_H
