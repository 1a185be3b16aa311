//===- Services.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Evaluate/Services.h"
#include "ServedProgram.h"
#include "autopar/Program/ProgramFacts.h"

using namespace autopar;
using namespace autopar::evaluation;
using namespace autopar::hardware;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::runtime;
using namespace autopar::schedule;
using namespace autopar::serving;

namespace {

class ServingReader {
public:
  ServingReader(const PlanInputs &inputs, const Requests &requests)
      : served(inputs) {
    report.requests = requests;
    report.replicas = served.replicas;
    report.devices = served.layout.devices;
    report.steady.load = served.loadOf(requests);
    served.encode({inputs.workload.encoderTokens, inputs.workload.crossTokens,
                   requests.prompt.mean()});
  }

  Result<EvaluatedService> run(const SimulationChoice *choice);

private:
  std::optional<Error> simulate(const SimulationChoice &choice);

  ServedProgram served;
  ServingReport report;
  double encoderUs = 0;
};

} // namespace

std::optional<Error> ServingReader::simulate(const SimulationChoice &choice) {
  StepPrices prices = served.prices();
  SimulatedPool pool =
      served.simulated(prices, report.steady.state.capacityTokens);
  return addSimulation(report, choice, [&](const SimulatedLoad &load) {
    return autopar::serving::simulate(prices, pool.engine, load, pool.engines);
  });
}

Result<EvaluatedService> ServingReader::run(const SimulationChoice *choice) {
  LoadPoint &steady = report.steady;
  ServingRefusal refusal = served.server.timesOf(steady.load, steady.state);
  report.capacityTokens = static_cast<int64_t>(steady.state.capacityTokens);
  report.step = served.stepOf(1, steady.load);
  if (refusal.kind == ServingRefusal::Kind::capacity)
    return EvaluatedService{std::move(report), encoderUs};
  if (!refusal)
    refusal = served.server.findCurve(steady, report.curve);
  if (!refusal)
    refusal = served.server.timeEncoder(steady.load, encoderUs);
  if (refusal)
    return served.explain(report.requests);
  report.isServed = true;
  report.step = served.stepOf(steady.state.running, steady.load);
  addCosts(report, {&served});
  if (choice)
    if (auto error = simulate(*choice))
      return *error;
  return EvaluatedService{std::move(report), encoderUs};
}

Result<EvaluatedService> autopar::evaluation::evaluateService(
    const CostProgram &program, const Plan &plan, const Machine &machine,
    const Runtime &runtime, const Service &service,
    const SimulationChoice *choice) {
  Workload encodes;
  encodes.encoderTokens = service.step.encoderTokens;
  encodes.crossTokens = crossTokensOf(program, service.step);
  PlanInputs inputs{program, plan, machine, runtime, encodes};
  if (auto error = ServedProgram::check(inputs))
    return *error;
  if (auto error = ServedProgram::checkLengths(inputs, service.requests))
    return *error;
  return ServingReader(inputs, service.requests).run(choice);
}
