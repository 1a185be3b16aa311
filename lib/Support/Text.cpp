//===- Text.cpp -----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/Text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

using namespace autopar;

std::string autopar::shorten(std::string_view text) {
  size_t limit = 60;
  // The text is cut only between characters of UTF-8.
  while (limit < text.size() && limit > 50 && (text[limit] & 0xc0) == 0x80)
    --limit;
  std::string result;
  for (char c : text.substr(0, limit))
    result += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return text.size() > limit ? result + "..." : result;
}

bool autopar::hasShape(std::string_view text, std::string_view shape) {
  return std::equal(text.begin(), text.end(), shape.begin(), shape.end(),
                    [](char c, char kind) {
                      return kind == 'd' ? c >= '0' && c <= '9' : c == kind;
                    });
}

bool autopar::isUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    auto first = static_cast<unsigned char>(text[i]);
    size_t length = first < 0x80                    ? 1
                    : first >= 0xc2 && first < 0xe0 ? 2
                    : first >= 0xe0 && first < 0xf0 ? 3
                    : first >= 0xf0 && first < 0xf5 ? 4
                                                    : 0;
    if (!length || length > text.size() - i)
      return false;
    uint32_t code = length == 1 ? first : first & (0xff >> (length + 1));
    for (size_t j = 1; j < length; ++j) {
      auto next = static_cast<unsigned char>(text[i + j]);
      if ((next & 0xc0) != 0x80)
        return false;
      code = code << 6 | (next & 0x3f);
    }
    bool surrogate = code >= 0xd800 && code < 0xe000;
    bool overlong =
        (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    if (surrogate || overlong || code > 0x10ffff)
      return false;
    i += length;
  }
  return true;
}

static std::string print(const char *format, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), format, value);
  return buffer;
}

std::string autopar::formatNumber(double value) {
  constexpr double largestPlain = 1e7;
  if (std::floor(value) == value && std::fabs(value) < largestPlain)
    return print("%.0f", value);
  char buffer[64];
  const char *end = std::to_chars(buffer, buffer + sizeof(buffer), value,
                                  std::chars_format::scientific)
                        .ptr;
  auto isDigit = [](char c) { return c >= '0' && c <= '9'; };
  auto shortest = static_cast<int>(std::count_if(
      static_cast<const char *>(buffer),
      std::find(static_cast<const char *>(buffer), end, 'e'), isDigit));
  for (int digits = shortest; digits < 17; ++digits) {
    std::snprintf(buffer, sizeof(buffer), "%.*g", digits, value);
    if (std::strtod(buffer, nullptr) == value)
      return buffer;
  }
  return print("%.17g", value);
}

std::string autopar::formatInteger(int64_t value) {
  return formatInteger(Checked(value));
}

std::string autopar::formatInteger(Checked value) {
  std::string digits = value.str(), text;
  size_t first = digits[0] == '-' ? 1 : 0;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > first && (digits.size() - i) % 3 == 0)
      text += ',';
    text += digits[i];
  }
  return text;
}

std::string autopar::countOf(size_t count, std::string_view noun) {
  return formatInteger(static_cast<int64_t>(count)) + " " + std::string(noun) +
         (count == 1 ? "" : "s");
}

std::string autopar::formatBytes(int64_t bytes) {
  return formatBytes(Checked(bytes));
}

std::string autopar::formatBytes(Checked bytes) {
  static constexpr const char *units[] = {"%.2f KiB", "%.2f MiB", "%.2f GiB",
                                          "%.2f TiB", "%.2f PiB", "%.2f EiB"};
  if (std::fabs(bytes.real()) < 1024)
    return bytes.str() + " B";
  double value = bytes.real() / 1024;
  size_t unit = 0;
  for (; std::fabs(value) >= 1024 && unit + 1 < std::size(units); ++unit)
    value /= 1024;
  return print(units[unit], value);
}

std::string autopar::formatTime(double microseconds) {
  if (microseconds < 1000)
    return print(microseconds < 10 ? "%.2f us" : "%.1f us", microseconds);
  if (microseconds < 1e6)
    return print(microseconds < 1e4 ? "%.2f ms" : "%.1f ms",
                 microseconds / 1e3);
  return print("%.2f s", microseconds / 1e6);
}

static size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t substitute = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({substitute, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::string autopar::nearest(std::string_view text,
                             const std::vector<std::string> &known) {
  text = text.substr(0, 64);
  std::string best;
  size_t bestDistance = std::max<size_t>(2, text.size() / 3) + 1;
  for (const std::string &candidate : known) {
    size_t distance = editDistance(text, candidate);
    if (distance < bestDistance) {
      bestDistance = distance;
      best = candidate;
    }
  }
  return best;
}
