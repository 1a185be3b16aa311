//===- LaunchTable.h - The words of an engine -------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file of runtimes/launch says how an engine or a trainer is told a plan: its
// commands, the flags, keys and variables of each setting by version, and the
// formulas between its settings and those of a plan. Launches are read and
// written by the same table.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LAUNCH_LAUNCHTABLE_H
#define AUTOPAR_LAUNCH_LAUNCHTABLE_H

#include "autopar/Model/Expression.h"
#include "autopar/Support/Json.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace autopar::launch {

/// A version, compared number by number: 0.9 < 0.10 < 0.10.1.
using Version = std::vector<int64_t>;
/// Parses the leading dotted numbers of `text`: {0, 11} of "v0.11rc1"; nothing
/// if there are none.
std::optional<Version> parseVersion(std::string_view text);

/// The versions that have something, first and last; absent means no limit.
struct VersionRange {
  std::optional<Version> since, until;
  bool has(const Version &version) const;
};

struct Spelling {
  std::string name;
  VersionRange versions = {};
  /// The command that alone has it; "" if all have it.
  std::string command = "";
  /// What the flag sets without a value (`--bf16` sets the precision); null if
  /// it has a value of its own.
  model::JsonValue value = nullptr;
};

enum class SettingType : uint8_t {
  count,
  /// A count that may be written as 32k or 1M.
  tokens,
  number,
  text,
  /// A flag without a value, or true and false.
  toggle,
  /// A list of counts, or of words.
  counts,
  texts,
  /// Stages as letters of their parts: `Et*3|(tt|)*6L`.
  layout,
};

/// How the elements of a list are written.
enum class ListForm : uint8_t { commas, spaces, json };

/// Something that an engine is told.
struct Setting {
  std::string name;
  SettingType type = SettingType::text;
  ListForm list = ListForm::commas;
  /// Flags; in `--flag.member`, `member` is a path in the JSON value of
  /// `--flag`.
  std::vector<Spelling> flags;
  /// Flags that switch it off.
  std::vector<Spelling> negations;
  /// Dotted paths in a config file.
  std::vector<Spelling> keys;
  /// An environment variable; "" if there is none.
  std::string environment;
  /// Values that mean that it is not set.
  std::vector<model::JsonValue> absent;
  std::vector<std::pair<VersionRange, model::JsonValue>> defaults;
  /// The engine's words and those of plans that they stand for.
  std::vector<std::pair<std::string, std::string>> words;
  /// Whether a key without a value switches it on.
  bool nullIsOn = false;
  /// A regular expression whose first group is the value; "" takes all.
  std::string pattern;

  /// The default of `version`; null if the table has none.
  model::JsonValue defaultOf(const Version &version) const;
  /// Whether all versions have the same default.
  bool hasOneDefault() const { return defaults.size() == 1; }
  /// The plan's word for the engine's `value`, and the engine's for the plan's;
  /// `value` itself if the table has none.
  model::JsonValue toPlan(const model::JsonValue &value) const;
  model::JsonValue fromPlan(const model::JsonValue &value) const;
};

/// A flag that changes no estimate.
struct OtherFlag {
  enum class Values : uint8_t { none, one, many, optional };
  Values values = Values::one;
  VersionRange versions = {};
};

/// A formula that may differ by version.
struct Formula {
  std::vector<std::pair<VersionRange, model::Expression>> cases;
  /// The case of `version`; null if it has none.
  const model::Expression *of(const Version &version) const;
};
using Formulas = std::map<std::string, Formula>;

/// A condition on a plan, and what follows from it.
struct PlanRule {
  model::Expression when;
  std::string because;
  VersionRange versions;
  /// Of a difference: the plan's knobs that are left to the client.
  std::vector<std::string> knobs = {};
};

struct LaunchTable {
  std::string name, title;
  /// The runtime that prices it; "" if there is none.
  std::string runtime;
  /// The versions whose flags are recorded, oldest first.
  std::vector<std::string> versions;
  /// Names of container images, with `{version}`.
  std::vector<std::string> images;
  std::vector<std::vector<std::string>> commands;
  /// Commands that may stand before those.
  std::vector<std::vector<std::string>> launchers;
  /// Words before the command of an instance over several nodes, with
  /// `{devices}`.
  std::vector<std::string> overNodes;
  /// Whether launches are read only.
  bool isReadOnly = false;
  /// Whether the model is the first word behind the command.
  bool hasPositionalModel = false;
  /// Whether words `key=value` set keys.
  bool hasAssignments = false;
  /// Whether a client's script follows the command, with flags of its own.
  bool hasClient = false;
  /// A file of settings has all keys of one of these.
  std::vector<std::vector<std::string>> fileKeys;
  /// Keys of mappings in it: of further keys, of flags, and of variables.
  std::vector<std::string> roots, argumentKeys, variableKeys;
  /// Flags with the model, and flags with a config file.
  std::vector<std::string> modelFlags, configFlags;
  std::vector<Setting> settings;
  /// Settings that follow from others; the plan's knobs from settings; settings
  /// from the plan's knobs.
  Formulas derived, plan, write;
  /// What is asked for: batch and prompt.
  Formulas requests;
  /// Separate instances that a plan needs; no cases: one.
  Formula replicas;
  std::vector<PlanRule> refusals, differences;
  std::map<std::string, OtherFlag> otherFlags;

  /// Whether it has files of settings: a trainer.
  bool hasFiles() const { return !fileKeys.empty(); }
  const Setting *setting(std::string_view name) const;
  /// The newest recorded version up to `stated`, or the oldest one; the newest
  /// of all if nothing is stated.
  std::string recordedVersion(const std::optional<Version> &stated) const;
  /// The recorded versions that a stated one lies between, or the one that it
  /// is.
  std::vector<Version> versionsAround(const Version &stated) const;
};

/// Reads `autopar.launch_table/1`.
Result<LaunchTable> readLaunchTable(const JsonDocument &document);
/// The names of the tables in runtimes/launch.
std::vector<std::string> launchTableNames();
/// Loads the table called `name`; an error names those that exist.
Result<LaunchTable> loadLaunchTable(const std::string &name);
/// Loads all tables.
Result<std::vector<LaunchTable>> loadLaunchTables();

} // namespace autopar::launch

#endif // AUTOPAR_LAUNCH_LAUNCHTABLE_H
