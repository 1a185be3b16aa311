//===- NameRuns.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NameRuns.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::checkpoint;

NumberedName autopar::checkpoint::splitNumbers(std::string_view name) {
  constexpr size_t mostDigits = 18;
  NumberedName result{{""}, {}};
  for (size_t begin = 0; begin <= name.size();) {
    size_t end = std::min(name.find('.', begin), name.size());
    std::string_view part = name.substr(begin, end - begin);
    bool number = !part.empty() && part.size() <= mostDigits &&
                  part.find_first_not_of("0123456789") == part.npos;
    if (begin)
      result.texts.back() += '.';
    if (number) {
      result.numbers.push_back(std::stoull(std::string(part)));
      result.texts.emplace_back();
    } else {
      result.texts.back() += part;
    }
    begin = end + 1;
  }
  return result;
}

/// Returns numbers as text: "7", "{0..31}" or "{0..3,7,9..12}"; if there are
/// many ranges, the last ones are left out.
static std::string formatNumbers(const std::set<uint64_t> &numbers) {
  constexpr int shown = 4;
  if (numbers.size() == 1)
    return std::to_string(*numbers.begin());
  std::string text;
  int runs = 0;
  for (auto it = numbers.begin(); it != numbers.end();) {
    if (runs++)
      text += ',';
    if (runs > shown)
      return "{" + text + "...}";
    uint64_t first = *it, last = first;
    for (++it; it != numbers.end() && *it == last + 1; ++it)
      last = *it;
    text += std::to_string(first);
    if (last != first)
      text += (last == first + 1 ? "," : "..") + std::to_string(last);
  }
  return "{" + text + "}";
}

std::string NameRun::str() const {
  std::string text = texts.front();
  for (size_t i = 0; i < numbers.size(); ++i)
    text += formatNumbers(numbers[i]) + texts[i + 1];
  Checked all = 1;
  for (const std::set<uint64_t> &set : numbers)
    all *= static_cast<int64_t>(set.size());
  if (all != Checked(static_cast<int64_t>(count)))
    text += " (" + std::to_string(count) + " of these)";
  return text;
}

void NameRuns::add(std::string_view name, std::string detail, Checked bytes) {
  NumberedName split = splitNumbers(name);
  auto [place, added] =
      places.emplace(std::pair(split.texts, detail), list.size());
  if (added) {
    list.push_back({std::move(split.texts), std::move(detail), {}, 0, 0});
    list.back().numbers.resize(split.numbers.size());
  }
  NameRun &run = list[place->second];
  for (size_t i = 0; i < split.numbers.size(); ++i)
    run.numbers[i].insert(split.numbers[i]);
  ++run.count;
  run.bytes += bytes;
  ++names;
  sum += bytes;
}
