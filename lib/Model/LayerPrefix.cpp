//===- LayerPrefix.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerPrefix.h"

#include "SizeFields.h"
#include "autopar/Model/Stack.h"

#include <algorithm>

using namespace autopar;

/// How many layers from the first have all kinds.
static int64_t prefixOf(const Stack &stack) {
  auto last = stack.layers.begin();
  for (uint32_t kind = 0; kind < stack.kinds.size(); ++kind)
    last = std::max(last,
                    std::find(stack.layers.begin(), stack.layers.end(), kind));
  return last - stack.layers.begin() + 1;
}

/// Counts of layers in what says how many layers a stack has.
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

static bool areNumbersOfLayers(const JsonValue &list, int64_t layers) {
  return list.is_array() && !list.empty() &&
         std::all_of(list.begin(), list.end(), [&](const JsonValue &number) {
           return number.is_number_integer() && number.get<int64_t>() >= 0 &&
                  number.get<int64_t>() < layers;
         });
}

namespace {

/// A stack that becomes shorter, and the lists that speak of its layers.
class Prefix {
public:
  Prefix(Scope &scope, const JsonValue &description, const Stack &stack,
         int64_t least, JsonValue &config)
      : scope(scope), description(description), config(config),
        layers(static_cast<int64_t>(stack.layers.size())),
        kept(std::max(prefixOf(stack), least)) {
    if (auto variables = description.find("variables");
        variables != description.end())
      for (const JsonValue &variable : *variables)
        for (std::string &name : namesIn(scope, variable))
          asked.insert(std::move(name));
    forEachList([&](const std::string &name, const JsonValue &list) {
      // All that such a list names must be there.
      if (areNumbersOfLayers(list, layers) && !asked.count(name) &&
          !isByLayer(list))
        kept = std::max(kept, static_cast<int64_t>(list.size()));
    });
    kept = std::min(kept, layers);
  }

  void shrink() {
    if (kept == layers)
      return;
    shrinkCount(scope, description["layers"], layers - kept, config);
    forEachList([&](const std::string &name, JsonValue &list) {
      if (isByLayer(list))
        cut(list);
      else if (areNumbersOfLayers(list, layers))
        list = asked.count(name) ? below(list) : first(list);
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
  JsonValue below(const JsonValue &list) const {
    JsonValue numbers = JsonValue::array();
    for (const JsonValue &number : list)
      if (number.get<int64_t>() < kept)
        numbers.push_back(number);
    return numbers;
  }
  static JsonValue first(const JsonValue &list) {
    JsonValue numbers = JsonValue::array();
    for (size_t i = 0; i < list.size(); ++i)
      numbers.push_back(i);
    return numbers;
  }

  /// Visits the lists and texts of the config that may have an entry for each
  /// layer, or the numbers of some.
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
      if (!mayBe || !isOfLayers)
        continue;
      for (const std::string &place : scope.placesOf(it.key())) {
        JsonValue::json_pointer pointer(place);
        if (config.contains(pointer) &&
            (config[pointer].is_array() || config[pointer].is_string()))
          visit(it.key(), config[pointer]);
      }
    }
  }

  Scope &scope;
  const JsonValue &description;
  JsonValue &config;
  int64_t layers, kept;
  /// What variables of layers depend on.
  std::set<std::string> asked;
};

} // namespace

void autopar::keepFirstLayers(Scope &scope, int64_t least, JsonValue &config) {
  const JsonValue &family = scope.family().description;
  if (!family.contains("stacks") || !family.contains("fields"))
    return;
  for (auto it = family["stacks"].begin(); it != family["stacks"].end(); ++it)
    if (Result<Stack> stack = readStack(scope, it.key());
        stack && it->contains("layers"))
      Prefix(scope, *it, *stack, least, config).shrink();
}
