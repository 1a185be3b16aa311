//===- Expression.h - Small formulas in family files ------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of Python's expressions that descriptions of models need: integers
// (checked, 64 bits), numbers, texts, lists, None; + - * / // %, comparisons,
// `in`, and, or, not, `a if c else b`, `list[i]`, and a few functions.
//
//   head_dim if head_dim else hidden_size / num_attention_heads
//   layer_types[i] == 'sliding_attention'
//
// `/` of integers must be exact. Only what is needed is evaluated: the branch
// that a condition did not take may name fields that are missing.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_MODEL_EXPRESSION_H
#define AUTOPAR_MODEL_EXPRESSION_H

#include "autopar/Support/Result.h"

#include <nlohmann/json.hpp>

#include <string_view>
#include <vector>

namespace autopar::model {

/// A value of a family's field: null, a boolean, an integer, a number, a text,
/// or a list of them.
using JsonValue = nlohmann::json;

/// The meanings of the names in an expression.
class Names {
public:
  virtual ~Names();
  /// The value of `name`, which stays where it is; an error where it has none.
  virtual Result<const JsonValue *> lookUp(const std::string &name) = 0;
  /// Whether the config gives the field `name` a value (`has(name)`).
  virtual bool has(const std::string &name) = 0;
};

/// A parsed expression.
class Expression {
public:
  /// Parses `text`; an error names the column.
  static Result<Expression> parse(std::string_view text);
  Result<JsonValue> evaluate(Names &names) const;
  /// The names in it, in order.
  std::vector<std::string> names() const;
  /// Whether it is a name and nothing else.
  bool isName() const { return nodes[root].kind == Node::Kind::name; }

  struct Node {
    enum class Kind : uint8_t {
      literal,
      name,
      list,
      unary,
      binary,
      conditional,
      index,
      call
    };
    Kind kind = Kind::literal;
    /// Operator, name or function.
    std::string text;
    JsonValue literal;
    std::vector<uint32_t> operands;
  };

private:
  std::vector<Node> nodes;
  uint32_t root = 0;
};

/// Whether a value counts as true: not false, 0, null, "" or [].
bool isTrue(const JsonValue &value);

} // namespace autopar::model

#endif // AUTOPAR_MODEL_EXPRESSION_H
