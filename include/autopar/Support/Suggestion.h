//===- Suggestion.h - Suggestions for mistyped names ------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SUPPORT_SUGGESTION_H
#define AUTOPAR_SUPPORT_SUGGESTION_H

#include <string>
#include <string_view>
#include <vector>

namespace autopar {

/// The members of `known` that `text` may mean, most likely first. The first
/// rule with a result decides:
///   1. members with all words of `text`: "llama-70b" -> "llama-3.3-70b";
///   2. the member with most words, all of them in `text`:
///      "qwen3-32b-instruct" -> "qwen3-32b";
///   3. the member nearest by edit distance.
/// Words are separated by spaces, "-" and "_", and compared in lower case.
std::vector<std::string> suggestions(std::string_view text,
                                     const std::vector<std::string> &known);

/// Returns the members of `known` that contain all words of `text`.
std::vector<std::string> namesWithWords(std::string_view text,
                                        const std::vector<std::string> &known);
/// Returns the words of `name`, which spaces, "-" and "_" separate, in lower
/// case.
std::vector<std::string> nameWords(std::string_view name);

/// Returns the text `did you mean "name"?`.
std::string askWhether(const std::string &name, const char *quote = "\"");
/// Returns the text `, did you mean "name"?` with the member of `known` nearest
/// to `text`; "" if none is near.
std::string didYouMean(std::string_view text,
                       const std::vector<std::string> &known,
                       const char *quote = "\"");
/// Returns the text `, did you mean "a", "b" or "c"?` for at most four names;
/// "" for none.
std::string didYouMean(const std::vector<std::string> &names);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_SUGGESTION_H
