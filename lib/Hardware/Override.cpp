//===- Override.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Hardware/Figures.h"
#include "autopar/Support/Suggestion.h"

#include "autopar/Support/Text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <tuple>

using namespace autopar;
using namespace autopar::hardware;
using nlohmann::json;

/// The path that `--price` overrides: the price of whichever machine is used.
static constexpr const char *anyPrice = "systems.*.price";

static std::string spell(const Override &override) {
  if (override.path == anyPrice)
    return "--price=" + formatNumber(override.value);
  return "--set " + override.path + "=" + formatNumber(override.value);
}

std::string autopar::hardware::ownerOf(const Override &override) {
  const std::string &path = override.path;
  return path.substr(0, path.find('.', path.find('.') + 1));
}

Result<Override> autopar::hardware::parseOverride(std::string_view text) {
  size_t equals = text.find('=');
  if (equals == 0 || equals == std::string_view::npos)
    return Error{"", "override \"" + shorten(text) + "\" is not path=value",
                 "for example chips.h100-sxm.memory_bandwidth=4e12"};
  Override override;
  override.path = std::string(text.substr(0, equals));
  std::string number(text.substr(equals + 1));
  char *end = nullptr;
  override.value = std::strtod(number.c_str(), &end);
  if (number.empty() || *end || !std::isfinite(override.value))
    return Error{"",
                 "value \"" + shorten(number) + "\" of override \"" +
                     shorten(override.path) + "\" is not a number",
                 ""};
  for (std::string_view root : {"chips.", "systems.", "runtimes."})
    if (override.path.compare(0, root.size(), root) == 0)
      return override;
  return Error{"",
               "override path \"" + shorten(override.path) +
                   "\" does not start with chips., systems. or runtimes.",
               "for example chips.h100-sxm.memory_bandwidth=4e12"};
}

Result<std::vector<Override>>
autopar::hardware::parseOverrides(const std::vector<std::string> &texts) {
  std::vector<Override> overrides;
  for (const std::string &text : texts) {
    if (!text.empty() && text.front() == '@') {
      Result<std::vector<Override>> all = readCalibration(text.substr(1));
      if (!all)
        return all.error();
      overrides.insert(overrides.end(), all->begin(), all->end());
      continue;
    }
    Result<Override> one = parseOverride(text);
    if (!one)
      return one.error();
    overrides.push_back(std::move(*one));
  }
  return overrides;
}

/// Returns the member or element of `value` that `segment` names; an element is
/// named by its "name" or its number. Returns null if there is none.
static json *step(json &value, const std::string &segment) {
  if (value.is_object()) {
    auto it = value.find(segment);
    return it == value.end() ? nullptr : &*it;
  }
  if (!value.is_array())
    return nullptr;
  for (size_t i = 0; i < value.size(); ++i) {
    json *name = value[i].is_object() ? step(value[i], "name") : nullptr;
    if ((name && *name == segment) || std::to_string(i) == segment)
      return &value[i];
  }
  return nullptr;
}

static bool isFigure(const json &value) {
  return value.is_object() && value.contains("value") &&
         value["value"].is_number();
}

static json *find(json &root, const std::string &path) {
  json *value = &root;
  for (size_t begin = 0; value && begin <= path.size();) {
    size_t end = std::min(path.find('.', begin), path.size());
    value = step(*value, path.substr(begin, end - begin));
    begin = end + 1;
  }
  return value && (isFigure(*value) || value->is_number()) ? value : nullptr;
}

/// Collects the paths of all figures below `value`, to suggest one ("did you
/// mean").
static void collect(const json &value, const std::string &path,
                    std::vector<std::string> &paths) {
  if (isFigure(value) || value.is_number()) {
    paths.push_back(path);
    return;
  }
  std::string prefix = path.empty() ? "" : path + ".";
  if (value.is_object())
    for (auto it = value.begin(); it != value.end(); ++it)
      collect(*it, prefix + it.key(), paths);
  if (value.is_array())
    for (const json &element : value)
      if (element.is_object() && element.contains("name") &&
          element["name"].is_string())
        collect(element, prefix + element["name"].get<std::string>(), paths);
}

