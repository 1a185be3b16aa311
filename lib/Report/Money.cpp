//===- Money.cpp - What tokens cost, and what they draw -------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device draws its board's power while it computes, reads or sends, and its
// idle power while it waits for the host or for other stages: docs/physics.md,
// "Money and energy". Devices that the plan does not use count for nothing.
//
//===----------------------------------------------------------------------===//

#include "autopar/Report/Money.h"

#include "Explanation.h"

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::report;
using namespace autopar::schedule;
using namespace autopar::serving;

static double busyShare(const Report &report) {
  const auto &latency = report.latency;
  return (latency.computeTimeUs + latency.memoryTimeUs +
          latency.communicationTimeUs) /
         latency.stepTimeUs;
}

static void explainBusyShare(Report &report) {
  const auto &latency = report.latency;
  report.derivations["cost.busy_share"] =
      Explanation()
          .formula("(compute_time_us + memory_time_us + "
                   "communication_time_us) / step_time_us")
          .input("latency.compute_time_us", latency.computeTimeUs)
          .input("latency.memory_time_us", latency.memoryTimeUs)
          .input("latency.communication_time_us", latency.communicationTimeUs)
          .input("latency.step_time_us", latency.stepTimeUs)
          .derivation;
}

static void addFigure(Report &report, const char *path, const Figure &figure) {
  report.derivations[path] =
      Explanation().formula("the input").figure(figure).derivation;
}

static void addPrice(Report &report, const Figure &price, bool explain) {
  auto &cost = report.cost;
  cost.dollarsPerDeviceHour = price.value;
  cost.dollarsPerMillionTokens = dollarsPerMillionTokens(
      price.value, report.mesh.devices, report.tokensPerS);
  if (!explain)
    return;
  addFigure(report, "cost.usd_per_device_hour", price);
  report.derivations["cost.usd_per_million_tokens"] =
      Explanation()
          .formula("price * devices / 3600 / tokens_per_s * 1e6")
          .figure(price)
          .input("mesh.devices", report.mesh.devices)
          .input("throughput.tokens_per_s", report.tokensPerS)
          .derivation;
}

/// Without an idle power, a device draws its board's all the time.
static void addEnergy(Report &report, const Chip &chip, bool explain) {
  auto &cost = report.cost;
  const Figure &board = *chip.boardPower;
  const Figure &idle = chip.idlePower ? *chip.idlePower : board;
  double power =
      board.value * cost.busyShare + idle.value * (1 - cost.busyShare);
  cost.boardPowerW = board.value;
  if (chip.idlePower)
    cost.idlePowerW = idle.value;
  cost.joulesPerToken =
      power * static_cast<double>(report.mesh.devices) / report.tokensPerS;
  if (!explain)
    return;
  addFigure(report, "cost.board_power_w", board);
  if (chip.idlePower)
    addFigure(report, "cost.idle_power_w", idle);
  Explanation energy;
  energy.formula(chip.idlePower
                     ? "(board_power * busy_share + idle_power * (1 - "
                       "busy_share)) * devices / tokens_per_s"
                     : "board_power * devices / tokens_per_s");
  energy.figure(board);
  if (chip.idlePower)
    energy.figure(idle).input("cost.busy_share", cost.busyShare);
  report.derivations["cost.joules_per_token"] =
      energy.input("mesh.devices", report.mesh.devices)
          .input("throughput.tokens_per_s", report.tokensPerS)
          .derivation;
}

/// Of an iteration of training.
static void addIteration(Report &report, const Machine &machine, bool explain) {
  const auto &cost = report.cost;
  double tokens = report.tokensPerS * report.latency.stepTimeUs / 1e6;
  if (machine.price)
    report.training->dollars = *cost.dollarsPerMillionTokens * tokens / 1e6;
  if (cost.joulesPerToken)
    report.training->joules = *cost.joulesPerToken * tokens;
  if (!explain)
    return;
  auto add = [&](const char *path, const char *each, const char *formula,
                 double value) {
    report.derivations[path] =
        Explanation()
            .formula(formula)
            .input(each, value)
            .input("throughput.tokens_per_s", report.tokensPerS)
            .input("latency.step_time_us", report.latency.stepTimeUs)
            .derivation;
  };
  if (machine.price)
    add("training.usd_per_iteration", "cost.usd_per_million_tokens",
        "usd_per_million_tokens * tokens_per_s * step_time_us / 1e12",
        *cost.dollarsPerMillionTokens);
  if (cost.joulesPerToken)
    add("training.joules_per_iteration", "cost.joules_per_token",
        "joules_per_token * tokens_per_s * step_time_us / 1e6",
        *cost.joulesPerToken);
}

void autopar::report::addCost(Report &report, const Machine &machine,
                              bool explain) {
  if (report.tokensPerS <= 0)
    return;
  report.cost.busyShare = busyShare(report);
  if (explain)
    explainBusyShare(report);
  if (machine.price)
    addPrice(report, *machine.price, explain);
  const Chip &chip = machine.pools.front().chip;
  if (chip.boardPower)
    addEnergy(report, chip, explain);
  if (report.training)
    addIteration(report, machine, explain);
}
