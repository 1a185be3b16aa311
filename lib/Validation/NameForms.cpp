//===- NameForms.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NameForms.h"

#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::validation;

std::string autopar::validation::withoutNotes(std::string_view text) {
  std::string result;
  // Behind the last of its kind, no bracket is closed.
  size_t lastRound = text.rfind(')'), lastSquare = text.rfind(']');
  auto closes = [&](size_t i, size_t last) {
    return last != std::string_view::npos && i < last;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    char close = text[i] == '(' && closes(i, lastRound)    ? ')'
                 : text[i] == '[' && closes(i, lastSquare) ? ']'
                                                           : '\0';
    size_t end = close ? text.find(close, i) : std::string_view::npos;
    result += end == std::string_view::npos ? text[i] : ' ';
    if (end != std::string_view::npos)
      i = end;
  }
  result.erase(result.find_last_not_of(" \t\r\n") + 1);
  result.erase(0, result.find_first_not_of(" \t\r\n"));
  return result;
}

/// Whether `word` is `pattern`, in which `#` stands for a digit.
static bool matches(std::string_view word, std::string_view pattern) {
  return word.size() == pattern.size() &&
         std::equal(word.begin(), word.end(), pattern.begin(),
                    [](char c, char p) {
                      return p == '#' ? c >= '0' && c <= '9' : c == p;
                    });
}

std::string autopar::validation::fullForm(const std::string &text) {
  return join(wordsOf(lower(withoutNotes(text)), "-_ "), "");
}

NameForms autopar::validation::formsOf(const std::string &text,
                                       const NameRules &rules) {
  std::vector<std::string> words = wordsOf(lower(withoutNotes(text)), "-_ ");
  NameForms result{{join(words, "")}, ""};
  auto add = [&] {
    std::string form = join(words, "");
    if (form != result.forms.back())
      result.forms.push_back(std::move(form));
  };
  const auto &vendors = rules.dropFirst;
  while (words.size() > 1 &&
         std::count(vendors.begin(), vendors.end(), words.front()))
    words.erase(words.begin());
  add();
  while (words.size() > 1) {
    auto format = rules.formats.find(words.back());
    if (format != rules.formats.end() && result.format.empty())
      result.format = format->second;
    if (format == rules.formats.end() &&
        std::none_of(rules.dropLast.begin(), rules.dropLast.end(),
                     [&](const std::string &pattern) {
                       return matches(words.back(), pattern);
                     }))
      break;
    words.pop_back();
    add();
  }
  return result;
}
