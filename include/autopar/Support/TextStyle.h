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

/// How a text report is written.
struct TextStyle {
  /// Number of columns of a line, at least 60.
  size_t width = 100;
  bool color = false;
  /// Whether assumptions that are defaults are listed, instead of only counted.
  bool verbose = false;
  /// Whether to write only the answer: the question, whether the plan fits, and
  /// how fast it is; for a service also its throughput and times.
  bool brief = false;
};

/// Returns the style for standard output: the width of its terminal, or
/// COLUMNS; with colours on a terminal, unless NO_COLOR is set.
TextStyle outputStyle();

/// While an object of this class exists, `writeText` uses its style on this
/// thread, and so do tables and paragraphs.
class TextStyleScope {
public:
  explicit TextStyleScope(const TextStyle &style);
  ~TextStyleScope();
  TextStyleScope(const TextStyleScope &) = delete;
  TextStyleScope &operator=(const TextStyleScope &) = delete;

  /// Returns the style of the innermost scope, or the plain style if there is
  /// none.
  static const TextStyle &current();

private:
  TextStyle style;
  const TextStyle *outer;
};

/// Finishes a text: breaks lines that are still too long, makes control
/// characters visible, and colours headings, shares, bars, warnings, and
/// whether a plan fits.
std::string finishText(const std::string &text, const TextStyle &style);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_TEXTSTYLE_H
