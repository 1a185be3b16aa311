//===- ExpressionParser.h ---------------------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_MODEL_EXPRESSIONPARSER_H
#define AUTOPAR_LIB_MODEL_EXPRESSIONPARSER_H

#include "autopar/Model/Expression.h"

#include <optional>

namespace autopar::model {

/// A recursive-descent parser of family expressions, with Python's precedences.
class ExpressionParser {
public:
  using Node = Expression::Node;

  ExpressionParser(std::string_view text, std::vector<Node> &nodes)
      : text(text), nodes(nodes) {}

  /// Returns the root node; nothing if the text is not exactly one expression.
  std::optional<uint32_t> parse();
  Error error() const;

private:
  uint32_t parseConditional();
  uint32_t parseBinary(unsigned level);
  uint32_t parseUnary();
  uint32_t parsePostfix();
  uint32_t parsePrimary();
  uint32_t parseName();
  uint32_t parseNumber();
  uint32_t parseText();
  std::vector<uint32_t> parseList(char close);
  std::string_view takeOperator(unsigned level);

  void skipSpace();
  bool atWord(std::string_view word) const;
  bool take(std::string_view symbol);
  bool takeWord(std::string_view word);
  void expect(std::string_view symbol);
  void fail(std::string message);
  uint32_t add(Node::Kind kind, std::string text,
               std::vector<uint32_t> operands = {});

  std::string_view text;
  std::vector<Node> &nodes;
  size_t position = 0;
  unsigned depth = 0;
  std::string message;
  size_t failedAt = 0;
};

} // namespace autopar::model

#endif // AUTOPAR_LIB_MODEL_EXPRESSIONPARSER_H
