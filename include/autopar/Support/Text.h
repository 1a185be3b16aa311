//===- Text.h - Small text helpers ------------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SUPPORT_TEXT_H
#define AUTOPAR_SUPPORT_TEXT_H

#include "autopar/Support/Checked.h"

#include <string>
#include <string_view>
#include <vector>

namespace autopar {

/// Returns `text` cut to 60 characters for messages, with control characters
/// replaced.
std::string shorten(std::string_view text);

/// Whether `text` is well-formed UTF-8 (RFC 3629).
bool isUtf8(std::string_view text);

/// Whether `text` has the form `shape`, in which "d" stands for any digit.
bool hasShape(std::string_view text, std::string_view shape);

/// Joins parts with a separator between them: "a, b, c".
template <typename Range>
std::string join(const Range &parts, std::string_view separator) {
  std::string text;
  for (const auto &part : parts) {
    if (!text.empty())
      text += separator;
    text += part;
  }
  return text;
}

/// Returns the shortest decimal text that reads back as `value` (at most 17
/// digits); integers below 1e7 have no exponent.
std::string formatNumber(double value);
/// Returns an integer with separators: 70553706496 -> "70,553,706,496".
std::string formatInteger(int64_t value);
std::string formatInteger(Checked value);
/// Returns a count with its noun: "1 file", "1,739 files".
std::string countOf(size_t count, std::string_view noun);
/// Returns bytes with a binary prefix, as memory is labelled: 17640734720 ->
/// "16.43 GiB".
std::string formatBytes(int64_t bytes);
std::string formatBytes(Checked bytes);
/// Returns a time, given in us, with a unit: 5212.5 -> "5.21 ms".
std::string formatTime(double microseconds);

/// Returns the member of `known` nearest to `text` by edit distance, "" if none
/// is near; for "did you mean".
std::string nearest(std::string_view text,
                    const std::vector<std::string> &known);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_TEXT_H
