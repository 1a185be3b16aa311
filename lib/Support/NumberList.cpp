//===- NumberList.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Support/NumberList.h"

#include "autopar/Support/Count.h"
#include "autopar/Support/Text.h"
#include "autopar/Support/Words.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

using namespace autopar;

/// Expands the words of `text`, each of which `read` parses. Returns nothing if
/// a word is neither a number nor a rising range.
template <typename Number, typename Read>
static std::optional<std::vector<Number>> expand(const std::string &text,
                                                 Read read) {
  std::vector<Number> numbers;
  for (const std::string &word : wordsOf(text, "|,")) {
    size_t dots = word.find("..");
    std::optional<Number> first = read(word.substr(0, dots));
    std::optional<Number> last =
        dots == word.npos ? first : read(word.substr(dots + 2));
    if (!first || !last)
      return std::nullopt;
    if (dots == word.npos) {
      numbers.push_back(*first);
      continue;
    }
    if (*first <= 0 || *last < *first)
      return std::nullopt;
    while (*first <= *last) {
      numbers.push_back(*first);
      *first *= 2;
    }
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  if (numbers.empty())
    return std::nullopt;
  return numbers;
}

Result<std::vector<int64_t>> autopar::readCounts(const std::string &flag,
                                                 const std::string &text,
                                                 int64_t most) {
  auto read = [most](const std::string &word) {
    std::optional<int64_t> count = parseCount(word);
    return count && *count >= 1 && *count <= most ? count : std::nullopt;
  };
  if (auto counts = expand<int64_t>(text, read))
    return *counts;
  return Error{"",
               flag + "=" + shorten(text) + ": expected numbers from 1 to " +
                   std::to_string(most),
               "as in 64, 8|64|512 or 8..512, each twice the one before"};
}

Result<std::vector<double>> autopar::readNumbers(const std::string &flag,
                                                 const std::string &text) {
  auto read = [](const std::string &word) -> std::optional<double> {
    char *end = nullptr;
    double number = std::strtod(word.c_str(), &end);
    if (word.empty() || *end || !std::isfinite(number))
      return std::nullopt;
    return number;
  };
  if (auto numbers = expand<double>(text, read))
    return *numbers;
  return Error{
      "", flag + "=" + shorten(text) + ": expected numbers",
      "as in 4e12, 2e12|4e12 or 1e12..8e12, each twice the one before"};
}
