//===- Words.h - Names cut into words ---------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SUPPORT_WORDS_H
#define AUTOPAR_SUPPORT_WORDS_H

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopar {

/// Returns `text` with its ASCII letters in lower case.
std::string lower(std::string_view text);
/// Returns the parts of `text` between characters of `separators`, without
/// empty ones.
std::vector<std::string> wordsOf(std::string_view text,
                                 std::string_view separators);
/// Whether all of `needed` are in `words`.
bool hasAll(const std::vector<std::string> &words,
            const std::vector<std::string> &needed);

/// Maps an alias, as words separated by spaces, to the name that it means; to
/// nothing if it is known to mean something other than it seems.
using Aliases = std::map<std::string, std::optional<std::string>>;
/// Returns the longest alias all of whose words are in `words`; null if there
/// is none.
const Aliases::value_type *findAlias(const Aliases &aliases,
                                     const std::vector<std::string> &words);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_WORDS_H
