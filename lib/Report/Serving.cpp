//===- Serving.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reading.h"

#include "ServedProgram.h"

using namespace autopar;

namespace {

class ServingReader {
public:
  ServingReader(const PlanInputs &inputs, const Requests &requests)
      : served(inputs) {
    report.requests = requests;
    report.replicas = served.replicas;
    report.devices = served.layout.devices;
    report.steady.load = served.loadOf(requests);
  }

  Result<ServingReport> run(const SimulationChoice *choice);

private:
  std::optional<Error> simulate(const SimulationChoice &choice);

  ServedProgram served;
  ServingReport report;
};

} // namespace

std::optional<Error> ServingReader::simulate(const SimulationChoice &choice) {
  StepPrices prices = served.prices();
  SimulatedPool pool =
      served.simulated(prices, report.steady.state.capacityTokens);
  return addSimulation(report, choice, [&](const SimulatedLoad &load) {
    return autopar::simulate(prices, pool.engine, load, pool.engines);
  });
}

Result<ServingReport> ServingReader::run(const SimulationChoice *choice) {
  LoadPoint &steady = report.steady;
  ServingRefusal refusal = served.server.serve(steady.load, steady.state);
  report.capacityTokens = static_cast<int64_t>(steady.state.capacityTokens);
  report.step = served.stepOf(1, steady.load);
  if (refusal.kind == ServingRefusal::Kind::capacity)
    return std::move(report);
  if (!refusal)
    refusal = served.server.findCurve(steady, report.curve);
  if (refusal)
    return served.explain(report.requests);
  report.isServed = true;
  report.step = served.stepOf(steady.state.running, steady.load);
  addCosts(report, {&served});
  if (choice)
    if (auto error = simulate(*choice))
      return *error;
  return std::move(report);
}

Result<ServingReport> autopar::evaluateServing(const CostProgram &program,
                                               const Plan &plan,
                                               const Machine &machine,
                                               const Runtime &runtime,
                                               const Requests &requests,
                                               const SimulationChoice *choice) {
  Workload none;
  PlanInputs inputs{program, plan, machine, runtime, none};
  if (auto error = ServedProgram::check(inputs))
    return *error;
  if (auto error = ServedProgram::checkLengths(inputs, requests))
    return *error;
  return ServingReader(inputs, requests).run(choice);
}
