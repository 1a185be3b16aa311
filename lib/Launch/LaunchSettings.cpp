//===- LaunchSettings.cpp - Settings from plans ---------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DegreeNames.h"
#include "LaunchNames.h"

#include "autopar/Plan/PlanKnobs.h"

#include <nlohmann/json.hpp>

#include <set>

using namespace autopar;
using namespace autopar::launch;
using namespace autopar::plan;
using model::JsonValue;

/// "redundant_experts" of "expert_placement.redundant_experts".
static std::string lastPart(const std::string &key) {
  return key.substr(key.rfind('.') + 1);
}

/// Adds degrees, which are 1 if the plan lacks them, and knobs, which are null
/// if the plan leaves them open.
static void addPlan(LaunchNames &names, const Plan &plan) {
  Degrees degrees = degreesOf(plan);
  for (auto [name, member] : degreeMembers)
    names.set(std::string(name), (degrees.*member).value_or(1));
  int64_t tp = degrees.tp.value_or(1), ep = degrees.ep.value_or(1);
  if (!degrees.attentionTp)
    names.set("attention_tp", tp);
  if (!degrees.etp)
    names.set("etp", ep < tp ? tp / ep : 1);
  names.set("pp", plan.sizeOf(Degree::pp).value_or(1));
  for (const PlanKnob &knob : planKnobs())
    names.set(lastPart(knob.key), JsonValue(knob.write(plan)));
  JsonValue counts;
  for (const schedule::LayerRange &range : plan.pipeline.stages)
    counts.push_back(range.end - range.begin);
  names.set("stages", counts);
}

/// Takes away the knobs that differences leave to the client.
static void eraseKnobs(JsonValue &plan, const std::set<std::string> &knobs) {
  for (const std::string &knob : knobs) {
    size_t dot = knob.find('.');
    if (dot == std::string::npos)
      plan.erase(knob);
    else if (auto room = plan.find(knob.substr(0, dot)); room != plan.end())
      room->erase(knob.substr(dot + 1));
  }
  for (auto room = plan.begin(); room != plan.end();)
    room = room->is_object() && room->empty() ? plan.erase(room) : ++room;
}

/// The members of `plan` that differ from those of `given`, but for `knobs`.
static std::string differenceOf(const Plan &given, const Plan &plan,
                                const std::set<std::string> &knobs) {
  auto parse = [](Plan one) {
    // One virtual stage per device is what no interleaving means.
    if (one.pipeline.interleave == 1)
      one.pipeline.interleave.reset();
    return JsonValue::parse(writePlan(one));
  };
  JsonValue first = parse(given), second = parse(plan);
  eraseKnobs(first, knobs);
  eraseKnobs(second, knobs);
  for (const auto &[key, value] : first.items())
    if (!second.contains(key) || second[key] != value)
      return key + " " + value.dump() + " would be " +
             (second.contains(key) ? second[key].dump() : "the engine's own");
  for (const auto &[key, value] : second.items())
    if (!first.contains(key))
      return key + " would be " + value.dump();
  return "";
}

/// Returns the rules of `version` that hold for the plan.
static Result<std::vector<const PlanRule *>>
rulesThatHold(const std::vector<PlanRule> &rules, const Version &version,
              const std::string &name, LaunchNames &names) {
  std::vector<const PlanRule *> holding;
  for (const PlanRule &rule : rules) {
    if (!rule.versions.has(version))
      continue;
    Result<JsonValue> holds = names.evaluate(name, rule.when);
    if (!holds)
      return holds.error();
    if (model::isTrue(*holds))
      holding.push_back(&rule);
  }
  return holding;
}

/// Reads the settings again: a plan that they do not give back is refused.
static std::optional<Error> checkReading(const LaunchTable &table,
                                         const LaunchRequest &request,
                                         const std::set<std::string> &knobs,
                                         const Launch &written) {
  Launch read = written;
  read.plan = {};
  if (std::optional<Error> error = planLaunch(table, request.facts, read))
    return error;
  std::string difference = differenceOf(request.plan, read.plan, knobs);
  if (difference.empty())
    return std::nullopt;
  return Error{"",
               table.title + " " + written.tableVersion +
                   " has no flags for this plan: " + difference,
               ""};
}

/// Sets how many instances the plan needs, and dp to that of one of them.
static std::optional<Error> splitReplicas(const LaunchTable &table,
                                          LaunchNames &names, Launch &launch) {
  Result<JsonValue> replicas = names.evaluate("replicas", table.replicas);
  if (!replicas)
    return replicas.error();
  if (!replicas->is_number_integer())
    return std::nullopt;
  launch.copies = replicas->get<int64_t>();
  Result<const JsonValue *> dp = names.lookUp("dp");
  if (dp && launch.copies > 1)
    names.set("dp", (*dp)->get<int64_t>() / launch.copies);
  return std::nullopt;
}

