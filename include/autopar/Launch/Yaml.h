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

/// A document of a YAML text, and the line of each value by its JSON pointer.
struct YamlDocument {
  nlohmann::json value;
  std::map<std::string, int64_t> lines;

  /// The line of the value at `pointer`; 1 if there is none.
  int64_t lineOf(const std::string &pointer) const;
};

/// Reads all documents of a text. Plain scalars are null, booleans, integers
/// and numbers as YAML 1.2 says; tags are ignored. Errors name `name` and the
/// line: syntax, nesting above `limits::maxNestingDepth`, more than
/// `limits::maxYamlValues` values once aliases are replaced, a key twice.
Result<std::vector<YamlDocument>> readYaml(const std::string &text,
                                           const std::string &name);
/// Writes a value in block style.
std::string writeYaml(const nlohmann::ordered_json &value);

} // namespace autopar::launch

#endif // AUTOPAR_LAUNCH_YAML_H
