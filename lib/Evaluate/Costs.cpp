//===- Costs.cpp ----------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device draws its board's power while it computes, reads or sends, and its
// idle power while it waits for the host or for other stages: docs/physics.md,
// "Money and energy". Devices that the plan does not use cost nothing.
//
//===----------------------------------------------------------------------===//

#include "autopar/Evaluate/Costs.h"

#include "autopar/Evaluate/Sections.h"

using namespace autopar;
using namespace autopar::evaluation;
using namespace autopar::hardware;
using namespace autopar::report;

static double busyShare(const Report::Latency &latency) {
  return (latency.computeTimeUs + latency.memoryTimeUs +
          latency.communicationTimeUs) /
         latency.stepTimeUs;
}

static void addEnergy(const Chip &chip, Report &report) {
  Report::Cost &cost = report.cost;
  const Figure &board = *chip.boardPower;
  const Figure &idle = chip.idlePower ? *chip.idlePower : board;
  double power =
      board.value * cost.busyShare + idle.value * (1 - cost.busyShare);
  cost.boardPowerW = board.value;
  if (chip.idlePower)
    cost.idlePowerW = idle.value;
  cost.joulesPerToken =
      power * static_cast<double>(report.mesh.devices) / report.tokensPerS;
}

void autopar::evaluation::addCosts(Report &report, const Machine &machine) {
  if (report.tokensPerS <= 0)
    return;
  Report::Cost &cost = report.cost;
  cost.busyShare = busyShare(report.latency);
  if (machine.price) {
    cost.dollarsPerDeviceHour = machine.price->value;
    cost.dollarsPerMillionTokens = dollarsPerMillionTokens(
        machine.price->value, report.mesh.devices, report.tokensPerS);
  }
  const Chip &chip = machine.pools.front().chip;
  if (chip.boardPower)
    addEnergy(chip, report);
  if (!report.training)
    return;
  double tokens = report.tokensPerS * report.latency.stepTimeUs / 1e6;
  if (machine.price)
    report.training->dollars = *cost.dollarsPerMillionTokens * tokens / 1e6;
  if (cost.joulesPerToken)
    report.training->joules = *cost.joulesPerToken * tokens;
}
