//===- Toml.h - TOML as JSON values -----------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LAUNCH_TOML_H
#define AUTOPAR_LAUNCH_TOML_H

#include "autopar/Launch/Yaml.h"

namespace autopar::launch {

/// Reads a TOML 1.0 text. Dates and times stay texts. Errors name `name` and
/// the line: syntax, nesting above `limits::maxNestingDepth`, more than
/// `limits::maxYamlValues` values, a key twice.
Result<YamlDocument> readToml(const std::string &text, const std::string &name);

} // namespace autopar::launch

#endif // AUTOPAR_LAUNCH_TOML_H
