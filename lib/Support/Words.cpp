//===- Words.cpp ----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/Words.h"

#include <algorithm>

using namespace autopar;

std::string autopar::lower(std::string_view text) {
  std::string result(text);
  for (char &c : result)
    if (c >= 'A' && c <= 'Z')
      c = char(c - 'A' + 'a');
  return result;
}

std::vector<std::string> autopar::wordsOf(std::string_view text,
                                          std::string_view separators) {
  std::vector<std::string> words;
  size_t at = text.find_first_not_of(separators);
  while (at != std::string_view::npos) {
    size_t end = std::min(text.find_first_of(separators, at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = text.find_first_not_of(separators, end);
  }
  return words;
}

bool autopar::hasAll(const std::vector<std::string> &words,
                     const std::vector<std::string> &needed) {
  return std::all_of(needed.begin(), needed.end(), [&](const auto &word) {
    return std::count(words.begin(), words.end(), word);
  });
}

const Aliases::value_type *
autopar::findAlias(const Aliases &aliases,
                   const std::vector<std::string> &words) {
  size_t most = 0;
  const Aliases::value_type *best = nullptr;
  for (const auto &alias : aliases) {
    std::vector<std::string> needed = wordsOf(alias.first, " ");
    if (hasAll(words, needed) && needed.size() > most) {
      most = needed.size();
      best = &alias;
    }
  }
  return best;
}
