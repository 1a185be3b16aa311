//===- Terminal.h - Lines for people to read --------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SUPPORT_TERMINAL_H
#define AUTOPAR_SUPPORT_TERMINAL_H

#include <optional>
#include <string>
#include <string_view>

namespace autopar {

/// Number of characters of UTF-8 text, for alignment in any script.
size_t lengthOf(std::string_view text);

/// Writes the control characters of `text` as "\\x1b", because names from
/// others must not move the cursor. UTF-8 stays as it is.
std::string visible(std::string_view text);

/// Wraps `text` in lines of at most `width`, the first after `head`, the others
/// indented to match it. Breaks words that are longer than a line.
std::string wrap(std::string_view head, std::string_view text, size_t width);

/// Columns of standard output: of its terminal, else the value of COLUMNS;
/// nothing if neither is known.
std::optional<size_t> outputWidth();

/// Whether standard output is a terminal that shows colours, and NO_COLOR does
/// not ask for none.
bool outputHasColor();

} // namespace autopar

#endif // AUTOPAR_SUPPORT_TERMINAL_H
