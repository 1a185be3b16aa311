//===- JsonState.h - Shared state of a document's readers -------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SUPPORT_JSONSTATE_H
#define AUTOPAR_LIB_SUPPORT_JSONSTATE_H

#include "JsonTree.h"

#include "autopar/Support/Json.h"

namespace autopar {

struct JsonReader::State {
  const JsonTree &tree;
  std::string file;
  std::optional<Error> error = std::nullopt;

  /// Records the error, which is at the JSON pointer `pointer`, unless there
  /// was one before.
  void fail(const std::string &pointer, std::string message, std::string note);
};

} // namespace autopar

#endif // AUTOPAR_LIB_SUPPORT_JSONSTATE_H
