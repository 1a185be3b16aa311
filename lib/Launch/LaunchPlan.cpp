//===- LaunchPlan.cpp - Plans from settings -------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DegreeNames.h"
#include "LaunchNames.h"
#include "ValueText.h"

#include "autopar/Launch/Layout.h"
#include "autopar/Plan/Degrees.h"
#include "autopar/Plan/PlanKnobs.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <nlohmann/json.hpp>

using namespace autopar;
using namespace autopar::launch;
using namespace autopar::plan;
using model::JsonValue;

static const PlanKnob *findKnob(std::string_view key) {
  for (const PlanKnob &knob : planKnobs())
    if (key == knob.key)
      return &knob;
  return nullptr;
}

namespace {

/// Makes the plan of a launch.
class PlanMaker {
public:
  PlanMaker(const LaunchTable &table, const ModelFacts &facts, Launch &launch)
      : table(table), launch(launch),
        names(&table.derived, *parseVersion(launch.tableVersion)) {
    addFacts(names, facts);
  }

  std::optional<Error> make();

private:
  void addSettings();
  /// The value of a setting in formulas: a plan's words, layers of stages.
  JsonValue valueOf(const Setting &setting);
  std::optional<Error> derive();
  std::optional<Error> addRequests();
  std::optional<Error> setKnob(const std::string &key, const JsonValue &value);
  std::optional<Error> setDegree(std::optional<int64_t> &degree,
                                 const std::string &key,
                                 const JsonValue &value);
  std::optional<Error> setStages(const JsonValue &counts);
  std::optional<Error> addMesh();

  const LaunchTable &table;
  Launch &launch;
  LaunchNames names;
  Degrees degrees;
  std::optional<int64_t> stages;
};

} // namespace

/// Adds the value of each setting, and the defaults of the version.
void PlanMaker::addSettings() {
  Version version = *parseVersion(launch.tableVersion);
  for (const Setting &setting : table.settings) {
    if (!launch.settings.count(setting.name))
      if (JsonValue value = setting.defaultOf(version); !value.is_null()) {
        std::string from =
            "default of " + table.title + " " + launch.tableVersion;
        if (launch.version.empty() && !setting.hasOneDefault())
          from += ", the newest version known; none is stated";
        launch.settings[setting.name] = {std::move(value), std::move(from)};
      }
    names.set(setting.name, valueOf(setting));
  }
}

JsonValue PlanMaker::valueOf(const Setting &setting) {
  auto found = launch.settings.find(setting.name);
  if (found == launch.settings.end())
    return nullptr;
  const JsonValue &value = found->second.value;
  if (setting.type != SettingType::layout || !value.is_string())
    return setting.toPlan(value);
  Result<std::vector<int64_t>> layers =
      layersOfLayout(value.get<std::string>());
  if (layers)
    return JsonValue(*layers);
  launch.findings.push_back(found->second.from + ": " + layers.error().message);
  return nullptr;
}

/// What the launch asks for: batch and prompt.
std::optional<Error> PlanMaker::addRequests() {
  for (const auto &[name, formula] : table.requests) {
    Result<JsonValue> value = names.evaluate(name, formula);
    if (!value)
      return value.error();
    if (!value->is_null())
      launch.requests[name] = std::move(*value);
  }
  return std::nullopt;
}

std::optional<Error> PlanMaker::derive() {
  for (const auto &[name, formula] : table.derived) {
    Result<const JsonValue *> value = names.lookUp(name);
    if (!value)
      return value.error();
    if (!(*value)->is_null())
      launch.settings[name] = {**value, "follows from the settings"};
  }
  if (auto devices = launch.settings.find("devices");
      devices != launch.settings.end() &&
      devices->second.value.is_number_integer())
    launch.devices = devices->second.value.get<int64_t>();
  if (launch.devices < 1 || launch.devices > limits::maxDevices)
    return Error{"",
                 "the launch asks for " + std::to_string(launch.devices) +
                     " devices",
                 "from 1 to " + std::to_string(limits::maxDevices)};
  return std::nullopt;
}

std::optional<Error> PlanMaker::setDegree(std::optional<int64_t> &degree,
                                          const std::string &key,
                                          const JsonValue &value) {
  if (!value.is_number_integer())
    return Error{"", key + ": expected a number, found " + value.dump(), ""};
  degree = value.get<int64_t>();
  if (*degree < 1 || *degree > limits::maxDevices)
    return Error{"", key + "=" + std::to_string(*degree),
                 "from 1 to " + std::to_string(limits::maxDevices)};
  if (degree == 1 && key != "attention_tp")
    degree.reset();
  return std::nullopt;
}

/// Numbers of layers of stages become ranges of layers.
std::optional<Error> PlanMaker::setStages(const JsonValue &counts) {
  int64_t first = 0;
  for (const JsonValue &count : counts) {
    if (!count.is_number_integer() || count.get<int64_t>() < 1 ||
        count.get<int64_t>() > limits::maxLayers)
      return Error{
          "", "stages: expected numbers of layers, found " + counts.dump(), ""};
    int64_t end = first + count.get<int64_t>();
    launch.plan.pipeline.stages.push_back({first, end});
    first = end;
  }
  return std::nullopt;
}

std::optional<Error> PlanMaker::setKnob(const std::string &key,
                                        const JsonValue &value) {
  if (value.is_null())
    return std::nullopt;
  for (auto [name, member] : degreeMembers)
    if (key == name)
      return setDegree(degrees.*member, key, value);
  if (key == "pp")
    return setDegree(stages, key, value);
  if (key == "stages")
    return setStages(value);
  const PlanKnob *knob = findKnob(key);
  if (!knob)
    return Error{"",
                 "the table of " + table.title + " sets \"" + key +
                     "\", which no plan has",
                 ""};
  if (value.is_boolean() && !value.get<bool>())
    return std::nullopt;
  if (std::optional<std::string> expected =
          knob->set(launch.plan, flagText(value)))
    launch.findings.push_back(key + "=" + flagText(value) +
                              " has no price here (expected " + *expected +
                              "): the runtime's own is used");
  return std::nullopt;
}

std::optional<Error> PlanMaker::addMesh() {
  if (launch.copies > 1)
    degrees.dp = degrees.dp.value_or(1) * launch.copies;
  if (degrees.ep == std::nullopt && degrees.etp)
    degrees.ep = 1;
  Result<MeshPlan> mesh = planMesh(degrees);
  if (!mesh)
    return mesh.error();
  if (stages)
    launch.plan.setAxis(Degree::pp, stages);
  setMesh(launch.plan, *mesh);
  return std::nullopt;
}

std::optional<Error> PlanMaker::make() {
  addSettings();
  if (std::optional<Error> error = derive())
    return error;
  if (std::optional<Error> error = addRequests())
    return error;
  for (const auto &[key, formula] : table.plan) {
    Result<JsonValue> value = names.evaluate(key, formula);
    if (!value)
      return value.error();
    if (std::optional<Error> error = setKnob(key, *value))
      return error;
  }
  return addMesh();
}

std::optional<Error> autopar::launch::planLaunch(const LaunchTable &table,
                                                 const ModelFacts &facts,
                                                 Launch &launch) {
  return PlanMaker(table, facts, launch).make();
}
