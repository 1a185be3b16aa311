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

/// One entry of a family's `blocks`: {"is": kind, parameter: value, ...}. The
/// builder of the kind asks for its parameters by name and type; the first
/// error is kept in `error`, after which getters return neutral values.
class Block {
public:
  Block(Scope &scope, std::string name, std::optional<Error> &error);

  /// "attention", "mlp", ...
  const std::string &kind() const { return kindName; }
  const std::string &name() const { return blockName; }
  Scope &scope() const { return names; }
  /// Its "when" is true, or it has none.
  bool isEnabled();

  /// Whether the parameter is there (and not null).
  bool has(const char *key);
  /// A positive integer, or `absent` where the parameter is not there.
  int64_t integer(const char *key);
  int64_t integer(const char *key, int64_t absent);
  /// A list of positive integers, not empty.
  std::vector<int64_t> integers(const char *key);
  /// Names of tensors, each with its shape: {"name": [rows, columns]}.
  std::vector<std::pair<std::string, std::vector<int64_t>>>
  tensors(const char *key);
  double number(const char *key, double absent);
  double positive(const char *key, double absent);
  double notNegative(const char *key, double absent);
  bool flag(const char *key, bool absent = false);
  /// Text of the family file, each {expression} replaced.
  std::string text(const char *key);
  std::string text(const char *key, const std::string &absent);
  /// The text that an expression has for value, "" for null.
  std::string choice(const char *key, const std::string &absent = "");

  /// Names parameters that only some forms of the kind ask for.
  void mayHave(std::initializer_list<const char *> keys) {
    asked.insert(keys.begin(), keys.end());
  }
  /// Refuses parameters that were never read.
  void finish();
  void fail(const std::string &message, const char *key = nullptr);
  /// Names the key of the config that the parameter follows from: the last
  /// field in its expression.
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
