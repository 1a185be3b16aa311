//===- SizeFields.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SizeFields.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::model;

namespace {

/// A parameter of a kind of block that is a size, and the type of the fields
/// that its expression may name; fields of other types in it are conditions.
struct SizeParameter {
  const char *kind, *parameter;
  SizeRole role;
  const char *type;
};

} // namespace

static constexpr SizeParameter parameters[] = {
    {"embedding", "width", SizeRole::hidden, "width"},
    {"embedding", "rows", SizeRole::vocabulary, "width"},
    {"position_embedding", "rows", SizeRole::positions, "tokens"},
    {"patch_embedding", "width", SizeRole::hidden, "width"},
    {"convolution", "width", SizeRole::hidden, "width"},
    {"linear", "width", SizeRole::width, "width"},
    {"input", "width", SizeRole::width, "width"},
    {"scale", "width", SizeRole::width, "width"},
    {"feed_forward", "width", SizeRole::width, "width"},
    {"attention", "heads", SizeRole::heads, "count"},
    {"attention", "kv_heads", SizeRole::kv_heads, "count"},
    {"attention", "head_dim", SizeRole::head_dim, "count"},
    {"attention", "v_head_dim", SizeRole::value_dim, "count"},
    {"attention", "rope_width", SizeRole::rope_dim, "count"},
    {"attention", "window", SizeRole::window, "tokens"},
    {"attention", "chunk", SizeRole::window, "tokens"},
    {"latent_attention", "heads", SizeRole::heads, "count"},
    {"latent_attention", "q_rank", SizeRole::query_rank, "width"},
    {"latent_attention", "kv_rank", SizeRole::kv_rank, "width"},
    {"latent_attention", "nope_dim", SizeRole::nope_dim, "count"},
    {"latent_attention", "rope_dim", SizeRole::rope_dim, "count"},
    {"latent_attention", "v_dim", SizeRole::value_dim, "count"},
    {"latent_attention", "index_heads", SizeRole::heads, "count"},
    {"latent_attention", "index_dim", SizeRole::head_dim, "count"},
    {"latent_attention", "index_top_k", SizeRole::window, "tokens"},
    {"compressed_attention", "heads", SizeRole::heads, "count"},
    {"compressed_attention", "q_rank", SizeRole::query_rank, "width"},
    {"compressed_attention", "rope_width", SizeRole::rope_dim, "count"},
    {"compressed_attention", "window", SizeRole::window, "tokens"},
    {"compressed_attention", "o_groups", SizeRole::kv_heads, "count"},
    {"compressed_attention", "o_rank", SizeRole::rank, "count"},
    {"compressed_attention", "index_heads", SizeRole::heads, "count"},
    {"compressed_attention", "index_dim", SizeRole::head_dim, "count"},
    {"compressed_attention", "index_top_k", SizeRole::window, "tokens"},
    {"experts", "experts", SizeRole::experts, "experts"},
    {"experts", "top_k", SizeRole::top_k, "experts"},
    {"experts", "groups", SizeRole::groups, "count"},
    {"experts", "keep", SizeRole::kept_groups, "count"},
    {"experts", "zero_experts", SizeRole::experts, "integer"},
    {"experts", "width", SizeRole::width, "width"},
    {"experts", "latent", SizeRole::width, "width"},
    {"mamba", "inner", SizeRole::width, "width"},
    {"mamba", "state", SizeRole::state, "count"},
    {"mamba", "dt_rank", SizeRole::rank, "count_or_auto"},
    {"mamba2", "heads", SizeRole::heads, "count"},
    {"mamba2", "groups", SizeRole::kv_heads, "count"},
    {"mamba2", "head_dim", SizeRole::head_dim, "count"},
    {"mamba2", "state", SizeRole::state, "count"},
    {"delta_net", "value_heads", SizeRole::heads, "count"},
    {"delta_net", "key_heads", SizeRole::kv_heads, "count"},
    {"delta_net", "key_dim", SizeRole::state, "count"},
    {"delta_net", "value_dim", SizeRole::head_dim, "count"},
    {"kimi_delta", "heads", SizeRole::heads, "count"},
    {"kimi_delta", "head_dim", SizeRole::head_dim, "count"},
    {"linear_attention", "heads", SizeRole::heads, "count"},
    {"linear_attention", "head_dim", SizeRole::head_dim, "count"},
};

int64_t SizeField::number() const {
  const JsonValue &one = value.is_array() && !value.empty() ? value[0] : value;
  return one.is_number_integer() ? one.get<int64_t>() : 0;
}

std::string autopar::model::textAt(const JsonValue &object, const char *key) {
  auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_string() ? found->get<std::string>()
                                                     : "";
}

//===----------------------------------------------------------------------===//
// Names that an expression depends on
//===----------------------------------------------------------------------===//

