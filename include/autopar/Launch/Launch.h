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

/// A setting's value, and where it comes from: "serve.sh:3: -tp", "default of
/// vLLM 0.33".
struct SettingValue {
  model::JsonValue value;
  std::string from;
};
using Settings = std::map<std::string, SettingValue>;

/// What a launch does not say about its model.
struct ModelFacts {
  /// Whether it has routed experts; absent means unknown, which is read as yes.
  std::optional<bool> hasExperts = std::nullopt;
  /// Number of layers; 0 if unknown.
  int64_t layers = 0;
};

/// An engine as it is started.
struct Launch {
  /// The table's name, such as "vllm".
  std::string engine;
  /// As stated; "" if nothing states it.
  std::string version;
  /// The version whose flags and defaults were used.
  std::string tableVersion;
  /// The model's name or path; "" if it is not in the text.
  std::string model;
  /// "prefill" or "decode" if the pools are apart; else "".
  std::string role;
  /// How often this engine runs, as by replicas of a manifest.
  int64_t copies = 1;
  Settings settings;
  /// What is asked for, by name: batch (sequences) and prompt (tokens of one).
  std::map<std::string, model::JsonValue> requests;
  plan::Plan plan;
  /// Devices of one copy.
  int64_t devices = 1;
  /// Flags that no table knows.
  std::vector<std::string> unknown;
  /// What a user should know: flags that the version lacks, values that are not
  /// in the text.
  std::vector<std::string> findings;
};

/// Sets `launch.plan`, `launch.devices` and derived settings from settings.
/// Errors: degrees that do not fit together.
std::optional<Error> planLaunch(const LaunchTable &table,
                                const ModelFacts &facts, Launch &launch);

/// What a launch is written from.
struct LaunchRequest {
  plan::Plan plan;
  /// The model's name in the hub, or its path.
  std::string model;
  ModelFacts facts;
  /// Settings beside the plan, by name: max_model_len.
  std::map<std::string, model::JsonValue> settings;
  /// "" for the newest recorded version.
  std::string version;
  /// Devices of a node.
  int64_t devicesPerNode = 8;
  /// The address at which other nodes find the first one.
  std::string leader = "LEADER";
};

/// The settings that tell an engine a plan.
struct WrittenLaunch {
  Launch launch;
  /// Nodes of one instance, and the launch on each of them, the leader's first.
  std::vector<Launch> nodes;
  /// Where the engine does not do quite what the plan says.
  std::vector<std::string> differences;
};

/// Chooses the settings of a plan. Errors: what the engine cannot do, by name;
/// a part of the plan that reading the settings does not give back.
Result<WrittenLaunch> settle(const LaunchTable &table,
                             const LaunchRequest &request);

} // namespace autopar::launch

#endif // AUTOPAR_LAUNCH_LAUNCH_H
