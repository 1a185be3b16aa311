//===- Shell.h - Words of command lines -------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SUPPORT_SHELL_H
#define AUTOPAR_SUPPORT_SHELL_H

#include <string>
#include <string_view>

namespace autopar {

/// `text` as a POSIX shell reads one word: in single quotes where it has
/// characters that mean something to a shell, or none at all.
std::string shellWord(std::string_view text);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_SHELL_H
