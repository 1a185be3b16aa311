//===- Serving.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reading.h"

#include "ServedProgram.h"

#include "autopar/Program/RequestTrace.h"
#include "autopar/Serving/Simulation.h"
#include "autopar/Support/Text.h"

#include <algorithm>
#include <cmath>

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
  void addCosts();

  ServedProgram served;
  ServingReport report;
};

} // namespace

void ServingReader::addCosts() {
  double tokensPerS = report.steady.state.outputTokensPerSecond;
  if (served.hasPrice())
    report.dollarsPerMillionTokens =
        served.dollarsPerHour() / 3600 / tokensPerS * 1e6;
  if (served.hasPower())
    report.joulesPerMillionTokens = served.boardPowerW() / tokensPerS * 1e6;
}

/// The first quarter of what is drawn is not counted, while queues fill, nor
/// the last round of a closed loop, while they empty. All of a trace is.
static SimulatedService summarize(const SimulatedRun &run,
                                  const SimulationChoice &choice,
                                  const ServiceLimits &limits) {
  size_t first = 0, end = run.load.requests.size();
  if (choice.trace.empty() && end >= 8) {
    first = end / 4;
    end -= std::min(static_cast<size_t>(run.load.concurrency), end / 2);
  }
  return summarize(run, limits, first, end);
}

std::optional<Error> ServingReader::simulate(const SimulationChoice &choice) {
  if (report.steady.load.drafts > 0)
    return Error{"", "requests with drafts are not simulated",
                 "leave out --acceptance, or the simulation"};
  auto run = std::make_shared<SimulatedRun>();
  run->load.concurrency = report.requests.concurrency;
  run->load.requests =
      choice.trace.empty()
          ? drawRequests(report.requests, choice.count, choice.seed)
          : choice.trace;
  // Of a closed loop each comes when it may.
  if (run->load.concurrency != 0)
    for (Request &request : run->load.requests)
      request.arrivalUs = 0;
  StepPrices prices(served.compiled, served.inputs.machine, served.runtime,
                    served.inputs.plan.memoryUtilization);
  prices.lay(served.layout, served.replicas);
  double capacity = report.steady.state.capacityTokens;
  auto together = static_cast<int64_t>(prices.togetherCount());
  run->result =
      autopar::simulate(prices, engineOf(served.runtime, capacity, together),
                        run->load, report.replicas / together);
  if (run->result.tooLong) {
    const Request &request = run->load.requests[*run->result.tooLong];
    return Error{"",
                 "simulated request " + std::to_string(*run->result.tooLong) +
                     " has " + formatInteger(request.promptTokens) + " + " +
                     formatInteger(request.answerTokens) +
                     " tokens, the KV cache of a replica holds " +
                     formatInteger(report.capacityTokens),
                 "shorter requests, another --seed, or more devices"};
  }
  if (run->result.refusal)
    return Error{"", "a simulated step has no price under this plan",
                 "--phase=prefill --prompt says why"};
  SimulationReport simulation;
  if (choice.trace.empty())
    simulation.seed = choice.seed;
  simulation.service = ::summarize(*run, choice, report.requests.limits);
  simulation.run = std::move(run);
  report.simulation = std::move(simulation);
  return std::nullopt;
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
  addCosts();
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
  return ServingReader(inputs, requests).run(choice);
}
