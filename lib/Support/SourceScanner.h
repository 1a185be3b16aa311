//===- SourceScanner.h - Bounds on text for MLIR's parser -------*- C++ -*-===//
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

/// Scans the tokens of MLIR text once, for text that a recursive parser or
/// printer would not survive: deep nesting of brackets, signs and aliases;
/// aliases that expand to huge text; unbounded affine expressions and numbers;
/// types and numbers of results that allocate as much as they say. `limits` has
/// the bounds.
class SourceScanner {
public:
  explicit SourceScanner(std::string_view text) : text(text) {}

  /// Scans the text. Returns whether it is within all bounds; stops at the
  /// first violation.
  bool scan();
  const std::string &message() const { return wrong; }
  /// The place of the violation, "line:column".
  std::string location() const;

private:
  /// Whether all lines are short enough to be shown.
  bool checkLines();

  /// The expansion of an alias: depth of nested brackets, and number of tokens,
  /// of which `used` come from other aliases.
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
  /// Ends the definition of an alias if nothing of it can follow.
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
  /// Consecutive signs without an operand.
  uint64_t signs = 0;
  /// Operators since an affine map or set began, and its depth; 0 if there is
  /// none.
  uint64_t operators = 0, affineDepth = 0;
  /// Dimensions and symbols that it names at its beginning.
  uint64_t affineNames = 0;
  bool namesDims = false;
  /// Whether it is behind the word "dialect_resources".
  bool inResources = false;
  /// Number of tokens other than numbers and commas.
  uint64_t tokens = 0;
  /// Tokens of all uses of aliases, expanded.
  uint64_t expanded = 0;
  /// Sum of the numbers of results of values.
  uint64_t results = 0;
  /// Uses of aliases that are defined later: locations.
  std::unordered_map<std::string, uint64_t> awaited;
  std::unordered_map<std::string, Alias> aliases;
  std::string defined;
  Alias definition;
  char last = '\0';
  std::string wrong;
};

} // namespace autopar

#endif // AUTOPAR_LIB_SUPPORT_SOURCESCANNER_H
