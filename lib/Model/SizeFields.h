//===- SizeFields.h - Sizes in the fields of a config -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_MODEL_SIZEFIELDS_H
#define AUTOPAR_LIB_MODEL_SIZEFIELDS_H

#include "autopar/Model/Scope.h"

namespace autopar::model {

/// The role of a size. For a field with several roles the first counts: an
/// embedding's width may also be that of a matmul.
enum class SizeRole : uint8_t {
  hidden,
  vocabulary,
  heads,
  kv_heads,
  head_dim,
  experts,
  top_k,
  groups,
  kept_groups,
  query_rank,
  kv_rank,
  nope_dim,
  rope_dim,
  value_dim,
  state,
  rank,
  window,
  positions,
  width
};

/// A field that a parameter of a block names.
struct SizeField {
  Scope *scope = nullptr;
  std::string name;
  SizeRole role = SizeRole::width;
  /// The block that names it: fields of one block belong together.
  std::string block;
  /// An integer, or a list with one for each layer.
  JsonValue value;

  int64_t number() const;
};

/// The sizes that the config behind `scope` gives, or a fixed default.
std::vector<SizeField> sizeFieldsOf(Scope &scope);

/// The text at `key` of an object of a family; "" where there is none.
std::string textAt(const JsonValue &object, const char *key);

/// The scopes of a model: its own and those of its parts.
std::vector<Scope *> scopesOf(Scope &root);

/// The names in an expression of a family, those behind variables of layers
/// too; none where it is no expression.
std::vector<std::string> namesIn(const Scope &scope, const JsonValue &text);

} // namespace autopar::model

#endif // AUTOPAR_LIB_MODEL_SIZEFIELDS_H
