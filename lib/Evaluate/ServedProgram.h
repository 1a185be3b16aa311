//===- ServedProgram.h - A plan that serves requests ------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_EVALUATE_SERVEDPROGRAM_H
#define AUTOPAR_LIB_EVALUATE_SERVEDPROGRAM_H

#include "autopar/Evaluate/EvaluatedStep.h"

#include "autopar/Serving/Disaggregation.h"
#include "autopar/Serving/Server.h"
#include "autopar/Serving/Simulation.h"

#include <functional>
#include <initializer_list>

namespace autopar::evaluation {

/// A program on the devices of its plan, compiled for loads.
struct ServedProgram {
  /// All parts of `inputs` outlive it; its step does not matter.
  explicit ServedProgram(const PlanInputs &inputs);

  /// What keeps the inputs from being served: as `checkInputs`, or stages.
  static std::optional<Error> check(const PlanInputs &inputs);
  /// Whether the model has positions for requests of mean length.
  static std::optional<Error> checkLengths(const PlanInputs &inputs,
                                           const program::Requests &requests);
  /// With a draft that takes as long as one of the model's layers, where nobody
  /// says otherwise.
  serving::ServedLoad loadOf(const program::Requests &requests) const;
  /// Why a step of one request for each replica has no price: as its own report
  /// says it, where that does.
  Error explain(const program::Requests &requests) const;
  /// The step that decodes `sequences` of each replica.
  program::Workload stepOf(double sequences,
                           const serving::ServedLoad &load) const;
  /// Says what each request has encoded beside its text; without, nothing.
  void encode(const serving::EncodedInput &input);
  /// Of this plan, laid on its devices.
  serving::StepPrices prices();
  /// Its engines, each with the KV caches of a replica; `prices` outlive them.
  serving::SimulatedPool simulated(serving::StepPrices &prices,
                                   double capacityTokens) const;
  double dollarsPerHour() const;
  double boardPowerW() const;
  bool hasPrice() const { return inputs.machine.price.has_value(); }
  bool hasPower() const { return inputs.pool().chip.boardPower.has_value(); }

  PlanInputs inputs;
  /// With the chunks of prompts that the plan asks for.
  runtime::Runtime runtime;
  cost::CompiledProgram compiled;
  cost::Layout layout;
  int64_t replicas;
  serving::Server server;
  serving::EncodedInput encoded;
};

/// What a million tokens of output cost on the devices of `all`, where each has
/// a price, a power.
void addCosts(report::ServiceReport &report,
              std::initializer_list<const ServedProgram *> all);

/// Simulates requests of `report`, by what `simulate` does with a load, and
/// adds what they measured. Errors: a request that no cache holds, or that no
/// step has a price for; drafts.
std::optional<Error> addSimulation(
    report::ServiceReport &report, const report::SimulationChoice &choice,
    const std::function<
        serving::SimulationResult(const serving::SimulatedLoad &)> &simulate);

} // namespace autopar::evaluation

#endif // AUTOPAR_LIB_EVALUATE_SERVEDPROGRAM_H
