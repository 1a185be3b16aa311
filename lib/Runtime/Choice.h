//===- Choice.h - Words of runtime files ------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_RUNTIME_CHOICE_H
#define AUTOPAR_LIB_RUNTIME_CHOICE_H

#include "autopar/Support/Json.h"
#include "autopar/Support/Text.h"

#include <string>
#include <utility>
#include <vector>

namespace autopar::runtime {

/// Reads the text `key`, which must be a name in `values`. Returns the value of
/// this name.
template <typename T, size_t n>
T readChoice(const JsonReader &reader, const char *key,
             const std::pair<const char *, T> (&values)[n]) {
  std::string name = reader.string(key);
  std::vector<std::string> known;
  for (auto [text, value] : values) {
    if (name == text)
      return value;
    known.push_back(text);
  }
  if (!reader.failed())
    reader.failAt(key, "expected one of " + join(known, ", ") + ", found \"" +
                           shorten(name) + "\"");
  return values[0].second;
}

} // namespace autopar::runtime

#endif // AUTOPAR_LIB_RUNTIME_CHOICE_H
