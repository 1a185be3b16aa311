//===- ExpressionTest.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Model/Expression.h"

#include "gtest/gtest.h"

using namespace autopar;
using namespace autopar::model;

namespace {

struct SomeNames : Names {
  const JsonValue least = INT64_MIN, text = "M\xC3\xA9";
  Result<const JsonValue *> lookUp(const std::string &name) override {
    return name == "least" ? &least : &text;
  }
  bool has(const std::string &) override { return true; }
};

/// The value as JSON, or the error.
std::string evaluate(std::string_view text) {
  SomeNames names;
  Result<Expression> expression = Expression::parse(text);
  if (!expression)
    return expression.error().message;
  Result<JsonValue> value = expression->evaluate(names);
  return value ? value->dump() : value.error().message;
}

} // namespace

TEST(Expression, RestsAreNotNegative) {
  EXPECT_EQ(evaluate("7 % 5"), "2");
  EXPECT_EQ(evaluate("-7 % 5"), "3");
  EXPECT_EQ(evaluate("-10 % 5"), "0");
  EXPECT_EQ(evaluate("least % 55555555"), "22614012");
}

TEST(Expression, FindsTheLastOfTheFirstElements) {
  EXPECT_EQ(evaluate("last_of(['a', 'b', 'a', 'b'], 'a', 4)"), "2");
  EXPECT_EQ(evaluate("last_of(['a', 'b', 'a', 'b'], 'a', 2)"), "0");
  EXPECT_EQ(evaluate("last_of(['a', 'b', 'a', 'b'], 'b', 1)"), "null");
  EXPECT_EQ(evaluate("last_of(['a', 'b'], 'b', 9)"), "1");
  EXPECT_EQ(evaluate("last_of('ab', 'b', 2)"),
            "last_of expects a list, a value and a number of elements");
}

TEST(Expression, TextsStayUtf8) {
  EXPECT_EQ(evaluate("text[0]"), "\"M\"");
  EXPECT_EQ(evaluate("text[1]"), "element 1 of \"M\xC3\xA9\" is not ASCII");
}
