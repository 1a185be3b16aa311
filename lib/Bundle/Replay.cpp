//===- Replay.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Manifest.h"
#include "Outputs.h"

#include "autopar/Support/File.h"
#include "autopar/Support/FileScope.h"
#include "autopar/Support/Json.h"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace autopar;
using namespace autopar::bundle;

using Json = nlohmann::json;

static bool isOfLibrary(const std::string &name) {
  return name.rfind("hardware/", 0) == 0 || name.rfind("runtimes/", 0) == 0;
}

/// Returns the path at which a file of a library is installed, such as
/// hardware/chips/.. below the folder of hardware.
static std::string installedPath(const std::string &name) {
  size_t slash = name.find('/');
  return dataDirectory(name.substr(0, slash)) + name.substr(slash);
}

/// Returns the files of the bundle, at the paths where an estimate looks for
/// them.
static FileScope::Files filesOf(const Bundle &bundle) {
  FileScope::Files files;
  for (const auto &[name, text] : bundle.files)
    if (isOfLibrary(name))
      files[installedPath(name)] = text;
    else if (auto path = bundle.paths.find(name); path != bundle.paths.end())
      files[path->second] = text;
  return files;
}

//===----------------------------------------------------------------------===//
// Differences between the files of a bundle and new ones
//===----------------------------------------------------------------------===//

static std::string textOf(const Json &root, const std::string &pointer) {
  Json::json_pointer at(pointer);
  if (!root.contains(at))
    return "";
  return root[at].dump(-1, ' ', false, Json::error_handler_t::replace);
}

static std::vector<Difference> differencesOf(const std::string &before,
                                             const std::string &now) {
  // The texts are read within the limits of all JSON, because the comparison
  // goes as deep as they do.
  Result<JsonDocument> first = JsonDocument::parse(before, "");
  Result<JsonDocument> second = JsonDocument::parse(now, "");
  std::vector<Difference> all;
  if (!first || !second)
    return all;
  Json old = first->toJson(), changed = second->toJson();
  for (const Json &step : Json::diff(old, changed)) {
    std::string pointer = step["path"].get<std::string>();
    all.push_back({pointer, textOf(old, pointer), textOf(changed, pointer)});
  }
  return all;
}

static bool isJson(const std::string &name) {
  return name.size() > 5 && name.compare(name.size() - 5, 5, ".json") == 0;
}

static Replay::Output compareOutput(const std::string &name,
                                    const std::string &before,
                                    const std::string &now) {
  Replay::Output output{name, before == now};
  if (!output.isSame && isJson(name))
    output.differences = differencesOf(before, now);
  return output;
}

static void compareInstalled(const Bundle &bundle, Replay &replay) {
  for (const auto &[name, text] : bundle.files) {
    if (!isOfLibrary(name))
      continue;
    ++replay.libraryFiles;
    Result<std::string> installed = readFile(installedPath(name));
    if (!installed)
      replay.changed.push_back({name});
    else if (*installed != text)
      replay.changed.push_back({name, true, differencesOf(text, *installed)});
  }
}

/// Estimates with the installed files, and compares the results.
static void estimateInstalled(const Bundle &bundle, Replay &replay) {
  FileScope::Files files = filesOf(bundle);
  for (const Replay::InstalledFile &one : replay.changed) {
    Result<std::string> text = readFile(installedPath(one.name));
    if (!text) {
      replay.installedError = Error{"", one.name + " is not installed", ""};
      return;
    }
    files[installedPath(one.name)] = std::move(*text);
  }
  FileScope scope(std::move(files));
  auto outputs = estimateAll(bundle.files.at("module.mlir"), bundle.choice);
  if (!outputs)
    replay.installedError = outputs.error();
  else
    replay.withInstalled = differencesOf(bundle.files.at("report.json"),
                                         outputs->at("report.json"));
}

//===----------------------------------------------------------------------===//
// Replaying a bundle
//===----------------------------------------------------------------------===//

static std::string versionText(const std::string &own,
                               const std::string &llvm) {
  return "autopar " + own + ", LLVM " + llvm;
}

bool Replay::isSame() const {
  return std::all_of(outputs.begin(), outputs.end(),
                     [](const Output &output) { return output.isSame; });
}

Result<Replay> autopar::bundle::replay(const Bundle &bundle) {
  Replay replay;
  replay.model = bundle.model;
  replay.writtenBy = versionText(bundle.autoparVersion, bundle.llvmVersion);
  replay.replayedBy = versionText(ownVersion(), llvmVersion());
  {
    FileScope scope(filesOf(bundle));
    auto outputs = estimateAll(bundle.files.at("module.mlir"), bundle.choice);
    if (!outputs)
      return outputs.error();
    for (const auto &[name, text] : *outputs) {
      auto before = bundle.files.find(name);
      replay.outputs.push_back(compareOutput(
          name, before == bundle.files.end() ? "" : before->second, text));
    }
  }
  compareInstalled(bundle, replay);
  if (!replay.changed.empty())
    estimateInstalled(bundle, replay);
  return replay;
}
