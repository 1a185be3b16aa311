//===- PlainKeys.h - Keys of configs that change no shape -------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_MODEL_PLAINKEYS_H
#define AUTOPAR_LIB_MODEL_PLAINKEYS_H

#include "autopar/Support/Result.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace autopar::model {

/// The config keys that do not change tensor shapes, from
/// models/plain_keys.json: whole keys, and beginnings, inner parts and ends of
/// keys.
struct PlainKeys {
  std::set<std::string> keys;
  std::vector<std::string> beginnings, parts, ends;
  /// Parts of the names of factors by which dimensions are multiplied.
  std::vector<std::string> factors;
  /// For each model type, the keys that are without effect in its class.
  std::map<std::string, std::set<std::string>> types;

  /// Whether `key` does not change shapes. `modelType` is that of the config
  /// with the key, or of one that contains it.
  bool have(const std::string &key, const std::string &modelType) const;
  bool isFactor(const std::string &key) const;
};

/// Reads models/plain_keys.json; returns nothing if there is no such file.
Result<std::optional<PlainKeys>> readPlainKeys();

} // namespace autopar::model

#endif // AUTOPAR_LIB_MODEL_PLAINKEYS_H
