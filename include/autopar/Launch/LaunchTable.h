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

/// The numbers of a version. Versions are compared number by number: 0.9 < 0.10
/// < 0.10.1.
using Version = std::vector<int64_t>;
/// Parses the dotted numbers at the beginning of a version: {0, 11} for
/// "v0.11rc1"; returns nothing if there are none.
std::optional<Version> parseVersion(std::string_view text);

/// The first and the last version that have something; an absent one means that
/// there is no limit.
struct VersionRange {
  std::optional<Version> since, until;
  bool has(const Version &version) const;
};

struct Spelling {
  std::string name;
  VersionRange versions = {};
  /// The only command that has this spelling; "" if all commands have it.
  std::string command = "";
  /// The value that the flag sets by itself, as `--bf16` sets the precision;
  /// null if the flag takes a value.
  model::JsonValue value = nullptr;
};

enum class SettingType : uint8_t {
  count,
  /// A count that may be written as 32k or 1M.
  tokens,
  number,
  text,
  /// A flag without a value, or the values true and false.
  toggle,
  /// A list of counts (`counts`) or of words (`texts`).
  counts,
  texts,
};

/// How the elements of a list are written in one value.
enum class ListForm : uint8_t { commas, spaces, json };

/// A setting of an engine: how it is spelled, its type, and its default.
struct Setting {
  std::string name;
  SettingType type = SettingType::text;
  ListForm list = ListForm::commas;
  /// The flags that give the setting. In `--flag.member`, `member` is a path in
  /// the JSON value of `--flag`.
  std::vector<Spelling> flags;
  /// The flags that switch the setting off.
  std::vector<Spelling> negations;
  /// The dotted paths of the setting in a config file.
  std::vector<Spelling> keys;
  /// The environment variable that gives the setting; "" if there is none.
  std::string environment;
  /// The values that mean that the setting is not given.
  std::vector<model::JsonValue> absent;
  std::vector<std::pair<VersionRange, model::JsonValue>> defaults;
  /// Pairs of words: the engine's word for a value, and the plan's word for the
  /// same value.
  std::vector<std::pair<std::string, std::string>> words;
  /// Whether the setting is on if its key has no value.
  bool nullIsOn = false;

  /// Returns the default in `version`; null if the table has none.
  model::JsonValue defaultOf(const Version &version) const;
  /// Returns whether all versions have the same default.
  bool hasOneDefault() const { return defaults.size() == 1; }
  /// `toPlan` returns the plan's word for the engine's `value`, `fromPlan` the
  /// engine's word for the plan's; `value` itself if the table has no such
  /// word.
  model::JsonValue toPlan(const model::JsonValue &value) const;
  model::JsonValue fromPlan(const model::JsonValue &value) const;
};

/// A flag that changes no estimate, and how many values it takes.
struct OtherFlag {
  enum class Values : uint8_t { none, one, many, optional };
  Values values = Values::one;
  VersionRange versions = {};
};

/// A formula that may differ from version to version.
struct Formula {
  std::vector<std::pair<VersionRange, model::Expression>> cases;
  /// Returns the formula for `version`; null if there is none.
  const model::Expression *of(const Version &version) const;
};
using Formulas = std::map<std::string, Formula>;

/// A condition on a plan, and what to tell the user if it holds.
struct PlanRule {
  model::Expression when;
  std::string because;
  VersionRange versions;
  /// For a difference, the knobs of the plan that are left to the client of the
  /// engine.
  std::vector<std::string> knobs = {};
};

struct LaunchTable {
  std::string name, title;
  /// The runtime of autopar that prices the engine; "" if there is none.
  std::string runtime;
  /// The versions whose flags the table records, oldest first.
  std::vector<std::string> versions;
  /// The names of the engine's container images, with `{version}` in place of
  /// the version.
  std::vector<std::string> images;
  std::vector<std::vector<std::string>> commands;
  /// Commands that may stand before the engine's commands.
  std::vector<std::vector<std::string>> launchers;
  /// The words before the command of an instance that extends over several
  /// nodes, with `{devices}` in place of the number.
  std::vector<std::string> overNodes;
  /// Whether launches of this engine can be read but not written.
  bool isReadOnly = false;
  /// Whether the model is the first word after the command.
  bool hasPositionalModel = false;
  /// Whether words of the form `key=value` set keys of the config.
  bool hasAssignments = false;
  /// The flags that give the model, and the flags that give a config file.
  std::vector<std::string> modelFlags, configFlags;
  std::vector<Setting> settings;
  /// Formulas by name: `derived` gives settings that follow from other
  /// settings, `plan` the plan's knobs from the settings, and `write` the
  /// settings from the plan's knobs.
  Formulas derived, plan, write;
  /// The number of separate instances that a plan needs; one if there is no
  /// formula.
  Formula replicas;
  std::vector<PlanRule> refusals, differences;
  std::map<std::string, OtherFlag> otherFlags;

  const Setting *setting(std::string_view name) const;
  /// Returns the newest recorded version that is not newer than `stated`; the
  /// oldest recorded one if all are newer; the newest of all if `stated` is
  /// absent.
  std::string recordedVersion(const std::optional<Version> &stated) const;
  /// Returns the recorded versions between which a stated version lies, or the
  /// recorded version that it is.
  std::vector<Version> versionsAround(const Version &stated) const;
};

/// Reads a table from a document of `autopar.launch_table/1`.
Result<LaunchTable> readLaunchTable(const JsonDocument &document);
/// Returns the names of the tables in runtimes/launch.
std::vector<std::string> launchTableNames();
/// Loads the table called `name`. The error for an unknown name lists those
/// that exist.
Result<LaunchTable> loadLaunchTable(const std::string &name);
/// Loads all tables.
Result<std::vector<LaunchTable>> loadLaunchTables();

} // namespace autopar::launch

#endif // AUTOPAR_LAUNCH_LAUNCHTABLE_H