/// Sets the settings that the formulas of the table give.
static std::optional<Error> writeSettings(const LaunchTable &table,
                                          LaunchNames &names, Launch &launch) {
  for (const auto &[name, formula] : table.write) {
    Result<JsonValue> value = names.evaluate("write " + name, formula);
    if (!value)
      return value.error();
    const Setting *setting = table.setting(name);
    if (!value->is_null() && setting)
      launch.settings[name] = {setting->fromPlan(*value), "the plan"};
  }
  return std::nullopt;
}

namespace {

/// Chooses the settings of one plan.
class Settler {
public:
  Settler(const LaunchTable &table, const LaunchRequest &request)
      : table(table), request(request),
        version(*parseVersion(
            table.recordedVersion(parseVersion(request.version)))),
        names(nullptr, version) {}

  Result<WrittenLaunch> settle();

private:
  void begin();
  void setNode(int64_t node, int64_t nodes);
  std::optional<Error> checkRefusals();
  std::optional<Error> addDifferences();
  std::optional<Error> writeNodes();

  const LaunchTable &table;
  const LaunchRequest &request;
  Version version;
  LaunchNames names;
  WrittenLaunch written;
  /// Knobs that differences leave to the client.
  std::set<std::string> knobs;
};

} // namespace

void Settler::begin() {
  Launch &launch = written.launch;
  launch.engine = table.name;
  launch.version = request.version;
  launch.tableVersion = table.recordedVersion(parseVersion(request.version));
  launch.model = request.model;
  launch.plan = request.plan;
  addFacts(names, request.facts);
  addPlan(names, request.plan);
  for (const Setting &setting : table.settings)
    names.setIfAbsent(setting.name, nullptr);
  for (const auto &[name, value] : request.settings)
    names.set(name, value);
  setNode(0, 1);
}

void Settler::setNode(int64_t node, int64_t nodes) {
  names.set("node", node);
  names.set("nodes", nodes);
  names.set("devices_per_node", request.devicesPerNode);
  names.set("leader", nodes > 1 ? JsonValue(request.leader) : JsonValue());
}

std::optional<Error> Settler::checkRefusals() {
  auto refusals = rulesThatHold(table.refusals, version, "refuse", names);
  if (!refusals)
    return refusals.error();
  if (refusals->empty())
    return std::nullopt;
  return Error{"",
               table.title + " " + written.launch.tableVersion +
                   " cannot run this plan: " + refusals->front()->because,
               ""};
}

std::optional<Error> Settler::addDifferences() {
  auto differences =
      rulesThatHold(table.differences, version, "differences", names);
  if (!differences)
    return differences.error();
  for (const PlanRule *rule : *differences) {
    written.differences.push_back(rule->because);
    knobs.insert(rule->knobs.begin(), rule->knobs.end());
  }
  return std::nullopt;
}

/// Writes the launch of each node. An instance on a part of a node is one
/// launch.
std::optional<Error> Settler::writeNodes() {
  Launch read = written.launch;
  if (std::optional<Error> error = planLaunch(table, request.facts, read))
    return error;
  written.launch.devices = read.devices;
  int64_t nodes =
      (read.devices + request.devicesPerNode - 1) / request.devicesPerNode;
  for (int64_t node = 0; node < nodes; ++node) {
    setNode(node, nodes);
    Launch launch = written.launch;
    launch.settings.clear();
    if (std::optional<Error> error = writeSettings(table, names, launch))
      return error;
    written.nodes.push_back(std::move(launch));
  }
  written.launch.settings = written.nodes.front().settings;
  return std::nullopt;
}

Result<WrittenLaunch> Settler::settle() {
  begin();
  if (std::optional<Error> error = splitReplicas(table, names, written.launch))
    return *error;
  if (std::optional<Error> error = checkRefusals())
    return *error;
  if (std::optional<Error> error = writeSettings(table, names, written.launch))
    return *error;
  if (std::optional<Error> error = addDifferences())
    return *error;
  if (std::optional<Error> error = writeNodes())
    return *error;
  if (std::optional<Error> error =
          checkReading(table, request, knobs, written.launch))
    return *error;
  return std::move(written);
}

Result<WrittenLaunch> autopar::launch::settle(const LaunchTable &table,
                                              const LaunchRequest &request) {
  if (table.isReadOnly)
    return Error{"", "launches of " + table.title + " are read, not written",
                 ""};
  return Settler(table, request).settle();
}
