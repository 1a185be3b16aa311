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

/// Keys that change no shape: models/plain_keys.json.
struct PlainKeys {
  std::set<std::string> keys;
  std::vector<std::string> beginnings, parts, ends;
  /// Parts of names of factors that dimensions are multiplied by.
  std::vector<std::string> factors;
  /// By model type, keys that its class builds nothing from.
  std::map<std::string, std::set<std::string>> types;

  /// `modelType` is that of the config that has the key, or of one around it.
  bool have(const std::string &key, const std::string &modelType) const;
  bool isFactor(const std::string &key) const;
};

/// Nothing where there is no such file.
Result<std::optional<PlainKeys>> readPlainKeys();

} // namespace autopar::model

#endif // AUTOPAR_LIB_MODEL_PLAINKEYS_H
