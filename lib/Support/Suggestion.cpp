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

/// More names than these do not help who reads them.
static constexpr size_t mostNames = 4;

static std::vector<std::string> nameWords(std::string_view name) {
  return wordsOf(lower(name), " -_");
}

std::vector<std::string>
autopar::suggestions(std::string_view text,
                     const std::vector<std::string> &known) {
  std::vector<std::string> asked = nameWords(text), found;
  if (asked.empty())
    return {};
  for (const std::string &name : known)
    if (hasAll(nameWords(name), asked))
      found.push_back(name);
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
