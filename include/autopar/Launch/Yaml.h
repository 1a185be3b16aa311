//===- Yaml.h - YAML as JSON values -----------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LAUNCH_YAML_H
#define AUTOPAR_LAUNCH_YAML_H

#include "autopar/Support/Result.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace autopar::launch {

/// A document of a YAML text, and the line of each of its values, by the JSON
/// pointer of the value.
struct YamlDocument {
  nlohmann::json value;
  std::map<std::string, int64_t> lines;

  /// Returns the line of the value at `pointer`; 1 if there is no such value.
  int64_t lineOf(const std::string &pointer) const;
};

/// Reads all documents of a text. Scalars without quotes are null, booleans,
/// integers or numbers as YAML 1.2 says; tags are ignored. Fails, and names
/// `name` and the line, for errors of syntax, for nesting above
/// `limits::maxNestingDepth`, for more than `limits::maxYamlValues` values
/// after aliases are replaced, and for a key that occurs twice.
Result<std::vector<YamlDocument>> readYaml(const std::string &text,
                                           const std::string &name);
/// Returns a value as YAML in block style.
std::string writeYaml(const nlohmann::ordered_json &value);

} // namespace autopar::launch

#endif // AUTOPAR_LAUNCH_YAML_H
