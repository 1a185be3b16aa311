//===- Phrases.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Write/Phrases.h"

#include "autopar/Support/Text.h"
#include "autopar/Support/TextTables.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;
using namespace autopar::writing;

std::string autopar::writing::stepText(const Report &report) {
  const auto &work = report.workload;
  std::string step =
      work.phase == nameOf(Phase::decode)
          ? "decode of " + countOf(work.batch, "sequence")
          : (work.phase == nameOf(Phase::train) ? "training on "
                                                : "prefill of ") +
                formatInteger(work.batch) + " x " +
                formatInteger(work.queryLength) + " tokens";
  if (work.contextLength != work.queryLength)
    step += " at context " + formatInteger(work.contextLength);
  if (work.encoderTokens != 0)
    step +=
        ", encoding " + formatInteger(work.encoderTokens) + " positions each";
  if (work.crossTokens != 0)
    step += ", " + formatInteger(work.crossTokens) +
            " encoded positions cached for each";
  return step;
}

std::string_view autopar::writing::tokenKind(const Report &report) {
  if (report.workload.phase == nameOf(Phase::decode))
    return "output";
  return report.workload.phase == nameOf(Phase::train) ? "trained" : "prompt";
}

std::string autopar::writing::machineText(const Report &report) {
  const auto &machine = report.machine;
  std::string nodes =
      machine.nodes == 1 ? "" : " x " + std::to_string(machine.nodes);
  return "on " + formatInteger(report.mesh.devices) + " of " +
         formatInteger(machine.devices) + " devices of " + machine.hardware +
         nodes;
}

/// Returns the degrees that are neither an axis, nor 1, nor in every plan: "ep
/// 64".
static std::string degreesText(const Report &report) {
  const std::map<std::string, int64_t> &sizes = report.mesh.degrees;
  std::vector<std::string> shown;
  for (const auto &[name, size] : sizes) {
    bool isAxis = std::any_of(
        report.mesh.axes.begin(), report.mesh.axes.end(),
        [&name = name](const Report::Axis &axis) { return axis.name == name; });
    auto equals = [&sizes](const char *other, int64_t value) {
      auto it = sizes.find(other);
      return it != sizes.end() && it->second == value;
    };
    bool follows = name == "attention_tp" ? equals("tp", size)
                   : name == "etp" || name == "edp"
                       ? size == 1 || equals("ep", 1)
                       : size == 1;
    if (!isAxis && !follows)
      shown.push_back(name + " " + formatInteger(size));
  }
  return shown.empty() ? "" : " (" + join(shown, ", ") + ")";
}

/// Returns the axes with their tiers, if the tiers differ: "dpo 2 on scale_out,
/// dpi 8 on scale_up (dp 16)".
std::vector<std::string> autopar::writing::meshText(const Report &report) {
  std::set<std::string> tiers;
  std::vector<std::string> axes;
  for (const Report::Axis &axis : report.mesh.axes)
    if (!axis.tier.empty())
      tiers.insert(axis.tier);
  for (const Report::Axis &axis : report.mesh.axes) {
    bool named = tiers.size() > 1 && !axis.tier.empty();
    axes.push_back(axis.name + " " + std::to_string(axis.size) +
                   (named ? " on " + axis.tier : ""));
  }
  if (!axes.empty())
    axes.back() += degreesText(report);
  if (int64_t experts = report.mesh.expertsPerDevice)
    axes.push_back(countOf(experts, "routed expert") + " of a layer on each");
  return axes;
}

std::string autopar::writing::meshLine(const Report &report) {
  std::vector<std::string> axes = meshText(report);
  return axes.empty() ? "1 device" : join(axes, ", ");
}

std::string autopar::writing::formatRate(double rate) {
  if (rate < 1000)
    return print("%.1f", rate);
  return rate < 9e18 ? formatInteger(std::llround(rate)) : print("%.3g", rate);
}
