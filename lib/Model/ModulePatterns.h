//===- ModulePatterns.h - Lists of modules in configs -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_MODEL_MODULEPATTERNS_H
#define AUTOPAR_LIB_MODEL_MODULEPATTERNS_H

#include "Pattern.h"

#include <optional>
#include <set>
#include <string>

namespace autopar::model {

/// A list such as ["lm_head", "model.layers.*.self_attn", "re:.*mlp.gate$"]. A
/// name or glob stands for the modules that have it as whole parts of their
/// names, so for those inside it too; "re:" is Python's `re.match`.
class ModulePatterns {
public:
  /// Adds an entry; returns its error, if any.
  std::optional<std::string> add(std::string_view entry);

  bool matches(std::string_view module, uint64_t &steps) const;
  bool empty() const {
    return names.empty() && prefixes.empty() && patterns.empty();
  }
  /// Whether layers of one kind may match differently.
  bool dependsOnLayer() const { return hasNumbers; }

private:
  void addName(std::string_view name);
  void addPrefix(std::string_view prefix);
  bool isPrefixed(std::string_view text) const;

  std::set<std::string, std::less<>> names;
  /// Prefixes from globs that only end in `*`, from any part of a name on. None
  /// begins another.
  std::set<std::string, std::less<>> prefixes;
  std::vector<Pattern> patterns;
  bool hasNumbers = false;
};

} // namespace autopar::model

#endif // AUTOPAR_LIB_MODEL_MODULEPATTERNS_H
