//===- LaunchNames.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchNames.h"

using namespace autopar;
using namespace autopar::launch;
using model::JsonValue;

Result<JsonValue> LaunchNames::evaluate(const std::string &name,
                                        const model::Expression &expression) {
  if (!open.insert(name).second)
    return Error{"", "the formula of " + name + " needs itself", ""};
  Result<JsonValue> value = expression.evaluate(*this);
  open.erase(name);
  if (!value)
    return value.error().behind(name + ": ");
  return value;
}

Result<JsonValue> LaunchNames::evaluate(const std::string &name,
                                        const Formula &formula) {
  const model::Expression *expression = formula.of(version);
  return expression ? evaluate(name, *expression) : JsonValue();
}

Result<const JsonValue *> LaunchNames::lookUp(const std::string &name) {
  if (auto known = values.find(name); known != values.end())
    return &known->second;
  if (formulas)
    if (auto formula = formulas->find(name); formula != formulas->end()) {
      Result<JsonValue> value = evaluate(name, formula->second);
      if (!value)
        return value.error();
      return &values.insert_or_assign(name, std::move(*value)).first->second;
    }
  return Error{"", "there is no setting \"" + name + "\"", ""};
}

bool LaunchNames::has(const std::string &name) {
  auto known = values.find(name);
  return known != values.end() && !known->second.is_null();
}

void autopar::launch::addFacts(LaunchNames &names, const ModelFacts &facts) {
  names.set("moe", facts.hasExperts.value_or(true));
  names.set("layers", facts.layers > 0 ? JsonValue(facts.layers) : JsonValue());
}
