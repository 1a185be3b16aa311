//===- ExplainCosts.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explanation.h"

using namespace autopar;
using namespace autopar::explanation;
using namespace autopar::hardware;
using namespace autopar::report;

static void explainBusyShare(const Report::Latency &latency,
                             Derivations &derivations) {
  derivations["cost.busy_share"] =
      Explanation()
          .formula("(compute_time_us + memory_time_us + "
                   "communication_time_us) / step_time_us")
          .input("latency.compute_time_us", latency.computeTimeUs)
          .input("latency.memory_time_us", latency.memoryTimeUs)
          .input("latency.communication_time_us", latency.communicationTimeUs)
          .input("latency.step_time_us", latency.stepTimeUs)
          .derivation;
}

static void addFigure(const char *path, const Figure &figure,
                      Derivations &derivations) {
  derivations[path] =
      Explanation().formula("the input").figure(figure).derivation;
}

static void explainPrice(const Report &report, const Figure &price,
                         Derivations &derivations) {
  addFigure("cost.usd_per_device_hour", price, derivations);
  derivations["cost.usd_per_million_tokens"] =
      Explanation()
          .formula("price * devices / 3600 / tokens_per_s * 1e6")
          .figure(price)
          .input("mesh.devices", report.mesh.devices)
          .input("throughput.tokens_per_s", report.tokensPerS)
          .derivation;
}

static void explainEnergy(const Report &report, const Chip &chip,
                          Derivations &derivations) {
  const Figure &board = *chip.boardPower;
  addFigure("cost.board_power_w", board, derivations);
  Explanation energy;
  energy.formula(chip.idlePower
                     ? "(board_power * busy_share + idle_power * (1 - "
                       "busy_share)) * devices / tokens_per_s"
                     : "board_power * devices / tokens_per_s");
  energy.figure(board);
  if (chip.idlePower) {
    addFigure("cost.idle_power_w", *chip.idlePower, derivations);
    energy.figure(*chip.idlePower)
        .input("cost.busy_share", report.cost.busyShare);
  }
  derivations["cost.joules_per_token"] =
      energy.input("mesh.devices", report.mesh.devices)
          .input("throughput.tokens_per_s", report.tokensPerS)
          .derivation;
}

static void explainIteration(const Report &report, Derivations &derivations) {
  auto add = [&](const char *path, const char *each, const char *formula,
                 double value) {
    derivations[path] =
        Explanation()
            .formula(formula)
            .input(each, value)
            .input("throughput.tokens_per_s", report.tokensPerS)
            .input("latency.step_time_us", report.latency.stepTimeUs)
            .derivation;
  };
  const Report::Cost &cost = report.cost;
  if (cost.dollarsPerMillionTokens)
    add("training.usd_per_iteration", "cost.usd_per_million_tokens",
        "usd_per_million_tokens * tokens_per_s * step_time_us / 1e12",
        *cost.dollarsPerMillionTokens);
  if (cost.joulesPerToken)
    add("training.joules_per_iteration", "cost.joules_per_token",
        "joules_per_token * tokens_per_s * step_time_us / 1e6",
        *cost.joulesPerToken);
}

void autopar::explanation::explainCosts(const Report &report,
                                        const Machine &machine,
                                        Derivations &derivations) {
  if (report.tokensPerS <= 0)
    return;
  explainBusyShare(report.latency, derivations);
  if (machine.price)
    explainPrice(report, *machine.price, derivations);
  const Chip &chip = machine.pools.front().chip;
  if (chip.boardPower)
    explainEnergy(report, chip, derivations);
  if (report.training)
    explainIteration(report, derivations);
}
