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
  /// Formulas are those of `version`; `formulas` may be null.
  LaunchNames(const Formulas *formulas, Version version)
      : formulas(formulas), version(std::move(version)) {}

  void set(const std::string &name, model::JsonValue value) {
    values[name] = std::move(value);
  }
  void setIfAbsent(const std::string &name, model::JsonValue value) {
    values.emplace(name, std::move(value));
  }
  Result<const model::JsonValue *> lookUp(const std::string &name) override;
  bool has(const std::string &name) override;
  Result<model::JsonValue> evaluate(const std::string &name,
                                    const model::Expression &expression);
  /// The value of a formula; null if the version has none.
  Result<model::JsonValue> evaluate(const std::string &name,
                                    const Formula &formula);

private:
  const Formulas *formulas;
  Version version;
  std::map<std::string, model::JsonValue> values;
  /// Formulas that are being evaluated.
  std::set<std::string> open;
};

/// Adds the facts that formulas may ask: `moe` and `layers`.
void addFacts(LaunchNames &names, const ModelFacts &facts);

} // namespace autopar::launch

#endif // AUTOPAR_LIB_LAUNCH_LAUNCHNAMES_H
