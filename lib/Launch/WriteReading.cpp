//===- WriteReading.cpp - What was read, as JSON and text -----------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ValueText.h"

#include "autopar/Launch/WriteLaunch.h"
#include "autopar/Plan/PlanText.h"
#include "autopar/Support/JsonText.h"
#include "autopar/Support/Text.h"
#include "autopar/Support/TextTables.h"

#include <nlohmann/json.hpp>

using namespace autopar;
using namespace autopar::launch;
using model::JsonValue;
using nlohmann::ordered_json;

static ordered_json textOrNull(const std::string &text) {
  return text.empty() ? ordered_json() : ordered_json(text);
}

static ordered_json settingsOf(const Launch &launch) {
  ordered_json settings = ordered_json::object();
  for (const auto &[name, setting] : launch.settings)
    settings[name] = {{"value", setting.value}, {"from", setting.from}};
  return settings;
}

static ordered_json jsonOf(const Launch &launch) {
  ordered_json json;
  json["engine"] = launch.engine;
  json["version"] = textOrNull(launch.version);
  json["model"] = textOrNull(launch.model);
  json["role"] = textOrNull(launch.role);
  json["copies"] = launch.copies;
  json["devices"] = launch.devices;
  json["plan"] = ordered_json::parse(plan::writePlan(launch.plan));
  json["settings"] = settingsOf(launch);
  json["unknown"] = launch.unknown;
  json["findings"] = launch.findings;
  return json;
}

std::string autopar::launch::writeReading(const std::vector<Launch> &launches) {
  ordered_json json = {{"schema", "autopar.reading/1"}};
  int64_t devices = 0;
  for (const Launch &launch : launches)
    devices += launch.copies * launch.devices;
  json.update(jsonOf(launches.front()));
  json["devices"] = devices;
  json["target"] = nullptr;
  json["requests"] = nullptr;
  for (const auto &[name, value] : launches.front().requests)
    json["requests"][name] = value;
  json["launches"] = ordered_json::array();
  for (const Launch &launch : launches)
    json["launches"].push_back(jsonOf(launch));
  return printJson(json);
}

//===----------------------------------------------------------------------===//
// Launches as text
//===----------------------------------------------------------------------===//

static void addList(std::string &text, const char *title,
                    const std::vector<std::string> &lines) {
  if (lines.empty())
    return;
  text += std::string("\n") + title + "\n";
  for (const std::string &line : lines)
    text += "  - " + line + "\n";
}

/// Returns the first line about a launch: "vllm 0.22: org/name on 16 devices, 2
/// copies of 8".
static std::string headOf(const Launch &launch) {
  int64_t devices = launch.copies * launch.devices;
  std::string text = launch.engine;
  if (!launch.version.empty())
    text += " " + launch.version;
  if (!launch.role.empty())
    text += ", " + launch.role;
  text += ": " + (launch.model.empty() ? "no model named" : launch.model) +
          " on " + formatInteger(devices) +
          (devices == 1 ? " device" : " devices");
  if (launch.copies > 1)
    text += ", " + formatInteger(launch.copies) + " copies of " +
            formatInteger(launch.devices);
  return text + "\n";
}

/// Returns the place of a setting in the list: settings that the text gives
/// come first, then those that follow from them, then defaults.
static int orderOf(const SettingValue &setting) {
  return setting.from.rfind("default", 0) == 0   ? 2
         : setting.from.rfind("follows", 0) == 0 ? 1
                                                 : 0;
}

static std::string launchText(const Launch &launch) {
  std::string text = headOf(launch);
  if (std::optional<std::string> plan = plan::planText(launch.plan))
    text += "plan " + *plan + "\n";
  TextTable table("lll", uncut);
  table.add({"setting", "value", "from"});
  for (int order = 0; order < 3; ++order)
    for (const auto &[name, setting] : launch.settings)
      if (orderOf(setting) == order)
        table.add({name, textOf(setting.value), setting.from});
  text += "\n" + table.str();
  addList(text, "Findings", launch.findings);
  addList(text, "Flags that are not known", launch.unknown);
  return text;
}

std::string autopar::launch::readingText(const std::vector<Launch> &launches) {
  std::vector<std::string> texts;
  for (const Launch &launch : launches)
    texts.push_back(launchText(launch));
  return join(texts, "\n");
}
