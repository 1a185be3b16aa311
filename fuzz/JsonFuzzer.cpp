//===- JsonFuzzer.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The input is JSON. What is read is what nlohmann::json reads, and what is
// refused is what it refuses, deep nesting, a key that comes twice, or a zero
// byte.

#include "autopar/Support/Json.h"

#include <nlohmann/json.hpp>

using namespace autopar;
using nlohmann::json;

/// Each value is where its pointer says.
static void checkPointers(const JsonReader &reader, const json &root) {
  if (root.at(json::json_pointer(reader.pointer())) != reader.toJson())
    __builtin_trap();
  for (const JsonReader &element : reader.elements())
    checkPointers(element, root);
  for (const auto &[key, member] : reader.members()) {
    if (reader.has(key) == reader.isNullMember(key))
      __builtin_trap();
    checkPointers(member, root);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const char *data, size_t size) {
  std::string_view text(data, size);
  Result<JsonDocument> document = JsonDocument::parse(text, "a.json");
  json expected = json::parse(text, nullptr, false);
  if (!document) {
    std::string message = document.error().message;
    bool isOurs = message.rfind("nested", 0) == 0 ||
                  message.rfind("duplicate", 0) == 0 ||
                  text.find('\0') != text.npos;
    if (!isOurs && !expected.is_discarded())
      __builtin_trap();
    return 0;
  }
  // By bytes, so that 1 is not 1.0.
  if (expected.is_discarded() || document->toJson().dump() != expected.dump())
    __builtin_trap();
  checkPointers(document->reader(), expected);
  document->set(expected);
  if (document->toJson() != expected)
    __builtin_trap();
  return 0;
}
