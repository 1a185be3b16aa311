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

/// Refuses text that a recursive parser or printer would not survive: nesting
/// of brackets, signs and aliases, and aliases, numbers and affine expressions
/// that are too long (`limits`). Takes one linear scan. Errors name `name`.
std::optional<Error> checkSourceText(std::string_view text,
                                     const std::string &name);

/// Whether `text` is MLIR bytecode.
bool isBytecode(std::string_view text);

/// The text of a file, and the name for errors.
struct SourceText {
  std::string name, text;
};

/// Reads `path`, or standard input if it is "-", and refuses text that the
/// parser would not survive. Bytecode is refused as well, because its reader is
/// not hardened, unless the user trusts it.
Result<SourceText> readSourceText(const std::string &path,
                                  bool trustsBytecode = false);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_SOURCETEXT_H
