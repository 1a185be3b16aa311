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
#include "autopar/Serving/QueueModel.h"
#include "autopar/Serving/Simulation.h"

#include <functional>
#include <initializer_list>

namespace autopar::evaluation {

/// A program on the devices of its plan, compiled for pricing loads.
struct ServedProgram {
  /// All parts of `inputs` outlive it; its step is not used.
  explicit ServedProgram(const PlanInputs &inputs);

  /// Returns the error that keeps the inputs from being served: those of
  /// `checkInputs`, or stages.
  static std::optional<Error> check(const PlanInputs &inputs);
  /// Whether the model has positions for requests of mean length.
  static std::optional<Error> checkLengths(const PlanInputs &inputs,
                                           const program::Requests &requests);
  /// The load of `requests`. A draft model without a given time takes as long
  /// as one of the model's layers.
  serving::ServedLoad loadOf(const program::Requests &requests) const;
  /// The error of a step with one request per replica, as its own report gives
  /// it, or a general one.
  Error explain(const program::Requests &requests) const;
  /// The step that decodes `sequences` sequences per replica.
  program::Workload stepOf(double sequences,
                           const serving::ServedLoad &load) const;
  /// Sets the encoded inputs of each request besides its text; none by default.
  void encode(const serving::EncodedInput &input);
  /// Prices of this plan's steps, on its layout.
  serving::StepPrices prices();
  /// Engines for the simulation, each with the KV caches of a replica; `prices`
  /// outlive them.
  serving::SimulatedPool simulated(serving::StepPrices &prices,
                                   double capacityTokens) const;
  double dollarsPerHour() const;
  double boardPowerW() const;
  bool hasPrice() const { return inputs.machine.price.has_value(); }
  bool hasPower() const { return inputs.pool().chip.boardPower.has_value(); }

  PlanInputs inputs;
  /// The runtime with the prefill chunk of the plan, if it sets one.
  runtime::Runtime runtime;
  cost::CompiledProgram compiled;
  cost::Layout layout;
  int64_t replicas;
  serving::QueueModel server;
  serving::EncodedInput encoded;
};

/// Adds the dollars and joules per million output tokens on the devices of
/// `all`, if each of them has a price and a power.
void addCosts(report::ServiceReport &report,
              std::initializer_list<const ServedProgram *> all);

/// Simulates the requests of `report` with `simulate`, and adds the measured
/// times. Errors: a request that no cache holds, or that no step has a price
/// for; drafts.
std::optional<Error> addSimulation(
    report::ServiceReport &report, const report::SimulationChoice &choice,
    const std::function<
        serving::SimulationResult(const serving::SimulatedLoad &)> &simulate);

} // namespace autopar::evaluation

#endif // AUTOPAR_LIB_EVALUATE_SERVEDPROGRAM_H
