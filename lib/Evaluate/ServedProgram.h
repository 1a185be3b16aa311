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

/// A program on the devices of its plan, compiled in order to price loads.
struct ServedProgram {
  /// All parts of `inputs` must outlive the object; the step in `inputs` is not
  /// used.
  explicit ServedProgram(const PlanInputs &inputs);

  /// Returns the error because of which the inputs cannot be served: one of
  /// `checkInputs`, or that the plan has stages. Returns nothing if there is
  /// none.
  static std::optional<Error> check(const PlanInputs &inputs);
  /// Returns an error if the model has no positions for requests of mean
  /// length.
  static std::optional<Error> checkLengths(const PlanInputs &inputs,
                                           const program::Requests &requests);
  /// Returns the load of `requests`. A draft model whose time is not given
  /// takes as long as one of the model's layers.
  serving::ServedLoad loadOf(const program::Requests &requests) const;
  /// Returns the error of a step with one request per replica, as the step's
  /// own report gives it; a general error if it gives none.
  Error explain(const program::Requests &requests) const;
  /// Returns the step that decodes `sequences` sequences on each replica.
  program::Workload stepOf(double sequences,
                           const serving::ServedLoad &load) const;
  /// Sets the encoded inputs that each request has besides its text; without
  /// this call there are none.
  void encode(const serving::EncodedInput &input);
  /// Returns the prices of this plan's steps, on its layout.
  serving::StepPrices prices();
  /// Returns the engines for the simulation, each with the KV caches of one
  /// replica; `prices` must outlive them.
  serving::SimulatedPool simulated(serving::StepPrices &prices,
                                   double capacityTokens) const;
  double dollarsPerHour() const;
  double boardPowerW() const;
  bool hasPrice() const { return inputs.machine.price.has_value(); }
  bool hasPower() const { return inputs.pool().chip.boardPower.has_value(); }

  PlanInputs inputs;
  /// The runtime, with the plan's prefill chunk if the plan sets one.
  runtime::Runtime runtime;
  cost::CompiledProgram compiled;
  cost::Layout layout;
  int64_t replicas;
  serving::QueueModel server;
  serving::EncodedInput encoded;
};

/// Adds the dollars and joules per million output tokens on the devices of
/// `all`, if each of these programs has a price and a power.
void addCosts(report::ServiceReport &report,
              std::initializer_list<const ServedProgram *> all);

/// Simulates the requests of `report` with `simulate`, and adds the measured
/// times. Fails if there is a request that no cache holds or that no step has a
/// price for, or if the requests use drafts.
std::optional<Error> addSimulation(
    report::ServiceReport &report, const report::SimulationChoice &choice,
    const std::function<
        serving::SimulationResult(const serving::SimulatedLoad &)> &simulate);

} // namespace autopar::evaluation

#endif // AUTOPAR_LIB_EVALUATE_SERVEDPROGRAM_H
