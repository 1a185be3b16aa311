//===- Count.cpp ----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/Count.h"

#include <charconv>
#include <string>

using namespace autopar;

static bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// Removes a letter for a unit, such as k, from the end of `text`. Returns its
/// factor; 1 if there is none.
static int64_t takeUnit(std::string_view &text) {
  int64_t unit = 1;
  if (!text.empty() && (text.back() | 0x20) == 'k')
    unit = int64_t(1) << 10;
  else if (!text.empty() && (text.back() | 0x20) == 'm')
    unit = int64_t(1) << 20;
  if (unit > 1)
    text.remove_suffix(1);
  return unit;
}

std::optional<int64_t> autopar::parseCount(std::string_view text) {
  int64_t unit = takeUnit(text), value = 0, product = 0;
  std::string digits;
  for (size_t i = 0; i < text.size(); ++i) {
    bool between = i > 0 && isDigit(text[i - 1]) && i + 1 < text.size() &&
                   isDigit(text[i + 1]);
    if (text[i] != '_')
      digits += text[i];
    else if (!between)
      return std::nullopt;
  }
  const char *end = digits.data() + digits.size();
  auto [read, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc() || read != end ||
      __builtin_mul_overflow(value, unit, &product))
    return std::nullopt;
  return product;
}
