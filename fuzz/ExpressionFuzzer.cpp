//===- ExpressionFuzzer.cpp ----------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The input is an expression of a family file.

#include "autopar/Model/Expression.h"

using namespace autopar;
using namespace autopar::model;

namespace {

/// Names of every kind of value.
class SomeNames : public Names {
public:
  Result<const JsonValue *> lookUp(const std::string &name) override {
    auto value = values.find(name);
    if (value == values.end())
      return Error{"", "unknown name " + name, ""};
    return &*value;
  }
  bool has(const std::string &name) override { return values.contains(name); }

private:
  const JsonValue values = {{"i", 3},
                            {"n", -1},
                            {"hidden_size", 4096},
                            {"most", INT64_MAX},
                            {"least", INT64_MIN},
                            {"eps", 1e-6},
                            {"huge", 1e308},
                            {"flag", true},
                            {"none", nullptr},
                            {"text", "M-E*\xC3\xA9"},
                            {"kinds", {"full", "sliding", "full"}},
                            {"text.heads", {1, 2.5, nullptr, {8}}}};
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const char *data, size_t size) {
  Result<Expression> expression = Expression::parse({data, size});
  if (!expression)
    return 0;
  SomeNames names;
  Result<JsonValue> value = expression->evaluate(names);
  if (value)
    isTrue(*value);
  return 0;
}
