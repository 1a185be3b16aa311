//===- Suggestion.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/Suggestion.h"

#include "autopar/Support/Text.h"
#include "autopar/Support/Words.h"

#include <algorithm>

using namespace autopar;

/// The largest number of suggested names; longer lists do not help readers.
static constexpr size_t mostNames = 4;

std::vector<std::string> autopar::nameWords(std::string_view name) {
  return wordsOf(lower(name), " -_");
}

std::vector<std::string>
autopar::namesWithWords(std::string_view text,
                        const std::vector<std::string> &known) {
  std::vector<std::string> needed = nameWords(text), found;
  if (needed.empty())
    return {};
  for (const std::string &name : known)
    if (hasAll(nameWords(name), needed))
      found.push_back(name);
  return found;
}

std::vector<std::string>
autopar::suggestions(std::string_view text,
                     const std::vector<std::string> &known) {
  std::vector<std::string> asked = nameWords(text);
  if (asked.empty())
    return {};
  std::vector<std::string> found = namesWithWords(text, known);
  if (!found.empty())
    return found;
  size_t mostWords = 0;
  for (const std::string &name : known) {
    std::vector<std::string> words = nameWords(name);
    if (words.size() > mostWords && hasAll(asked, words)) {
      mostWords = words.size();
      found = {name};
    }
  }
  if (found.empty())
    if (std::string near = nearest(text, known); !near.empty())
      found = {near};
  return found;
}

std::string autopar::askWhether(const std::string &name, const char *quote) {
  return "did you mean " + (quote + name + quote) + "?";
}

std::string autopar::didYouMean(std::string_view text,
                                const std::vector<std::string> &known,
                                const char *quote) {
  std::string near = nearest(text, known);
  return near.empty() ? "" : ", " + askWhether(near, quote);
}

std::string autopar::didYouMean(const std::vector<std::string> &names) {
  if (names.empty())
    return "";
  size_t shown = std::min(names.size(), mostNames);
  std::string text = ", did you mean ";
  for (size_t i = 0; i < shown; ++i)
    text += (i == 0                                    ? "\""
             : i + 1 == shown && shown == names.size() ? " or \""
                                                       : ", \"") +
            names[i] + "\"";
  if (shown < names.size())
    text += " or one of " + std::to_string(names.size() - shown) + " more";
  return text + "?";
}
