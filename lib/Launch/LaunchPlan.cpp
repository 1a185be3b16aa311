//===- LaunchPlan.cpp - Plans from settings, settings from plans ----------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchNames.h"

#include "autopar/Plan/Degrees.h"
#include "autopar/Plan/PlanKnobs.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <nlohmann/json.hpp>

#include <numeric>

using namespace autopar;
using namespace autopar::launch;
using namespace autopar::plan;
using model::JsonValue;

//===----------------------------------------------------------------------===//
// From settings to a plan
//===----------------------------------------------------------------------===//

/// The text of a flag with this value.
static std::string flagText(const JsonValue &value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

static const PlanKnob *findKnob(std::string_view key) {
  for (const PlanKnob &knob : planKnobs())
    if (key == knob.key)
      return &knob;
  return nullptr;
}

/// The members of `Degrees` by the names in tables.
static constexpr std::pair<std::string_view, std::optional<int64_t> Degrees::*>
    degreeMembers[] = {{"tp", &Degrees::tp},
                       {"cp", &Degrees::cp},
                       {"dp", &Degrees::dp},
                       {"ep", &Degrees::ep},
                       {"etp", &Degrees::etp},
                       {"dcp", &Degrees::dcp},
                       {"attention_tp", &Degrees::attentionTp},
                       {"fsdp", &Degrees::fsdp}};

namespace {

/// Makes the plan of a launch.
class PlanMaker {
public:
  PlanMaker(const LaunchTable &table, const ModelFacts &facts, Launch &launch)
      : table(table), launch(launch), names(&table.derived) {
    addFacts(names, facts);
  }

  std::optional<Error> make();

private:
  void addSettings();
  std::optional<Error> derive();
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
    auto found = launch.settings.find(setting.name);
    names.set(setting.name, found == launch.settings.end()
                                ? JsonValue()
                                : found->second.value);
  }
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
  if (degrees.ep == std::nullopt && degrees.etp)
    degrees.ep = 1;
  Result<MeshPlan> mesh = planMesh(degrees);
  if (!mesh)
    return mesh.error();
  if (stages)
    launch.plan.setAxis(Degree::pp, *stages);
  setMesh(launch.plan, *mesh);
  return std::nullopt;
}

std::optional<Error> PlanMaker::make() {
  addSettings();
  if (std::optional<Error> error = derive())
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

//===----------------------------------------------------------------------===//
// From a plan to settings
//===----------------------------------------------------------------------===//

/// Adds degrees, which are 1 if the plan lacks them, and knobs, which are null
/// if the plan leaves them open.
static void addPlan(LaunchNames &names, const Plan &plan) {
  Degrees degrees = degreesOf(plan);
  for (auto [name, member] : degreeMembers)
    names.set(std::string(name), (degrees.*member).value_or(1));
  if (!degrees.attentionTp)
    names.set("attention_tp", degrees.tp.value_or(1));
  if (!degrees.etp && !degrees.ep)
    names.set("etp", degrees.tp.value_or(1));
  names.set("pp", plan.sizeOf(Degree::pp).value_or(1));
  for (const PlanKnob &knob : planKnobs())
    names.set(knob.key, JsonValue(knob.write(plan)));
  JsonValue counts;
  for (const schedule::LayerRange &range : plan.pipeline.stages)
    counts.push_back(range.end - range.begin);
  names.set("stages", counts);
}

/// The members of `plan` that differ from those of `given`.
static std::string differenceOf(const Plan &given, const Plan &plan) {
  auto parse = [](const Plan &one) { return JsonValue::parse(writePlan(one)); };
  JsonValue first = parse(given), second = parse(plan);
  for (const auto &[key, value] : first.items())
    if (!second.contains(key) || second[key] != value)
      return key + " " + value.dump() + " would be " +
             (second.contains(key) ? second[key].dump() : "the engine's own");
  for (const auto &[key, value] : second.items())
    if (!first.contains(key))
      return key + " would be " + value.dump();
  return "";
}

static std::optional<Error>
checkRules(const LaunchTable &table, const Launch &launch, LaunchNames &names) {
  for (const PlanRule &rule : table.refusals) {
    Result<JsonValue> holds = names.evaluate("refuse", rule.when);
    if (!holds)
      return holds.error();
    if (model::isTrue(*holds))
      return Error{"",
                   table.title + " " + launch.tableVersion +
                       " cannot run this plan: " + rule.because,
                   ""};
  }
  return std::nullopt;
}

static Result<std::vector<std::string>> differencesOf(const LaunchTable &table,
                                                      LaunchNames &names) {
  std::vector<std::string> differences;
  for (const PlanRule &rule : table.differences) {
    Result<JsonValue> holds = names.evaluate("differences", rule.when);
    if (!holds)
      return holds.error();
    if (model::isTrue(*holds))
      differences.push_back(rule.because);
  }
  return differences;
}

/// Reads the settings again: a plan that they do not give back is refused.
static std::optional<Error> checkReading(const LaunchTable &table,
                                         const LaunchRequest &request,
                                         const Launch &written) {
  Launch read = written;
  read.plan = {};
  if (std::optional<Error> error = planLaunch(table, request.facts, read))
    return error;
  std::string difference = differenceOf(request.plan, read.plan);
  if (difference.empty())
    return std::nullopt;
  return Error{"",
               table.title + " " + written.tableVersion +
                   " has no flags for this plan: " + difference,
               ""};
}

Result<WrittenLaunch> autopar::launch::settle(const LaunchTable &table,
                                              const LaunchRequest &request) {
  WrittenLaunch written;
  Launch &launch = written.launch;
  launch.engine = table.name;
  launch.version = request.version;
  launch.tableVersion = table.recordedVersion(parseVersion(request.version));
  launch.model = request.model;
  launch.plan = request.plan;
  LaunchNames names(nullptr);
  addFacts(names, request.facts);
  addPlan(names, request.plan);
  for (const Setting &setting : table.settings)
    names.setIfAbsent(setting.name, nullptr);
  for (const auto &[name, value] : request.settings)
    names.set(name, value);
  if (std::optional<Error> error = checkRules(table, launch, names))
    return *error;
  for (const auto &[name, formula] : table.write) {
    Result<JsonValue> value = names.evaluate("write " + name, formula);
    if (!value)
      return value.error();
    if (!value->is_null())
      launch.settings[name] = {std::move(*value), "the plan"};
  }
  Result<std::vector<std::string>> differences = differencesOf(table, names);
  if (!differences)
    return differences.error();
  written.differences = std::move(*differences);
  if (std::optional<Error> error = checkReading(table, request, launch))
    return *error;
  if (Launch read = launch; !planLaunch(table, request.facts, read))
    launch.devices = read.devices;
  return written;
}
