//===- NameForms.h - A name from its fullest form to its barest -*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_VALIDATION_NAMEFORMS_H
#define AUTOPAR_VALIDATION_NAMEFORMS_H

#include "autopar/Validation/Names.h"

namespace autopar::validation {

/// Longer names are not resolved.
inline constexpr size_t maxNameLength = 500;

/// Without "(notes)" and "[notes]", and spaces around.
std::string withoutNotes(std::string_view text);

struct NameForms {
  /// Words joined without separators, each form shorter than the previous one:
  /// "nvidiallama3.18binstructfp8" ... "llama3.18b".
  std::vector<std::string> forms;
  /// The weight format that the name ends in.
  std::string format;
};

NameForms formsOf(const std::string &text, const NameRules &rules);
/// The fullest form alone.
std::string fullForm(const std::string &text);

} // namespace autopar::validation

#endif // AUTOPAR_VALIDATION_NAMEFORMS_H
