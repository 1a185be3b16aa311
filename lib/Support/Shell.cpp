//===- Shell.cpp ----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/Shell.h"

#include "autopar/Support/Terminal.h"

using namespace autopar;

std::string autopar::shellWord(std::string_view text) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyz"
                                     "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "0123456789_-+=.,:/@%";
  if (!text.empty() && text.find_first_not_of(plain) == text.npos)
    return std::string(text);
  std::string word = "'";
  for (char c : text)
    if (c == '\'')
      word += "'\\''";
    else
      word += c;
  return word + "'";
}

std::string autopar::commandLines(std::string_view head,
                                  const std::vector<std::string> &words,
                                  size_t width) {
  constexpr std::string_view goesOn = " \\";
  std::string result, line(head);
  bool empty = true;
  for (size_t i = 0; i < words.size(); ++i) {
    size_t end = i + 1 < words.size() ? goesOn.size() : 0;
    if (!empty && lengthOf(line) + 1 + lengthOf(words[i]) + end > width) {
      result += line + std::string(goesOn) + "\n";
      line = std::string(lengthOf(head) + 2, ' ');
      empty = true;
    }
    line += (empty ? "" : " ") + words[i];
    empty = false;
  }
  return result + line + "\n";
}
