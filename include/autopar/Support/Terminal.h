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

/// Returns the number of characters of UTF-8 text, for aligning text in any
/// script.
size_t lengthOf(std::string_view text);

/// Returns `text` with control characters written as "\\x1b", because names
/// from untrusted sources must not move the cursor. UTF-8 stays as it is.
std::string visible(std::string_view text);

/// Breaks `head` and `text` into lines of at most `width`; further lines are
/// indented to where `text` begins. Words that are longer than a line are
/// broken.
std::string wrap(std::string_view head, std::string_view text, size_t width);

/// Returns the number of columns of standard output: that of its terminal, else
/// the value of COLUMNS; nothing if neither is known.
std::optional<size_t> outputWidth();

/// Whether standard output is a terminal that shows colours, and NO_COLOR is
/// not set.
bool outputHasColor();

} // namespace autopar

#endif // AUTOPAR_SUPPORT_TERMINAL_H
