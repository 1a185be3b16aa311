//===- Launch.h - A started engine, read from text --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LAUNCH_LAUNCH_H
#define AUTOPAR_LAUNCH_LAUNCH_H

#include "autopar/Launch/LaunchTable.h"
#include "autopar/Plan/Plan.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace autopar::launch {

/// The value of a setting, and where this value comes from: "serve.sh:3: -tp",
/// "default of vLLM 0.33".
struct SettingValue {
  model::JsonValue value;
  std::string from;
};
using Settings = std::map<std::string, SettingValue>;

/// Facts about a model that the text of its launch does not tell.
struct ModelFacts {
  /// Whether the model has routed experts. Absent means unknown; it is then
  /// assumed that it has.
  std::optional<bool> hasExperts = std::nullopt;
  /// The number of layers; 0 if unknown.
  int64_t layers = 0;
};

/// An engine as a command starts it: its settings, and the plan that they mean.
struct Launch {
  /// The name of the engine's table, such as "vllm".
  std::string engine;
  /// The version of the engine as the text states it; "" if it states none.
  std::string version;
  /// The recorded version whose flags and defaults were used.
  std::string tableVersion;
  /// The name or path of the model; "" if the text does not have it.
  std::string model;
  /// "prefill" or "decode" if the engine runs only one of these; else "".
  std::string role;
  /// How many copies of the engine run, such as the replicas of a manifest.
  int64_t copies = 1;
  Settings settings;
  plan::Plan plan;
  /// The number of devices of one copy.
  int64_t devices = 1;
  /// The flags that no table knows.
  std::vector<std::string> unknown;
  /// Texts that the user should read: about flags that the version lacks, and
  /// about values that the text does not have.
  std::vector<std::string> findings;
};

/// Sets `launch.plan`, `launch.devices` and the derived settings from the
/// settings of the launch. Returns an error if degrees do not fit together.
std::optional<Error> planLaunch(const LaunchTable &table,
                                const ModelFacts &facts, Launch &launch);

/// What is needed to write a launch: a plan, a model and an engine's version.
struct LaunchRequest {
  plan::Plan plan;
  /// The name of the model in the hub, or its path.
  std::string model;
  ModelFacts facts;
  /// Settings that the plan does not give, by name, such as max_model_len.
  std::map<std::string, model::JsonValue> settings;
  /// The version of the engine; "" for the newest recorded version.
  std::string version;
  /// The number of devices of a node.
  int64_t devicesPerNode = 8;
  /// The address under which other nodes find the first node.
  std::string leader = "LEADER";
};

/// The settings that make an engine run a plan.
struct WrittenLaunch {
  Launch launch;
  /// The launch on each node of an instance, that of the leader first.
  std::vector<Launch> nodes;
  /// Texts about where the engine does not do exactly what the plan says.
  std::vector<std::string> differences;
};

/// Chooses the settings for a plan. Fails, and names the reason, if the engine
/// cannot do what the plan says, or if reading the settings does not give back
/// a part of the plan.
Result<WrittenLaunch> settle(const LaunchTable &table,
                             const LaunchRequest &request);

} // namespace autopar::launch

#endif // AUTOPAR_LAUNCH_LAUNCH_H
