//===- Block.h - Parameters of a block of a family --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_MODEL_BLOCK_H
#define AUTOPAR_MODEL_BLOCK_H

#include "autopar/Model/Scope.h"

#include <optional>

namespace autopar::model {

/// One entry of `blocks` in a family file: {"is": kind, parameter: value, ...}.
/// The code that builds blocks of this kind reads parameters by name and type.
/// The first error is kept in `error`; from then on, getters return neutral
/// values.
class Block {
public:
  Block(Scope &scope, std::string name, std::optional<Error> &error);

  /// Returns the kind of the block: "attention", "mlp", ...
  const std::string &kind() const { return kindName; }
  const std::string &name() const { return blockName; }
  Scope &scope() const { return names; }
  /// Returns whether the block's condition "when" holds, or the block has none.
  bool isEnabled();

  /// Whether the block has the parameter `key` with a value other than null.
  bool has(const char *key);
  /// Returns a positive integer; the second form returns `absent` if there is
  /// no such parameter.
  int64_t integer(const char *key);
  int64_t integer(const char *key, int64_t absent);
  /// Returns a list of positive integers, which must not be empty.
  std::vector<int64_t> integers(const char *key);
  /// Returns names of tensors, each with its shape: {"name": [rows, columns]}.
  std::vector<std::pair<std::string, std::vector<int64_t>>>
  tensors(const char *key);
  double number(const char *key, double absent);
  double positive(const char *key, double absent);
  double notNegative(const char *key, double absent);
  bool flag(const char *key, bool absent = false);
  /// Returns a text of the family file in which each {expression} is replaced
  /// by its value.
  std::string text(const char *key);
  std::string text(const char *key, const std::string &absent);
  /// Returns the text that the parameter's expression yields; "" for null.
  std::string choice(const char *key, const std::string &absent = "");

  /// Allows parameters that are only read by some variants of the kind.
  void mayHave(std::initializer_list<const char *> keys) {
    asked.insert(keys.begin(), keys.end());
  }
  /// Fails if the block has parameters that were never read.
  void finish();
  void fail(const std::string &message, const char *key = nullptr);
  /// Reports `message` at the config key from which the parameter follows: that
  /// of the last field in its expression.
  void failField(const char *key, const std::string &message);

private:
  const JsonValue *find(const char *key);
  JsonValue evaluate(const char *key);
  std::string pointerTo(const char *key) const;
  std::vector<int64_t> readIntegers(const JsonValue *elements, const char *key);

  Scope &names;
  std::string blockName, kindName;
  std::optional<Error> &error;
  const JsonValue *parameters = nullptr;
  std::set<std::string> asked;
};

} // namespace autopar::model

#endif // AUTOPAR_MODEL_BLOCK_H
