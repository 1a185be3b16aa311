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

/// A list of module patterns such as ["lm_head", "model.layers.*.self_attn",
/// "re:.*mlp.gate$"]. A name or glob matches the modules whose names contain it
/// as whole parts, and thus also all modules inside these; "re:" is Python's
/// `re.match`.
class ModulePatterns {
public:
  /// Adds a pattern; returns its error, or nothing.
  std::optional<std::string> add(std::string_view entry);

  bool matches(std::string_view module, uint64_t &steps) const;
  bool empty() const {
    return names.empty() && prefixes.empty() && patterns.empty();
  }
  /// Whether the result may differ between layers of one kind.
  bool dependsOnLayer() const { return hasNumbers; }

private:
  void addName(std::string_view name);
  void addPrefix(std::string_view prefix);
  bool isPrefixed(std::string_view text) const;

  std::set<std::string, std::less<>> names;
  /// Prefixes from globs whose only `*` is at the end; they may match from any
  /// part of a name on. No prefix begins another one.
  std::set<std::string, std::less<>> prefixes;
  std::vector<Pattern> patterns;
  bool hasNumbers = false;
};

} // namespace autopar::model

#endif // AUTOPAR_LIB_MODEL_MODULEPATTERNS_H
