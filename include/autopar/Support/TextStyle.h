//===- TextStyle.h - How reports look on a terminal -------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SUPPORT_TEXTSTYLE_H
#define AUTOPAR_SUPPORT_TEXTSTYLE_H

#include <cstddef>
#include <string>

namespace autopar {

/// How a report is written for people.
struct TextStyle {
  /// Columns of a line, at least 60.
  size_t width = 100;
  bool color = false;
  /// Whether defaults are listed, not only counted.
  bool verbose = false;
  /// Whether only the answer is written: what runs where, whether it fits, how
  /// fast it is; of a service its throughput and times, too.
  bool brief = false;
};

/// The style of what goes to standard output: as wide as its terminal, or as
/// COLUMNS says; in colour on a terminal, unless NO_COLOR is set.
TextStyle outputStyle();

/// What `writeText` writes on this thread while it lives has `style`: tables
/// and paragraphs at any depth ask for it.
class TextStyleScope {
public:
  explicit TextStyleScope(const TextStyle &style);
  ~TextStyleScope();
  TextStyleScope(const TextStyleScope &) = delete;
  TextStyleScope &operator=(const TextStyleScope &) = delete;

  /// That of the innermost scope, else the plain one.
  static const TextStyle &current();

private:
  TextStyle style;
  const TextStyle *outer;
};

/// `text` with lines that are still too long broken, control characters shown,
/// and with colours: of headings, shares, bars, warnings, and of whether it
/// fits.
std::string finishText(const std::string &text, const TextStyle &style);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_TEXTSTYLE_H
