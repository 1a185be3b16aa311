//===- WriteTargets.h - Files that start a plan -----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LAUNCH_WRITETARGETS_H
#define AUTOPAR_LAUNCH_WRITETARGETS_H

#include "autopar/Launch/WriteLaunch.h"

namespace autopar::launch {

/// What starts the engine: a shell on each node, a batch job, containers of a
/// host, or a cluster of pods.
enum class TargetKind : uint8_t {
  command,
  slurm,
  compose,
  kubernetes,
  dynamo,
};
/// `nameOf` returns the name of a kind: "command", "slurm"; `parseTargetKind`
/// the kind of a name.
std::string_view nameOf(TargetKind kind);
std::optional<TargetKind> parseTargetKind(std::string_view name);
/// Returns all names of kinds: "command, slurm".
std::string targetKindNames();

struct TargetRequest {
  TargetKind kind = TargetKind::command;
  int64_t devicesPerNode = 8;
  /// The placeholder of the leader's address in the launch; targets replace it.
  std::string leader = "LEADER";
  /// The command that made the files; each file has it as a comment.
  std::string question;
};

/// Writes the files that start a launch. They ask for the devices of the plan.
/// Fails if the engine has no word for a setting, or if the engine's table has
/// no command for this target.
Result<std::vector<LaunchFile>> filesOf(const LaunchTable &table,
                                        const WrittenLaunch &launch,
                                        const TargetRequest &request);

} // namespace autopar::launch

#endif // AUTOPAR_LAUNCH_WRITETARGETS_H
