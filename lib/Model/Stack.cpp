//===- Stack.cpp ----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Model/Stack.h"

#include "autopar/Support/Limits.h"

using namespace autopar;
using namespace autopar::model;

namespace {

/// Reads a stack of layers and finds its kinds of layers.
class StackReader {
public:
  StackReader(Scope &scope, const std::string &name,
              const JsonValue &description)
      : scope(scope), pointer("/stacks/" + name), description(description) {}

  Result<StackLayer> readLayer() {
    if (std::optional<Error> error = addKind(variables()))
      return *error;
    nameKinds();
    return std::move(stack.kinds.front());
  }

  Result<Stack> read() {
    Result<int64_t> layers = integer("layers", 1);
    if (!layers)
      return layers.error();
    Result<int64_t> first = integer("first", 0);
    if (!first)
      return first.error();
    stack.first = *first;
    auto prefix = description.find("prefix");
    if (prefix != description.end() && prefix->is_string()) {
      Result<std::string> text =
          scope.interpolate(prefix->get<std::string>(), pointer + "/prefix");
      if (!text)
        return text.error();
      stack.prefix = *text;
    }
    std::optional<Error> error = readLayers(*layers);
    scope.leaveLayer();
    if (error)
      return *error;
    nameKinds();
    return std::move(stack);
  }

private:
  Result<int64_t> integer(const char *key, int64_t min) {
    if (!description.contains(key))
      return int64_t(0);
    Result<JsonValue> value =
        scope.evaluate(description[key], pointer + "/" + key);
    if (!value)
      return value.error();
    if (!value->is_number_integer() || value->get<int64_t>() < min ||
        value->get<int64_t>() > limits::maxConfigLayers)
      return Error{scope.family().file + ": " + pointer + "/" + key,
                   "expected an integer from " + std::to_string(min) + " to " +
                       std::to_string(limits::maxConfigLayers) + ", found " +
                       value->dump(),
                   ""};
    return value->get<int64_t>();
  }

  const JsonValue &variables() const {
    static const JsonValue none = JsonValue::object();
    auto found = description.find("variables");
    return found == description.end() ? none : *found;
  }

  /// Evaluates the variables of each layer; layers with equal values are of one
  /// kind. If no variable depends on the layer, only the first layer is
  /// evaluated.
  std::optional<Error> readLayers(int64_t count) {
    const JsonValue &variables = this->variables();
    std::map<std::string, uint32_t> kinds;
    for (int64_t i = 0; i < count; ++i) {
      scope.enterLayer(&variables, i);
      std::string key;
      for (auto it = variables.begin(); it != variables.end(); ++it) {
        Result<const JsonValue *> value = scope.lookUp(it.key());
        if (!value)
          return value.error();
        key += (*value)->dump() + ";";
      }
      auto [kind, isNew] = kinds.try_emplace(key, stack.kinds.size());
      if (isNew)
        if (std::optional<Error> error = addKind(variables))
          return error;
      if (!scope.dependsOnLayer()) {
        stack.layers.assign(count, kind->second);
        return std::nullopt;
      }
      stack.layers.push_back(kind->second);
    }
    return std::nullopt;
  }

  /// Adds a kind with the variables of the current layer of the scope.
  std::optional<Error> addKind(const JsonValue &variables) {
    StackLayer kind;
    for (auto it = variables.begin(); it != variables.end(); ++it) {
      Result<const JsonValue *> value = scope.lookUp(it.key());
      if (!value)
        return value.error();
      kind.variables.emplace(it.key(), **value);
    }
    Result<std::string> name = nameOfLayer();
    if (!name)
      return name.error();
    kind.name = *name;
    stack.kinds.push_back(std::move(kind));
    return std::nullopt;
  }

  /// Returns the words of the current layer's name, separated by spaces until
  /// all names are known.
  Result<std::string> nameOfLayer() {
    std::string words;
    for (const JsonValue &word : description["name"]) {
      Result<std::string> text = scope.interpolate(
          word.is_string() ? word.get<std::string>() : "", pointer + "/name");
      if (!text)
        return text;
      words += (words.empty() ? "" : " ") + (text->empty() ? "_" : *text);
    }
    return words;
  }

  static std::vector<std::string> split(const std::string &words) {
    std::vector<std::string> result(1);
    for (char c : words)
      if (c == ' ')
        result.emplace_back();
      else
        result.back() += c;
    return result;
  }

  /// Shortens the names of kinds: drops the words that all kinds share, except
  /// the last one, and numbers kinds with equal names.
  void nameKinds() {
    std::vector<std::vector<std::string>> words;
    for (const StackLayer &kind : stack.kinds)
      words.push_back(split(kind.name));
    std::map<std::string, unsigned> uses;
    for (size_t k = 0; k < stack.kinds.size(); ++k) {
      std::string name;
      for (size_t w = 0; w < words[k].size(); ++w)
        if (w + 1 == words[k].size() || differs(words, w))
          if (words[k][w] != "_")
            name += (name.empty() ? "" : "_") + words[k][w];
      unsigned use = ++uses[name];
      stack.kinds[k].name = use == 1 ? name : name + "_" + std::to_string(use);
    }
  }

  static bool differs(const std::vector<std::vector<std::string>> &words,
                      size_t index) {
    for (const auto &kind : words)
      if (kind[index] != words.front()[index])
        return true;
    return false;
  }

  Scope &scope;
  std::string pointer;
  const JsonValue &description;
  Stack stack;
};

} // namespace

static Result<StackReader> findStack(Scope &scope, const std::string &name) {
  const JsonValue *description = scope.family().find("stacks", name);
  if (!description || !description->contains("name") ||
      !(*description)["name"].is_array() || (*description)["name"].empty())
    return Error{scope.family().file + ": /stacks/" + name,
                 "there is no such stack, or it has no \"name\"", ""};
  return StackReader(scope, name, *description);
}

Result<Stack> autopar::model::readStack(Scope &scope, const std::string &name) {
  Result<StackReader> stack = findStack(scope, name);
  return stack ? stack->read() : Result<Stack>(stack.error());
}

Result<StackLayer> autopar::model::readLayer(Scope &scope,
                                             const std::string &name) {
  Result<StackReader> stack = findStack(scope, name);
  return stack ? stack->readLayer() : Result<StackLayer>(stack.error());
}
