//===- Shrink.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Model/Shrink.h"

#include "LayerPrefix.h"
#include "SizeFields.h"
#include "SizeRelations.h"

#include <algorithm>
#include <numeric>

using namespace autopar;
using namespace autopar::model;

/// Degrees of parallelism up to this one must divide the small sizes if they
/// divided the original sizes.
constexpr int64_t plannedDegree = 8;

/// Returns the smallest number of key-value heads that the same degrees divide.
static int64_t fewerKvHeads(int64_t count) {
  if (count <= plannedDegree)
    return count;
  int64_t common = std::gcd(count, plannedDegree);
  return common > 1 ? common : 3;
}

/// Returns a small number of query heads for `kvHeads` key-value heads, for a
/// model that had `heads` and `oldKvHeads`: the same degrees divide it, and the
/// ratio to the key-value heads divides the old ratio if that is small.
static int64_t fewerHeads(int64_t heads, int64_t oldKvHeads, int64_t kvHeads) {
  constexpr int64_t largest = 8;
  int64_t ratio = heads / oldKvHeads, degrees = std::gcd(heads, plannedDegree);
  if (ratio == 1)
    return kvHeads;
  auto hasDegrees = [&](int64_t fewer) {
    return std::gcd(kvHeads * fewer, plannedDegree) == degrees;
  };
  for (int64_t fewer = 2; fewer <= std::min(ratio, largest); ++fewer)
    if (ratio % fewer == 0 && hasDegrees(fewer))
      return kvHeads * fewer;
  for (int64_t fewer = 2; fewer < ratio; ++fewer)
    if (hasDegrees(fewer))
      return kvHeads * fewer;
  return heads / oldKvHeads * kvHeads;
}

namespace {

class Shrinker {
public:
  Shrinker(const Model &model, const SmallSizes &sizes)
      : sizes(sizes), scopes(scopesOf(*model.scope)) {
    for (Scope *scope : scopes)
      for (SizeField &field : sizeFieldsOf(*scope))
        fields.push_back(std::move(field));
    for (SizeField &field : fields) {
      SizeRole &role =
          roles.try_emplace(keyOf(field), field.role).first->second;
      role = std::min(role, field.role);
    }
  }

  /// Writes the small sizes into `config`.
  void run(JsonValue &config) {
    shrinkHeads();
    shrinkExperts();
    for (Scope *scope : scopes)
      shrinkHidden(*scope);
    shrinkHeadDims();
    for (const SizeField &field : fields)
      if (int64_t small = smallOf(field))
        set(field, small);
    shrinkWidths();
    settleRelations(fields, small);
    for (const SizeField &field : fields)
      write(field, config);
    for (Scope *scope : scopes)
      keepFirstLayers(*scope, sizes.layers, config);
  }

private:
  using Key = SmallSizeMap::key_type;
  static Key keyOf(const SizeField &field) { return {field.scope, field.name}; }
  bool is(const SizeField &field, SizeRole role) const {
    return roles.at(keyOf(field)) == role;
  }
  /// Sets a small size, unless the field has one already.
  void set(const SizeField &field, int64_t value) {
    small.emplace(keyOf(field), value);
  }
  int64_t smallFor(const SizeField &field) const {
    auto found = small.find(keyOf(field));
    return found == small.end() ? field.number() : found->second;
  }
  /// Returns the field with the role `role` in the block of `field`; null if
  /// there is none.
  const SizeField *beside(const SizeField &field, SizeRole role) const {
    for (const SizeField &other : fields)
      if (other.block == field.block && other.scope == field.scope &&
          is(other, role))
        return &other;
    return nullptr;
  }
  static bool isOf(const SizeField &field, const char *kind) {
    const JsonValue *block = field.scope->family().find("blocks", field.block);
    return block && textAt(*block, "is") == kind;
  }
  static bool isOfAttention(const SizeField &field) {
    return isOf(field, "attention");
  }

  void shrinkHeads() {
    for (const SizeField &heads : fields) {
      if (!is(heads, SizeRole::heads))
        continue;
      const SizeField *kv = beside(heads, SizeRole::kv_heads);
      int64_t count = heads.number(), kvCount = kv ? kv->number() : count;
      if (kvCount > count || count % kvCount)
        continue;
      int64_t fewer = fewerKvHeads(kvCount);
      set(heads, fewerHeads(count, kvCount, fewer));
      if (kv)
        set(*kv, fewer);
    }
  }

