//===- LayerPrefix.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerPrefix.h"

#include "FieldTypes.h"
#include "SizeFields.h"
#include "autopar/Model/Stack.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::model;

/// Returns the smallest number of first layers that include all kinds of
/// layers.
static int64_t prefixOf(const Stack &stack) {
  auto last = stack.layers.begin();
  for (uint32_t kind = 0; kind < stack.kinds.size(); ++kind)
    last = std::max(last,
                    std::find(stack.layers.begin(), stack.layers.end(), kind));
  return last - stack.layers.begin() + 1;
}

/// Reduces those fields of the config that determine a stack's number of layers
/// by its `expression`.
static void shrinkCount(Scope &scope, const JsonValue &expression,
                        int64_t fewer, JsonValue &config) {
  for (const std::string &name : namesIn(scope, expression)) {
    const JsonValue *field = scope.family().find("fields", name);
    if (!field || textAt(*field, "type") != "layers")
      continue;
    Result<const JsonValue *> value = scope.lookUp(name);
    if (value && (*value)->is_number_integer())
      for (const std::string &place : scope.placesOf(name))
        config[JsonValue::json_pointer(place)] =
            (*value)->get<int64_t>() - fewer;
  }
}

/// Reduces the fields that count the last layers, as the first ones stay.
static void shrinkLast(Scope &scope, int64_t fewer, JsonValue &config) {
  const JsonValue &fields = scope.family().description["fields"];
  for (auto it = fields.begin(); it != fields.end(); ++it) {
    if (!it->is_object() || !it->contains("last_layers"))
      continue;
    Result<const JsonValue *> value = scope.lookUp(it.key());
    if (value && (*value)->is_number_integer())
      for (const std::string &place : scope.placesOf(it.key()))
        config[JsonValue::json_pointer(place)] =
            std::max<int64_t>((*value)->get<int64_t>() - fewer, 0);
  }
}

namespace {

/// A list in a config that has an entry for each layer, or lists numbers of
/// layers.
struct LayerList {
  std::string field;
  JsonValue &value;
  /// Number of the first layer in the list.
  int64_t first;

  /// Whether the list has numbers of layers of a stack with `layers` layers,
  /// each once and in order.
  bool namesLayers(int64_t layers) const {
    return value.is_array() && !value.empty() &&
           std::all_of(value.begin(), value.end(),
                       [&](const JsonValue &number) {
                         return number.is_number_integer() &&
                                number.get<int64_t>() >= first &&
                                number.get<int64_t>() < first + layers;
                       }) &&
           std::adjacent_find(value.begin(), value.end(),
                              std::greater_equal<>()) == value.end();
  }
  void keepBelow(int64_t layers) {
    JsonValue numbers = JsonValue::array();
    for (const JsonValue &number : value)
      if (number.get<int64_t>() < first + layers)
        numbers.push_back(number);
    value = std::move(numbers);
  }
  /// Replaces the numbers by as many consecutive ones from the first layer on.
  void count() {
    int64_t next = first;
    for (JsonValue &number : value)
      number = next++;
  }
};

/// The stacks that are shortened together, because one expression gives their
/// number of layers, and the lists about these layers.
class Prefix {
public:
  Prefix(Scope &scope, const JsonValue &count, int64_t least, JsonValue &config)
      : scope(scope), count(count), config(config), kept(least) {}

  void add(const JsonValue &description, const Stack &stack) {
    layers = static_cast<int64_t>(stack.layers.size());
    kept = std::max(kept, prefixOf(stack));
    if (auto variables = description.find("variables");
        variables != description.end())
      for (const JsonValue &variable : *variables)
        for (std::string &name : namesIn(scope, variable))
          asked.insert(std::move(name));
  }

  /// Excludes lists that are used only by the layers of `other`.
  void leaveTo(const Prefix &other) {
    others.insert(other.asked.begin(), other.asked.end());
  }

  void shrink() {
    forEachList([&](const LayerList &list) {
      // All layers that the list names must be kept.
      if (list.namesLayers(layers) && !asked.count(list.field) &&
          !isByLayer(list.value))
        kept = std::max(kept, static_cast<int64_t>(list.value.size()));
    });
    if (kept >= layers)
      return;
    shrinkCount(scope, count, layers - kept, config);
    shrinkLast(scope, layers - kept, config);
    forEachList([&](LayerList list) {
      if (isByLayer(list.value))
        cut(list.value);
      else if (list.namesLayers(layers) && asked.count(list.field))
        list.keepBelow(kept);
      else if (list.namesLayers(layers))
        list.count();
    });
  }

private:
  bool isByLayer(const JsonValue &list) const {
    size_t size = list.is_string() ? list.get_ref<const std::string &>().size()
                                   : list.size();
    return static_cast<int64_t>(size) == layers;
  }
  void cut(JsonValue &list) const {
    if (list.is_string())
      list = list.get<std::string>().substr(0, kept);
    else
      list.erase(list.begin() + kept, list.end());
  }

  /// Calls `visit` with the lists and texts of the config that may have an
  /// entry for each layer, or numbers of layers.
  template <typename Visit>
  void forEachList(Visit visit) {
    const JsonValue &fields = scope.family().description["fields"];
    for (auto it = fields.begin(); it != fields.end(); ++it) {
      if (!it->is_object())
        continue;
      std::string type = textAt(*it, "type");
      bool mayBe = type == "any" || type == "list_or_integer" ||
                   type == "list" || it->contains("letters");
      bool isOfLayers = type != "list" || it->contains("elements") ||
                        it->contains("length") || it->contains("choices") ||
                        asked.count(it.key());
      bool isOfOthers = others.count(it.key()) && !asked.count(it.key());
      if (!mayBe || !isOfLayers || isOfOthers)
        continue;
      // Other texts are words, whose length has no meaning.
      bool mayBeText = it->contains("letters") || it->contains("length");
      for (const std::string &place : scope.placesOf(it.key())) {
        JsonValue::json_pointer pointer(place);
        if (config.contains(pointer) &&
            (config[pointer].is_array() ||
             (mayBeText && config[pointer].is_string())))
          visit(LayerList{it.key(), config[pointer],
                          firstLayerOf(*it).value_or(0)});
      }
    }
  }

  Scope &scope;
  const JsonValue &count;
  JsonValue &config;
  int64_t layers = 0, kept;
  /// `asked`: names of fields on which variables of these layers depend.
  /// `others`: those of other layers.
  std::set<std::string> asked, others;
};

} // namespace

void autopar::model::keepFirstLayers(Scope &scope, int64_t least,
                                     JsonValue &config) {
  const JsonValue &family = scope.family().description;
  if (!family.contains("stacks") || !family.contains("fields"))
    return;
  std::map<JsonValue, Prefix> prefixes;
  for (auto it = family["stacks"].begin(); it != family["stacks"].end(); ++it)
    if (Result<Stack> stack = readStack(scope, it.key());
        stack && it->contains("layers")) {
      const JsonValue &count = (*it)["layers"];
      prefixes.try_emplace(count, scope, count, least, config)
          .first->second.add(*it, *stack);
    }
  for (auto &[count, prefix] : prefixes) {
    for (const auto &[otherCount, other] : prefixes)
      if (&other != &prefix)
        prefix.leaveTo(other);
    prefix.shrink();
  }
}
