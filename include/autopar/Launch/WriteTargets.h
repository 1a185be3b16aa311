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
/// "command", "slurm", ...
std::string_view nameOf(TargetKind kind);
std::optional<TargetKind> parseTargetKind(std::string_view name);
/// All names, as in "command, slurm".
std::string targetKindNames();

struct TargetRequest {
  TargetKind kind = TargetKind::command;
  int64_t devicesPerNode = 8;
  /// The leader's address in the launch, which targets replace.
  std::string leader = "LEADER";
  /// The question that made the files, for a comment in each.
  std::string question;
};

/// Writes the files of a launch. The devices that they ask for are those of the
/// plan. Errors: a setting without a word, a target that the engine's table has
/// no command for.
Result<std::vector<LaunchFile>> filesOf(const LaunchTable &table,
                                        const WrittenLaunch &launch,
                                        const TargetRequest &request);

} // namespace autopar::launch

#endif // AUTOPAR_LAUNCH_WRITETARGETS_H
