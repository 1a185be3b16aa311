//===- DraftOrigin.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Model/DraftOrigin.h"

#include "PlainKeys.h"

#include "autopar/Support/Text.h"

using namespace autopar;
using namespace autopar::model;

static void collect(const JsonValue &object, const std::string &pointer,
                    const PlainKeys &plain, JsonValue &values) {
  static const std::set<std::string> names = {"model_type", "architectures",
                                              "dtype", "torch_dtype"};
  for (auto it = object.begin(); it != object.end(); ++it) {
    std::string place = pointer + "/" + it.key();
    if (names.count(it.key()) || plain.have(it.key(), ""))
      continue;
    if (it->is_object())
      collect(*it, place, plain, values);
    else if (!it->is_null())
      values[place] = *it;
  }
}

Result<JsonValue> autopar::model::shapingValuesOf(const JsonValue &config) {
  Result<std::optional<PlainKeys>> plain = readPlainKeys();
  if (!plain)
    return plain.error();
  JsonValue values = JsonValue::object();
  if (config.is_object())
    collect(config, "", plain->value_or(PlainKeys()), values);
  return values;
}

std::optional<std::string> autopar::model::draftRemark(const Family &family) {
  auto draft = family.description.find("draft");
  if (draft == family.description.end() || !draft->is_object())
    return std::nullopt;
  return "\"" + family.name + "\" is a draft from tensors (" +
         draft->value("summary", "") + "): memory and linear FLOPs are " +
         "theirs, all else is guessed: " +
         join(draft->value("guesses", std::vector<std::string>()), "; ");
}

static std::string textOf(const JsonValue &values, const std::string &place) {
  auto found = values.find(place);
  return found == values.end() ? "nothing" : shorten(found->dump());
}

static Error refuse(const Scope &scope, const std::string &place,
                    const JsonValue &own, const JsonValue &now) {
  JsonReader at = scope.config();
  std::string key = place.substr(1);
  for (size_t slash; (slash = key.find('/')) != std::string::npos &&
                     at.has(key.substr(0, slash));
       key.erase(0, slash + 1))
    at = at.object(key.substr(0, slash));
  at.failAt(key,
            "is " + textOf(now, place) + ", and the draft \"" +
                scope.family().name + "\" was made of a config with " +
                textOf(own, place),
            "autopar models new drafts a family from this model's config and "
            "checkpoint");
  return at.takeError();
}

std::optional<Error> autopar::model::checkDraftOrigin(const Scope &scope) {
  const JsonValue &description = scope.family().description;
  auto draft = description.find("draft");
  if (draft == description.end() || !draft->is_object())
    return std::nullopt;
  JsonValue own = draft->value("values", JsonValue::object());
  Result<JsonValue> now = shapingValuesOf(scope.config().toJson());
  if (!now)
    return now.error();
  std::set<std::string> readable;
  if (!draft->value("has_numbers", true))
    scope.addKnownKeys(readable);
  JsonValue all = own;
  all.update(*now);
  for (auto it = all.begin(); it != all.end(); ++it) {
    const std::string &place = it.key();
    bool isSame = own.contains(place) && now->contains(place) &&
                  own[place] == (*now)[place];
    if (!isSame && !readable.count(place))
      return refuse(scope, place, own, *now);
  }
  return std::nullopt;
}
