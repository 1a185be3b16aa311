//===- Checks.h - Validators of flag values ---------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TOOLS_AUTOPAR_CHECKS_H
#define AUTOPAR_TOOLS_AUTOPAR_CHECKS_H

#include "autopar/Support/Count.h"
#include "autopar/Support/Suggestion.h"
#include "autopar/Support/Text.h"

#include <CLI/CLI.hpp>

namespace autopar {

/// Checks that a value is a count from `least` to `most`, in the syntax of
/// `parseCount`.
inline CLI::Validator inRange(int64_t least, int64_t most) {
  return CLI::Validator(
      [=](std::string &text) -> std::string {
        std::optional<int64_t> value = parseCount(text);
        if (!value || *value < least || *value > most)
          return "expected a number from " + std::to_string(least) + " to " +
                 std::to_string(most);
        text = std::to_string(*value);
        return "";
      },
      "");
}

/// Other words that people use for one of our words: {"cheapest", "cost"}.
using OtherWords = std::vector<std::pair<std::string, std::string>>;

/// Checks that a value is one of `words`. For one of the `others`, the error
/// suggests our word.
inline CLI::Validator oneOf(std::vector<std::string> words,
                            OtherWords others = {}) {
  return CLI::Validator(
      [words = std::move(words),
       others = std::move(others)](std::string &text) -> std::string {
        if (std::find(words.begin(), words.end(), text) != words.end())
          return "";
        std::string meant;
        for (const auto &[other, ours] : others)
          if (other == text)
            meant = ours;
        if (meant.empty())
          meant = nearest(text, words);
        return "expected " + join(words, ", ") +
               (meant.empty() ? "" : "; " + askWhether(meant, ""));
      },
      "");
}

/// Checks that a value is a size of at least 1 byte, such as "40GiB".
inline CLI::Validator aSize() {
  return CLI::Validator(
      [](std::string &text) -> std::string {
        constexpr const char *expected = "expected a size, as in 40GiB";
        std::string bytes = text;
        try {
          if (!CLI::AsSizeValue(/*kb_is_1000=*/true)(bytes).empty())
            return expected;
        } catch (const CLI::ValidationError &) {
          return expected;
        }
        if (bytes.find_first_not_of("0123456789") != bytes.npos ||
            bytes.find_first_not_of('0') == bytes.npos)
          return expected;
        text = bytes;
        return "";
      },
      "");
}

} // namespace autopar

#endif // AUTOPAR_TOOLS_AUTOPAR_CHECKS_H