static Error unknownPath(const json &root, const std::string &prefix,
                         const std::string &path) {
  std::vector<std::string> paths;
  collect(root, "", paths);
  std::string near = nearest(path, paths);
  std::string fields;
  for (auto it = root.begin(); it != root.end(); ++it)
    if (!it->is_string())
      fields += (fields.empty() ? "" : ", ") + it.key();
  return Error{"",
               "override path \"" + prefix + "." + shorten(path) +
                   "\" leads to no figure",
               near.empty() ? prefix + " has " + fields
                            : askWhether(prefix + "." + near)};
}

/// Sets the user's value in `figure`. The source of the figure keeps the file's
/// value, however often the figure is overridden.
static void replace(json &figure, const Override &override) {
  json &source = figure["source"];
  bool again = source.is_object() && source.contains("replaced");
  json file = again ? source["replaced"] : figure["value"];
  figure["value"] = override.value;
  source = {{"kind", "user"},
            {"reference", spell(override)},
            {"replaced", std::move(file)}};
}

/// Returns the part of the override's path below `prefix`; "" if the path does
/// not lie below it.
static std::string pathBelow(const Override &override,
                             const std::string &prefix) {
  std::string any = prefix.substr(0, prefix.find('.') + 1) + "*";
  for (const std::string &owner : {prefix, any})
    if (override.path.compare(0, owner.size() + 1, owner + ".") == 0)
      return override.path.substr(owner.size() + 1);
  return "";
}

static bool isBelow(const Override &override, const std::string &prefix) {
  return !pathBelow(override, prefix).empty();
}

/// Adds a figure that files may omit. Returns null if `field` names no such
/// figure.
static json *addFigure(json &root, const std::string &prefix,
                       const std::string &field) {
  static constexpr std::tuple<const char *, const char *, UnitRange> all[] = {
      {"systems.", "price", units::dollarsPerHour},
      {"chips.", "sustained_compute", units::fraction},
      {"chips.", "board_power", units::watts},
      {"chips.", "idle_power", units::watts}};
  for (auto [owner, name, unit] : all)
    if (field == name && prefix.compare(0, std::strlen(owner), owner) == 0) {
      root[field] = {{"value", 0}, {"unit", unit.unit}};
      return &root[field];
    }
  return nullptr;
}

std::optional<Error> autopar::hardware::applyOverrides(
    JsonDocument &document, const std::string &prefix,
    const std::vector<Override> &overrides, std::vector<bool> &used) {
  used.resize(overrides.size());
  auto isOfThis = [&](const Override &override) {
    return isBelow(override, prefix);
  };
  if (std::none_of(overrides.begin(), overrides.end(), isOfThis))
    return std::nullopt;
  json root = document.toJson();
  for (size_t i = 0; i < overrides.size(); ++i) {
    if (!isOfThis(overrides[i]))
      continue;
    std::string path = pathBelow(overrides[i], prefix);
    json *target = find(root, path);
    bool isNew = !target;
    if (isNew)
      target = addFigure(root, prefix, path);
    if (!target)
      return unknownPath(root, prefix, path);
    used[i] = true;
    if (!target->is_object()) {
      *target = overrides[i].value;
      continue;
    }
    replace(*target, overrides[i]);
    if (isNew)
      (*target)["source"].erase("replaced");
  }
  document.set(root);
  return std::nullopt;
}

Error autopar::hardware::explainOverrides(
    Error error, const std::string &prefix,
    const std::vector<Override> &overrides) {
  std::string list;
  for (const Override &override : overrides)
    if (isBelow(override, prefix))
      list += (list.empty() ? "after " : ", ") + spell(override);
  if (!list.empty())
    error.note += (error.note.empty() ? "" : "; ") + list;
  return error;
}
