//===- LaunchNames.h - Names in the formulas of launches --------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_LAUNCH_LAUNCHNAMES_H
#define AUTOPAR_LIB_LAUNCH_LAUNCHNAMES_H

#include "autopar/Launch/Launch.h"

#include <map>
#include <set>

namespace autopar::launch {

/// Values by name; formulas are evaluated when a name is first looked up.
class LaunchNames : public model::Names {
public:
  /// `formulas` may be null.
  explicit LaunchNames(const Formulas *formulas) : formulas(formulas) {}

  void set(const std::string &name, model::JsonValue value) {
    values[name] = std::move(value);
  }
  void setIfAbsent(const std::string &name, model::JsonValue value) {
    values.emplace(name, std::move(value));
  }
  Result<const model::JsonValue *> lookUp(const std::string &name) override;
  bool has(const std::string &name) override;
  Result<model::JsonValue> evaluate(const std::string &name,
                                    const model::Expression &formula);

private:
  const Formulas *formulas;
  std::map<std::string, model::JsonValue> values;
  /// Formulas that are being evaluated.
  std::set<std::string> open;
};

/// Adds the facts that formulas may ask: `moe` and `layers`.
void addFacts(LaunchNames &names, const ModelFacts &facts);

} // namespace autopar::launch

#endif // AUTOPAR_LIB_LAUNCH_LAUNCHNAMES_H