  /// Sets numbers of experts: fewer are chosen than exist, and each expert
  /// group has two of them.
  void shrinkExperts() {
    for (const SizeField &experts : fields) {
      const SizeField *chosen = beside(experts, SizeRole::top_k);
      if (!is(experts, SizeRole::experts) || !chosen)
        continue;
      int64_t count = std::min(experts.number(), sizes.experts), kept = count;
      const SizeField *groups = beside(experts, SizeRole::groups),
                      *keep = beside(experts, SizeRole::kept_groups);
      if (groups && groups->number() > 1) {
        int64_t few =
            std::gcd(std::max<int64_t>(count / 2, 1), groups->number());
        set(*groups, few);
        if (keep && keep->number() < groups->number()) {
          int64_t half =
              std::min(keep->number(), std::max<int64_t>(few / 2, 1));
          set(*keep, half);
          kept = count / few * half;
        } else if (keep) {
          set(*keep, few);
        }
      }
      constexpr int64_t most = 3;
      set(experts, count);
      set(*chosen, std::min({chosen->number(), most, kept}));
    }
  }

  /// Returns the head dimension of the attention with the heads `heads`; 0 if
  /// there is none.
  int64_t headDimOf(const SizeField &heads, int64_t hidden) const {
    if (const SizeField *dim = beside(heads, SizeRole::head_dim))
      return dim->number();
    return hidden % heads.number() ? 0 : hidden / heads.number();
  }

  /// Sets the width of the stream. If heads times their dimension was that
  /// width, it still is.
  void shrinkHidden(Scope &scope) {
    constexpr int64_t apart = 48;
    for (const SizeField &hidden : fields) {
      if (hidden.scope != &scope || !is(hidden, SizeRole::hidden))
        continue;
      int64_t wide = hidden.number(), together = 1;
      for (const SizeField &heads : fields)
        if (heads.scope == &scope && is(heads, SizeRole::heads) &&
            isOfAttention(heads)) {
          int64_t dim = headDimOf(heads, wide);
          if (dim && dim * heads.number() == wide)
            together = std::lcm(together,
                                smallFor(heads) * std::min(dim, sizes.headDim));
        }
      int64_t narrow = std::min(wide, together > 1 ? together : apart);
      widths.emplace(wide, narrow);
      set(hidden, widths[wide]);
      hiddens.emplace(&scope, std::pair(wide, widths[wide]));
    }
  }

  /// Sets head dimensions. If the heads of a state-space layer had together a
  /// multiple of the stream's width, they still do.
  void shrinkHeadDims() {
    for (const SizeField &dim : fields) {
      const SizeField *heads = beside(dim, SizeRole::heads);
      if (!is(dim, SizeRole::head_dim))
        continue;
      int64_t fewer = std::min(dim.number(), sizes.headDim);
      auto [wide, narrow] = hiddens[dim.scope];
      if (heads && isOf(dim, "mamba2") && wide &&
          dim.number() * heads->number() % wide == 0) {
        int64_t inner = dim.number() * heads->number() / wide * narrow;
        if (inner % smallFor(*heads) == 0)
          fewer = inner / smallFor(*heads);
      }
      set(dim, fewer);
      if (heads)
        widths.emplace(dim.number() * heads->number(),
                       smallFor(dim) * smallFor(*heads));
    }
  }

  /// Returns the small size of a field that depends on no other size; these
  /// sizes are all different. 0 for other roles.
  int64_t smallOf(const SizeField &field) const {
    int64_t size = field.number();
    switch (roles.at(keyOf(field))) {
    case SizeRole::vocabulary:
      // A size that is no multiple of 64 keeps its remainder, so that the small
      // model has it too.
      return std::min(size, size % 64 ? 128 + size % 64 : 256);
    case SizeRole::query_rank:
      return std::min<int64_t>(size, 24);
    case SizeRole::kv_rank:
      return std::min<int64_t>(size, 20);
    case SizeRole::nope_dim:
    case SizeRole::rank:
      return std::min<int64_t>(size, 6);
    case SizeRole::rope_dim:
      return smallRope(field);
    case SizeRole::value_dim:
      return smallValue(field);
    case SizeRole::state:
      return smallState(field);
    case SizeRole::window:
      return std::min<int64_t>(size, 4);
    case SizeRole::positions:
      return std::min<int64_t>(size, 64);
    case SizeRole::experts:
      return std::min<int64_t>(size, 2);
    default:
      return 0;
    }
  }

