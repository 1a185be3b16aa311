//===- UnreadKeys.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Model/UnreadKeys.h"

#include "PlainKeys.h"

#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::model;

namespace {

/// Walks through a config and collects the keys that no family reads.
class UnreadWalk {
public:
  UnreadWalk(const std::set<std::string> &known, const PlainKeys &plain)
      : known(known), plain(plain) {
    for (const std::string &pointer : known)
      names.insert(pointer.substr(pointer.rfind('/') + 1));
  }

  void walk(const JsonValue &object, const std::string &pointer,
            std::string modelType);

  std::vector<std::string> unread;

private:
  /// Whether families know a key below `pointer`.
  bool hasKnown(const std::string &pointer) const;

  const std::set<std::string> &known;
  const PlainKeys &plain;
  /// The last parts of all known pointers, because composite configs repeat
  /// keys of their parts.
  std::set<std::string> names;
};

} // namespace

/// Whether a value may be a dimension, or contain several: integers above 1,
/// also inside lists and objects. A value of 1 adds no dimension.
static bool hasDimensions(const JsonValue &value) {
  if (value.is_number_integer())
    return value > 1;
  return value.is_structured() &&
         std::any_of(value.begin(), value.end(),
                     [](const JsonValue &one) { return hasDimensions(one); });
}

bool UnreadWalk::hasKnown(const std::string &pointer) const {
  std::string below = pointer + "/";
  auto next = known.lower_bound(below);
  return next != known.end() && next->rfind(below, 0) == 0;
}

void UnreadWalk::walk(const JsonValue &object, const std::string &pointer,
                      std::string modelType) {
  auto type = object.find("model_type");
  if (type != object.end() && type->is_string())
    modelType = *type;
  for (auto it = object.begin(); it != object.end(); ++it) {
    std::string place = pointer + "/" + it.key();
    if (known.count(place) || plain.have(it.key(), modelType))
      continue;
    if (it->is_object() && hasKnown(place)) {
      walk(*it, place, modelType);
      continue;
    }
    bool isFactor = it->is_number_float() && plain.isFactor(it.key());
    if ((isFactor || hasDimensions(*it)) && !names.count(it.key()))
      unread.push_back(place.substr(1));
  }
}

Result<std::vector<std::string>>
autopar::model::unreadKeysOf(const Scope &scope) {
  Result<std::optional<PlainKeys>> plain = readPlainKeys();
  if (!plain)
    return plain.error();
  // Without the file of plain keys, every key of training and generation would
  // be reported.
  if (!*plain)
    return std::vector<std::string>();
  std::set<std::string> known;
  scope.addKnownKeys(known);
  UnreadWalk walk(known, **plain);
  walk.walk(scope.config().toJson(), "", "");
  return std::move(walk.unread);
}

/// Whether `list` has one entry for each layer of `config`, and the entries
/// differ.
static bool differsByLayer(const JsonValue &list, const JsonReader &config) {
  static constexpr const char *counts[] = {"num_hidden_layers", "n_layer",
                                           "n_layers", "num_layers"};
  auto isOfLayers = [&](const char *key) {
    return config.has(key) && config.member(key).toJson() == list.size();
  };
  return list.is_array() &&
         std::any_of(std::begin(counts), std::end(counts), isOfLayers) &&
         std::any_of(list.begin(), list.end(),
                     [&](const JsonValue &one) { return one != list.front(); });
}

std::optional<Error>
autopar::model::findUnreadLayers(const Model &model,
                                 const std::vector<std::string> &unread) {
  for (const std::string &place : unread) {
    JsonReader at = model.config->reader();
    std::string key = place;
    for (size_t slash; (slash = key.find('/')) != std::string::npos;
         key.erase(0, slash + 1))
      at = at.object(key.substr(0, slash));
    if (!differsByLayer(at.member(key).toJson(), at))
      continue;
    std::string path = place;
    std::replace(path.begin(), path.end(), '/', '.');
    at.failAt(key,
              "has settings of layers that differ, and model type \"" +
                  model.scope->family().name + "\" does not read them",
              "a family whose blocks depend on it counts them; --assume " +
                  path + "=null counts equal layers");
    return at.takeError();
  }
  return std::nullopt;
}
