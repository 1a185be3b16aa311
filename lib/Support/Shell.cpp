//===- Shell.cpp ----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/Shell.h"

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
