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
/// or a list of such values.
using JsonValue = nlohmann::json;

/// Gives values to the names in an expression.
class Names {
public:
  virtual ~Names();
  /// Returns the value of `name`, which the caller does not own; an error if it
  /// has none.
  virtual Result<const JsonValue *> lookUp(const std::string &name) = 0;
  /// Whether the config gives a value to the field `name`; expressions ask this
  /// as `has(name)`.
  virtual bool has(const std::string &name) = 0;
};

/// A parsed expression of a family file.
class Expression {
public:
  /// Parses `text`; an error names the column.
  static Result<Expression> parse(std::string_view text);
  Result<JsonValue> evaluate(Names &names) const;
  /// Returns the names in the expression, in order.
  std::vector<std::string> names() const;
  /// Whether the expression is a single name.
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
    /// The operator, the name or the function of this node.
    std::string text;
    JsonValue literal;
    std::vector<uint32_t> operands;
  };

private:
  std::vector<Node> nodes;
  uint32_t root = 0;
};

/// Whether a value counts as true, which all do except false, 0, null, "" and
/// [].
bool isTrue(const JsonValue &value);

} // namespace autopar::model

#endif // AUTOPAR_MODEL_EXPRESSION_H
