//===- ValueText.h - Values of settings as text -----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_LAUNCH_VALUETEXT_H
#define AUTOPAR_LIB_LAUNCH_VALUETEXT_H

#include "autopar/Model/Expression.h"
#include "autopar/Support/Text.h"

namespace autopar::launch {

/// Returns a text as it is, and another value as JSON.
inline std::string textOf(const model::JsonValue &value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Returns the value as the text of a flag: elements of a list stand between
/// commas.
inline std::string flagText(const model::JsonValue &value) {
  if (!value.is_array())
    return textOf(value);
  std::vector<std::string> words;
  for (const model::JsonValue &element : value)
    words.push_back(textOf(element));
  return join(words, ",");
}

} // namespace autopar::launch

#endif // AUTOPAR_LIB_LAUNCH_VALUETEXT_H
