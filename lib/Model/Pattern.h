//===- Pattern.h - Globs and regular expressions ----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_MODEL_PATTERN_H
#define AUTOPAR_LIB_MODEL_PATTERN_H

#include "autopar/Support/Result.h"

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace autopar::model {

/// A pattern for names of modules, as an automaton that is run without going
/// back: time is at most the product of both lengths.
class Pattern {
public:
  /// `*` is any text, `?` any character. The whole pattern matches one or more
  /// whole parts (between dots) of a name.
  static Result<Pattern> parseGlob(std::string_view text);
  /// Python's `re.match`, without backward references and looking around.
  static Result<Pattern> parseRegex(std::string_view text);

  /// Adds the work done to `steps`.
  bool matches(std::string_view name, uint64_t &steps) const;

  using Characters = std::bitset<256>;
  struct State {
    enum class Kind : uint8_t { character, split, begin, end, accept };
    Kind kind = Kind::accept;
    Characters characters;
    /// `other` is the second way out of a split.
    uint32_t next = 0, other = 0;
  };

private:
  std::vector<State> states;
  uint32_t start = 0;
  /// A text that every matching name contains; checked before the automaton.
  std::string literal;
  /// Matches whole parts of a name, from any part on.
  bool matchesParts = false;
};

} // namespace autopar::model

#endif // AUTOPAR_LIB_MODEL_PATTERN_H