/// Returns the expression of a layer's variable, in any stack; null if there is
/// no such variable.
static const JsonValue *findVariable(const Family &family,
                                     const std::string &name) {
  auto stacks = family.description.find("stacks");
  if (stacks == family.description.end())
    return nullptr;
  for (const JsonValue &stack : *stacks)
    if (stack.is_object() && stack.contains("variables") &&
        stack["variables"].contains(name))
      return &stack["variables"][name];
  return nullptr;
}

static void addNames(const Family &family, const JsonValue &text,
                     unsigned depth, std::vector<std::string> &names) {
  constexpr unsigned deepest = 16;
  if (!text.is_string() || depth == deepest)
    return;
  Result<Expression> parsed =
      Expression::parse(text.get_ref<const std::string &>());
  if (!parsed)
    return;
  for (const std::string &name : parsed->names()) {
    if (std::find(names.begin(), names.end(), name) != names.end())
      continue;
    if (const JsonValue *variable = findVariable(family, name))
      addNames(family, *variable, depth + 1, names);
    else
      names.push_back(name);
  }
}

std::vector<std::string> autopar::model::namesIn(const Scope &scope,
                                                 const JsonValue &text) {
  std::vector<std::string> names;
  addNames(scope.family(), text, 0, names);
  return names;
}

std::vector<Scope *> autopar::model::scopesOf(Scope &root) {
  std::vector<Scope *> scopes = {&root};
  for (size_t i = 0; i < scopes.size(); ++i) {
    const JsonValue &family = scopes[i]->family().description;
    if (!family.contains("parts"))
      continue;
    for (auto it = family["parts"].begin(); it != family["parts"].end(); ++it)
      if (it->is_object())
        if (Result<Scope *> part = scopes[i]->part(it.key()))
          scopes.push_back(*part);
  }
  return scopes;
}

//===----------------------------------------------------------------------===//
// Finding the fields that hold sizes
//===----------------------------------------------------------------------===//

/// Returns the scope that has the field `name`, which may belong to a part;
/// removes the part from `name`.
static Scope *holderOf(Scope &scope, std::string &name) {
  size_t dot = name.find('.');
  if (dot == std::string::npos)
    return &scope;
  Result<Scope *> part = scope.part(name.substr(0, dot));
  name.erase(0, dot + 1);
  return part ? holderOf(**part, name) : nullptr;
}

/// Whether a field has the given type. A field of another integer type counts
/// as a size only if it is the whole expression.
static bool isOfType(const JsonValue &field, std::string_view type,
                     bool isWhole) {
  std::string own = textAt(field, "type");
  if (own == type)
    return true;
  return isWhole && (own == "integer" || own == "any" || own == "count" ||
                     own == "width" || own == "list_or_integer");
}

static void addFields(Scope &scope, const std::string &block,
                      const JsonValue &text, const SizeParameter &parameter,
                      std::vector<SizeField> &fields) {
  std::vector<std::string> names = namesIn(scope, text);
  for (std::string name : names) {
    Scope *holder = holderOf(scope, name);
    const JsonValue *field =
        holder ? holder->family().find("fields", name) : nullptr;
    if (!field || !isOfType(*field, parameter.type, names.size() == 1))
      continue;
    Result<const JsonValue *> value = holder->lookUp(name);
    if (!value)
      continue;
    SizeField size{holder, name, parameter.role, block, **value};
    if (size.number() > 0)
      fields.push_back(std::move(size));
  }
}

/// Adds widths that no block uses, but that must equal a value computed from
/// other fields, or be a multiple of it.
static void addBoundWidths(Scope &scope, std::vector<SizeField> &fields) {
  const JsonValue &family = scope.family().description;
  if (!family.contains("fields"))
    return;
  for (auto it = family["fields"].begin(); it != family["fields"].end(); ++it) {
    if (!it->is_object() || textAt(*it, "type") != "width" ||
        !(it->contains("equals") || it->contains("multiple_of")))
      continue;
    Result<const JsonValue *> value = scope.lookUp(it.key());
    if (value && (*value)->is_number_integer())
      fields.push_back({&scope, it.key(), SizeRole::width, "", **value});
  }
}

std::vector<SizeField> autopar::model::sizeFieldsOf(Scope &scope) {
  std::vector<SizeField> fields;
  const JsonValue &family = scope.family().description;
  addBoundWidths(scope, fields);
  if (!family.contains("blocks"))
    return fields;
  for (auto block = family["blocks"].begin(); block != family["blocks"].end();
       ++block)
    for (const SizeParameter &parameter : parameters)
      if (block->is_object() && textAt(*block, "is") == parameter.kind &&
          block->contains(parameter.parameter))
        addFields(scope, block.key(), (*block)[parameter.parameter], parameter,
                  fields);
  return fields;
}
