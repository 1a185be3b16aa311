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

/// Scans the tokens of MLIR text once, to find text that a recursive parser or
/// printer would not survive: deep nesting of brackets, signs and aliases;
/// aliases that expand to huge text; affine expressions and numbers without
/// bounds; types and numbers of results that allocate as much as they say. The
/// bounds are in `limits`.
class SourceScanner {
public:
  explicit SourceScanner(std::string_view text) : text(text) {}

  /// Scans the text, and stops at the first violation. Returns whether the text
  /// is within all bounds.
  bool scan();
  const std::string &message() const { return wrong; }
  /// Returns the place of the violation, "line:column".
  std::string location() const;

private:
  /// Returns whether all lines are short enough to be shown.
  bool checkLines();

  /// The expansion of an alias: the depth of its nested brackets, and its
  /// number of tokens (`size`), of which `used` come from other aliases.
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
  /// Ends the definition of an alias if none of its tokens can follow on the
  /// next line. Returns false after a violation.
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
  /// The number of signs that follow each other without an operand.
  uint64_t signs = 0;
  /// The number of operators since an affine map or set began, and the depth of
  /// the brackets in it; 0 outside of affine maps and sets.
  uint64_t operators = 0, affineDepth = 0;
  /// The number of dimensions and symbols that the affine map or set names at
  /// its beginning.
  uint64_t affineNames = 0;
  bool namesDims = false;
  /// Whether the scanner is after the word "dialect_resources".
  bool inResources = false;
  /// The number of tokens other than numbers and commas.
  uint64_t tokens = 0;
  /// The number of tokens that all uses of aliases have when they are expanded.
  uint64_t expanded = 0;
  /// The sum of the numbers of results of values.
  uint64_t results = 0;
  /// How often each alias was used before its definition; only aliases of
  /// locations may be.
  std::unordered_map<std::string, uint64_t> awaited;
  std::unordered_map<std::string, Alias> aliases;
  std::string defined;
  Alias definition;
  char last = '\0';
  std::string wrong;
};

} // namespace autopar

#endif // AUTOPAR_LIB_SUPPORT_SOURCESCANNER_H
