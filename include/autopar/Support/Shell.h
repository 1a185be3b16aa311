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

/// `text` as a POSIX shell reads one word: in single quotes where it has
/// characters that mean something to a shell, or none at all.
std::string shellWord(std::string_view text);

/// The command of `words`, which a shell reads as they are, in lines of at most
/// `width` after `head`, further ones indented. Lines break between words alone
/// and end in a backslash, so that a shell reads one command: a word that is
/// longer than a line stays whole.
std::string commandLines(std::string_view head,
                         const std::vector<std::string> &words, size_t width);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_SHELL_H
