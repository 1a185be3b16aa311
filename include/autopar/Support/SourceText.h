//===- SourceText.h - A first look at .mlir text ----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SUPPORT_SOURCETEXT_H
#define AUTOPAR_SUPPORT_SOURCETEXT_H

#include "autopar/Support/Result.h"

#include <optional>
#include <string>
#include <string_view>

namespace autopar {

/// Returns an error for .mlir text that would overflow a recursive parser or
/// printer, or would take too much time or memory: deep nesting of brackets,
/// signs and aliases, and long aliases, numbers and affine expressions
/// (`limits`). It takes one linear scan. Errors state `name` as the file.
std::optional<Error> checkSourceText(std::string_view text,
                                     const std::string &name);

/// Whether `text` is MLIR bytecode.
bool isBytecode(std::string_view text);

/// The text of a file, and the file name that errors state.
struct SourceText {
  std::string name, text;
};

/// Reads .mlir text from the file `path`, or from standard input if it is "-",
/// and checks it by `checkSourceText`. Bytecode is refused, because its reader
/// is not hardened, unless the user trusts it.
Result<SourceText> readSourceText(const std::string &path,
                                  bool trustsBytecode = false);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_SOURCETEXT_H
