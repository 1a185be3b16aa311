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

/// The role of a size. If a field has several roles, the first in this list
/// counts: the width of an embedding may also be that of a matmul.
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

/// A config field that is a size, because a parameter of a block refers to it.
struct SizeField {
  Scope *scope = nullptr;
  std::string name;
  SizeRole role = SizeRole::width;
  /// The block that refers to the field; fields of one block belong together.
  std::string block;
  /// The value: an integer, or a list with one integer for each layer.
  JsonValue value;

  int64_t number() const;
};

/// Returns the fields of `scope` that are sizes and are given by the config, or
/// by a constant default.
std::vector<SizeField> sizeFieldsOf(Scope &scope);

/// Returns the text of the member `key` of an object of a family; "" if there
/// is none.
std::string textAt(const JsonValue &object, const char *key);

/// Returns the scopes of a model: its own and those of its parts.
std::vector<Scope *> scopesOf(Scope &root);

/// Returns the field names in an expression of a family, with those on which
/// variables of layers depend; none if `text` is not an expression.
std::vector<std::string> namesIn(const Scope &scope, const JsonValue &text);

} // namespace autopar::model

#endif // AUTOPAR_LIB_MODEL_SIZEFIELDS_H
