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

/// Characters of UTF-8 text, so that names in any script line up.
size_t lengthOf(std::string_view text);

/// `text` with its control characters as "\\x1b": names that others gave must
/// not move the cursor. UTF-8 stays as it is.
std::string visible(std::string_view text);

/// `text` in lines of at most `width`, the first after `head`, the others
/// indented to match it. Words longer than a line are broken.
std::string wrap(std::string_view head, std::string_view text, size_t width);

/// Columns of standard output: of its terminal, else what COLUMNS says;
/// nothing where neither says.
std::optional<size_t> outputWidth();

/// Whether standard output is a terminal that shows colours, and NO_COLOR does
/// not ask for none.
bool outputHasColor();

} // namespace autopar

#endif // AUTOPAR_SUPPORT_TERMINAL_H
