//===- ReportText.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReportText.h"

#include "TextTables.h"
#include "autopar/Support/Text.h"

#include <cmath>

using namespace autopar;

std::string autopar::stepText(const Report &report) {
  const auto &work = report.workload;
  std::string step = work.phase == "prefill"
                         ? "prefill of " + formatInteger(work.batch) + " x " +
                               formatInteger(work.queryLength) + " tokens"
                         : "decode of " + formatInteger(work.batch) +
                               (work.batch == 1 ? " sequence" : " sequences");
  if (work.contextLength != work.queryLength)
    step += " at context " + formatInteger(work.contextLength);
  if (work.sourceLength != 0)
    step +=
        ", encoding " + formatInteger(work.sourceLength) + " positions each";
  if (work.memoryLength != 0)
    step += ", " + formatInteger(work.memoryLength) +
            " encoded positions cached for each";
  return step;
}

std::string autopar::machineText(const Report &report) {
  const auto &machine = report.machine;
  std::string nodes =
      machine.nodes == 1 ? "" : " x " + std::to_string(machine.nodes);
  return "on " + formatInteger(report.mesh.devices) + " of " +
         formatInteger(machine.devices) + " devices of " + machine.hardware +
         nodes;
}

std::vector<std::string> autopar::meshText(const Report &report) {
  std::vector<std::string> mesh;
  for (const Report::Axis &axis : report.mesh.axes)
    mesh.push_back(axis.name + " " + std::to_string(axis.size));
  return mesh;
}

std::string autopar::formatRate(double rate) {
  if (rate < 1000)
    return print("%.1f", rate);
  return rate < 9e18 ? formatInteger(std::llround(rate)) : print("%.3g", rate);
}
