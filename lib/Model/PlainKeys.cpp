//===- PlainKeys.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlainKeys.h"

#include "autopar/Support/File.h"
#include "autopar/Support/Json.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::model;

static bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

static bool endsWith(const std::string &text, const std::string &end) {
  return text.size() >= end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool PlainKeys::have(const std::string &key,
                     const std::string &modelType) const {
  auto ofType = types.find(modelType);
  if (ofType != types.end() && ofType->second.count(key))
    return true;
  auto any = [&](const std::vector<std::string> &words, auto matches) {
    return std::any_of(words.begin(), words.end(), matches);
  };
  return keys.count(key) ||
         any(beginnings,
             [&](const std::string &word) {
               return key.rfind(word, 0) == 0;
             }) ||
         any(parts,
             [&](const std::string &word) { return contains(key, word); }) ||
         any(ends,
             [&](const std::string &word) { return endsWith(key, word); });
}

bool PlainKeys::isFactor(const std::string &key) const {
  return std::any_of(
      factors.begin(), factors.end(),
      [&](const std::string &word) { return contains(key, word); });
}

static std::string pathOfPlainKeys() {
  return dataDirectory("models") + "/plain_keys.json";
}

Result<std::optional<PlainKeys>> autopar::model::readPlainKeys() {
  if (!fileExists(pathOfPlainKeys()))
    return std::optional<PlainKeys>();
  Result<JsonDocument> document = JsonDocument::readFile(pathOfPlainKeys());
  if (!document)
    return document.error();
  JsonReader reader = document->reader();
  reader.allowOnly(
      {"source", "keys", "beginnings", "parts", "ends", "factors", "types"});
  std::vector<std::string> keys = reader.strings("keys");
  PlainKeys plain{{keys.begin(), keys.end()}, reader.strings("beginnings"),
                  reader.strings("parts"),    reader.strings("ends"),
                  reader.strings("factors"),  {}};
  for (const auto &[type, list] : reader.object("types").members())
    for (const JsonReader &key : list.elements())
      plain.types[type].insert(key.asString());
  if (reader.failed())
    return reader.takeError();
  return std::optional(std::move(plain));
}
