//===- ReplayText.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Bundle/Bundle.h"

#include "autopar/Support/Terminal.h"
#include "autopar/Support/Text.h"

#include <nlohmann/json.hpp>

using namespace autopar;
using namespace autopar::bundle;

using Json = nlohmann::ordered_json;

//===----------------------------------------------------------------------===//
// The report of a replay as text
//===----------------------------------------------------------------------===//

/// The number of differences of a file that a text shows; JSON has all of them.
static constexpr size_t mostShown = 20;

static std::string lineOf(const Difference &one) {
  auto shown = [](const std::string &value) {
    return value.empty() ? std::string("nothing") : shorten(value);
  };
  return "    " + visible(one.pointer) + ": " + shown(one.before) + ", now " +
         shown(one.now) + "\n";
}

static std::string linesOf(const std::vector<Difference> &all) {
  std::string text;
  for (size_t i = 0; i < all.size() && i < mostShown; ++i)
    text += lineOf(all[i]);
  if (all.size() > mostShown)
    text +=
        "    and " + formatInteger(int64_t(all.size() - mostShown)) + " more\n";
  return text;
}

static std::string writeOutputs(const Replay &replay) {
  std::vector<std::string> same;
  std::string text;
  for (const Replay::Output &output : replay.outputs) {
    if (output.isSame) {
      same.push_back(output.name);
      continue;
    }
    text += "  " + output.name + " differs";
    if (!output.differences.empty())
      text += " in " + countOf(output.differences.size(), "value");
    text += "\n" + linesOf(output.differences);
  }
  if (!same.empty())
    text = "  the same bytes: " + join(same, ", ") + "\n" + text;
  if (!replay.isSame())
    text += replay.writtenBy == replay.replayedBy
                ? "  why: not the files, which are those of the bundle, and "
                  "not the version: a build of other sources, or a changed "
                  "report\n"
                : "  why: not the files, which are those of the bundle; the "
                  "versions differ\n";
  return text;
}

static std::string writeInstalled(const Replay &replay) {
  if (replay.changed.empty())
    return "  installed files of hardware and runtimes: all " +
           std::to_string(replay.libraryFiles) + " are those of the bundle\n";
  std::string text = "  installed files of hardware and runtimes: " +
                     std::to_string(replay.changed.size()) + " of " +
                     std::to_string(replay.libraryFiles) + " differ\n";
  for (const Replay::InstalledFile &file : replay.changed) {
    text += "  " + file.name;
    if (!file.isThere)
      text += " is not there";
    text += "\n" + linesOf(file.differences);
  }
  if (replay.installedError)
    return text + "  with these there is no report: " +
           visible(replay.installedError->str()) + "\n";
  if (replay.withInstalled.empty())
    return text + "  with these the report would be the same\n";
  return text + "  with these " +
         countOf(replay.withInstalled.size(), "value") +
         " of the report would differ\n" + linesOf(replay.withInstalled);
}

std::string autopar::bundle::writeText(const Replay &replay) {
  std::string text = visible(replay.model) + ": ";
  text += replay.isSame() ? "the same bytes\n" : "other bytes\n";
  text += "  written by " + visible(replay.writtenBy) + ", replayed by " +
          replay.replayedBy + "\n";
  return text + writeOutputs(replay) + writeInstalled(replay);
}

//===----------------------------------------------------------------------===//
// The report of a replay as JSON
//===----------------------------------------------------------------------===//

static Json jsonOf(const std::vector<Difference> &all) {
  Json list = Json::array();
  auto orNull = [](const std::string &text) {
    return text.empty() ? Json() : Json::parse(text, nullptr, false);
  };
  for (const Difference &one : all)
    list.push_back({{"pointer", one.pointer},
                    {"before", orNull(one.before)},
                    {"now", orNull(one.now)}});
  return list;
}

std::string autopar::bundle::writeJson(const Replay &replay) {
  Json outputs = Json::array(), changed = Json::array();
  for (const Replay::Output &output : replay.outputs)
    outputs.push_back({{"name", output.name},
                       {"same", output.isSame},
                       {"differences", jsonOf(output.differences)}});
  for (const Replay::InstalledFile &file : replay.changed)
    changed.push_back({{"name", file.name},
                       {"there", file.isThere},
                       {"differences", jsonOf(file.differences)}});
  Json root = {
      {"schema", "autopar.replay/1"},
      {"model", replay.model},
      {"same", replay.isSame()},
      {"written_by", replay.writtenBy},
      {"replayed_by", replay.replayedBy},
      {"outputs", std::move(outputs)},
      {"library_files", replay.libraryFiles},
      {"changed_library_files", std::move(changed)},
      {"with_installed",
       {{"differences", jsonOf(replay.withInstalled)},
        {"error", replay.installedError ? Json(replay.installedError->str())
                                        : Json()}}}};
  return root.dump(2, ' ', /*ensure_ascii=*/false,
                   Json::error_handler_t::replace) +
         "\n";
}
