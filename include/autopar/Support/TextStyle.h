//===- TextStyle.h - Style of reports on a terminal -------------*- C++ -*-===//
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

/// The style of a report for readers.
struct TextStyle {
  /// Columns of a line, at least 60.
  size_t width = 100;
  bool color = false;
  /// Whether defaults are listed, not only counted.
  bool verbose = false;
  /// Whether only the answer is written: the question, whether it fits, how
  /// fast it is; for a service also its throughput and times.
  bool brief = false;
};

/// The style of standard output: the width of its terminal, or COLUMNS; in
/// colour on a terminal, unless NO_COLOR is set.
TextStyle outputStyle();

/// Sets the style of `writeText` on this thread while the scope lives: tables
/// and paragraphs at any depth use it.
class TextStyleScope {
public:
  explicit TextStyleScope(const TextStyle &style);
  ~TextStyleScope();
  TextStyleScope(const TextStyleScope &) = delete;
  TextStyleScope &operator=(const TextStyleScope &) = delete;

  /// The style of the innermost scope, else the plain one.
  static const TextStyle &current();

private:
  TextStyle style;
  const TextStyle *outer;
};

/// Finishes a text: breaks lines that are still too long, shows control
/// characters, and colours headings, shares, bars, warnings, and whether a plan
/// fits.
std::string finishText(const std::string &text, const TextStyle &style);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_TEXTSTYLE_H
