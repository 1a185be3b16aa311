//===- Shell.h - Words of command lines -------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SUPPORT_SHELL_H
#define AUTOPAR_SUPPORT_SHELL_H

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace autopar {

/// Returns `text` as one word of a POSIX shell, in single quotes if it is empty
/// or has special characters.
std::string shellWord(std::string_view text);

/// Writes `head` and a command of shell words in lines of at most `width`;
/// further lines are indented. Lines break between words and end with a
/// backslash. A word that is longer than a line is not broken.
std::string commandLines(std::string_view head,
                         const std::vector<std::string> &words, size_t width);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_SHELL_H
