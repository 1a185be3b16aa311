//===- ModulePatterns.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModulePatterns.h"

#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::model;

static constexpr std::string_view regexPrefix = "re:";

void ModulePatterns::addName(std::string_view name) {
  while (!name.empty() && name.front() == '.')
    name.remove_prefix(1);
  while (!name.empty() && name.back() == '.')
    name.remove_suffix(1);
  if (!name.empty())
    names.emplace(name);
}

static bool startsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

void ModulePatterns::addPrefix(std::string_view prefix) {
  if (isPrefixed(prefix))
    return;
  auto it = prefixes.lower_bound(prefix);
  while (it != prefixes.end() && startsWith(*it, prefix))
    it = prefixes.erase(it);
  prefixes.emplace(prefix);
}

/// No prefix in the set begins another one, so that only the greatest prefix
/// not above `text` can be its beginning.
bool ModulePatterns::isPrefixed(std::string_view text) const {
  auto it = prefixes.upper_bound(text);
  return it != prefixes.begin() && startsWith(text, *std::prev(it));
}

std::optional<std::string> ModulePatterns::add(std::string_view entry) {
  bool isRegex = entry.substr(0, regexPrefix.size()) == regexPrefix;
  // A class of characters may distinguish numbers without containing one.
  hasNumbers |=
      isRegex || entry.find_first_of("?0123456789") != std::string_view::npos;
  if (!isRegex && entry.find_first_of("*?") == std::string_view::npos) {
    addName(entry);
    return std::nullopt;
  }
  if (!isRegex && entry.find_first_of("*?") == entry.size() - 1 &&
      entry.back() == '*') {
    addPrefix(entry.substr(0, entry.size() - 1));
    return std::nullopt;
  }
  Result<Pattern> pattern =
      isRegex ? Pattern::parseRegex(entry.substr(regexPrefix.size()))
              : Pattern::parseGlob(entry);
  if (!pattern)
    return "\"" + shorten(entry) + "\": " + pattern.error().message;
  patterns.push_back(std::move(*pattern));
  return std::nullopt;
}

/// Whether some sequence of whole parts of the name `module` is one of `names`.
static bool hasParts(const std::set<std::string, std::less<>> &names,
                     std::string_view module, uint64_t &steps) {
  for (size_t begin = 0; begin < module.size();) {
    for (size_t end = begin; end < module.size();) {
      end = std::min(module.find('.', end + 1), module.size());
      ++steps;
      if (names.find(module.substr(begin, end - begin)) != names.end())
        return true;
    }
    begin = std::min(module.find('.', begin), module.size()) + 1;
  }
  return false;
}

bool ModulePatterns::matches(std::string_view module, uint64_t &steps) const {
  if (!names.empty() && hasParts(names, module, steps))
    return true;
  for (size_t begin = 0; !prefixes.empty() && begin < module.size();
       begin = std::min(module.find('.', begin), module.size()) + 1, ++steps)
    if (isPrefixed(module.substr(begin)))
      return true;
  for (const Pattern &pattern : patterns)
    if (pattern.matches(module, steps))
      return true;
  return false;
}