  /// Returns a small number of rotated elements: the same share of the head as
  /// before.
  int64_t smallRope(const SizeField &field) const {
    constexpr int64_t latent = 4;
    const SizeField *dim = beside(field, SizeRole::head_dim);
    if (!isOfAttention(field) || !dim)
      return std::min(field.number(), latent);
    int64_t pairs = field.number() * smallFor(*dim) / dim->number() / 2;
    return std::max<int64_t>(pairs, 1) * 2;
  }

  /// Returns a small state: the keys of a delta net keep their width relative
  /// to that of the values.
  int64_t smallState(const SizeField &field) const {
    constexpr int64_t other = 4;
    const SizeField *values = beside(field, SizeRole::head_dim);
    if (!isOf(field, "delta_net") || !values)
      return std::min(field.number(), other);
    return std::max<int64_t>(1, field.number() * smallFor(*values) /
                                    values->number());
  }

  int64_t smallValue(const SizeField &field) const {
    constexpr int64_t latent = 10, other = 6;
    const SizeField *dim = beside(field, SizeRole::head_dim);
    if (!isOfAttention(field) || !dim)
      return std::min(field.number(), latent);
    return dim->number() == field.number() ? smallFor(*dim)
                                           : std::min(field.number(), other);
  }

  /// Sets other widths: equal widths stay equal, and small multiples of the
  /// stream's width stay such; all others become different multiples of 16.
  void shrinkWidths() {
    std::map<int64_t, Scope *> all;
    for (const SizeField &field : fields)
      if (is(field, SizeRole::width))
        all.emplace(field.number(), field.scope);
    int64_t next = 32;
    auto isUsed = [&](int64_t width) {
      return std::any_of(widths.begin(), widths.end(), [&](const auto &known) {
        return known.second == width;
      });
    };
    constexpr int64_t most = 8;
    for (auto [width, scope] : all) {
      auto [wide, narrow] = hiddens[scope];
      if (widths.count(width))
        continue;
      if (wide && width % wide == 0 && width / wide <= most) {
        widths[width] = width / wide * narrow;
        continue;
      }
      while (isUsed(next))
        next += 16;
      widths[width] = std::min(width, next);
    }
    for (const SizeField &field : fields)
      if (is(field, SizeRole::width))
        set(field, widths[field.number()]);
  }

  void write(const SizeField &field, JsonValue &config) const {
    auto found = small.find(keyOf(field));
    if (found == small.end())
      return;
    for (const std::string &place : field.scope->placesOf(field.name)) {
      JsonValue &value = config[JsonValue::json_pointer(place)];
      if (!field.value.is_array())
        value = found->second;
      else
        std::fill(value.begin(), value.end(), found->second);
    }
  }

  const SmallSizes &sizes;
  std::vector<Scope *> scopes;
  std::vector<SizeField> fields;
  std::map<Key, SizeRole> roles;
  SmallSizeMap small;
  /// `widths`: the small width for each original width. `hiddens`: original and
  /// small width of each scope's stream.
  std::map<int64_t, int64_t> widths;
  std::map<Scope *, std::pair<int64_t, int64_t>> hiddens;
};

} // namespace

JsonValue autopar::model::shrinkConfig(const Model &model,
                                       const SmallSizes &sizes) {
  JsonValue config = model.config->toJson();
  Shrinker(model, sizes).run(config);
  return config;
}

JsonValue autopar::model::plainConfig(const Model &model) {
  JsonValue config = model.config->toJson();
  auto erase = [](JsonValue &from) {
    for (const char *settings :
         {"quantization_config", "compression_config", "quantization"})
      from.erase(settings);
  };
  erase(config);
  for (JsonValue &part : config)
    if (part.is_object())
      erase(part);
  return config;
}
