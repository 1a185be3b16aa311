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

/// A pattern for names of modules, as an automaton that is executed without
/// backtracking: it takes at most time proportional to the product of both
/// lengths.
class Pattern {
public:
  /// Parses a glob: `*` stands for any text, `?` for any character. The whole
  /// pattern must match one or more whole parts (between dots) of a name.
  static Result<Pattern> parseGlob(std::string_view text);
  /// Parses a regular expression for Python's `re.match`, without backward
  /// references and look-around.
  static Result<Pattern> parseRegex(std::string_view text);

  /// Whether `name` matches; adds the number of executed steps to `steps`.
  bool matches(std::string_view name, uint64_t &steps) const;

  using Characters = std::bitset<256>;
  struct State {
    enum class Kind : uint8_t { character, split, begin, end, accept };
    Kind kind = Kind::accept;
    Characters characters;
    /// The index of the state that follows (`next`) and, for a `split` state,
    /// of the second one that follows (`other`).
    uint32_t next = 0, other = 0;
  };

private:
  std::vector<State> states;
  uint32_t start = 0;
  /// A text that every matching name contains; it is checked before the
  /// automaton runs.
  std::string literal;
  /// Whether the pattern matches whole parts of a name, beginning at any part.
  bool matchesParts = false;
};

} // namespace autopar::model

#endif // AUTOPAR_LIB_MODEL_PATTERN_H
