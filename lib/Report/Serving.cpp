//===- Serving.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reading.h"

#include "autopar/Program/RequestTrace.h"
#include "autopar/Report/Money.h"
#include "autopar/Report/PlanLayout.h"
#include "autopar/Serving/Server.h"
#include "autopar/Serving/Simulation.h"
#include "autopar/Support/Text.h"

#include <algorithm>
#include <cmath>

using namespace autopar;

/// `runtime` with the chunks of prompts that the plan asks for.
static Runtime servingRuntime(const Plan &plan, const Runtime &runtime) {
  Runtime own = runtime;
  if (plan.prefillChunk == 0)
    own.cutsPrompts = false;
  else if (plan.prefillChunk)
    own.setTokenBudget(static_cast<double>(*plan.prefillChunk));
  return own;
}

namespace {

class ServingReader {
public:
  ServingReader(const CostProgram &program, const Plan &plan,
                const Machine &machine, const Runtime &given,
                const Requests &requests)
      : plan(plan), machine(machine), runtime(servingRuntime(plan, given)),
        compiled(program, launchingOf(runtime)),
        server(compiled, machine, runtime, plan.memoryUtilization) {
    report.requests = requests;
    report.replicas = replicasOf(plan);
    report.steady.load = ServedLoad::of(requests);
  }

  Result<ServingReport> run(const CostProgram &program,
                            const SimulationChoice *choice);

private:
  std::optional<Error> simulate(const SimulationChoice &choice);
  Error explain(const CostProgram &program) const;
  void setStep(double sequences);
  void addCosts();

  const Plan &plan;
  const Machine &machine;
  Runtime runtime;
  CompiledProgram compiled;
  Server server;
  ServingReport report;
};

} // namespace

/// Of `sequences` sequences of each replica.
void ServingReader::setStep(double sequences) {
  report.step.phase = Phase::decode;
  report.step.batch =
      std::max<int64_t>(1, std::llround(sequences)) * report.replicas;
  report.step.context = std::max<int64_t>(
      1, static_cast<int64_t>(report.steady.load.contextTokens()));
}

/// Why a step has no price: as its own report says it, where that does.
Error ServingReader::explain(const CostProgram &program) const {
  Result<Report> step = evaluate(program, plan, machine, runtime, report.step);
  if (!step)
    return step.error();
  return {"",
          "a step of prompts of " + report.requests.prompt.str() +
              " tokens has no price under this plan",
          "--phase=prefill --prompt says why"};
}

void ServingReader::addCosts() {
  double tokensPerS = report.steady.state.outputTokensPerSecond;
  if (machine.price)
    report.dollarsPerMillionTokens = dollarsPerMillionTokens(
        machine.price->value, report.devices, tokensPerS);
  if (const auto &power = machine.pools.front().chip.boardPower)
    report.joulesPerMillionTokens =
        power->value * static_cast<double>(report.devices) / tokensPerS * 1e6;
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
  StepPrices prices(compiled, machine, runtime, plan.memoryUtilization);
  prices.lay(layoutOf(compiled.axes(), plan), report.replicas);
  double capacity = report.steady.state.capacityTokens;
  auto together = static_cast<int64_t>(prices.togetherCount());
  run->result = autopar::simulate(prices, engineOf(runtime, capacity, together),
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

Result<ServingReport> ServingReader::run(const CostProgram &program,
                                         const SimulationChoice *choice) {
  setStep(1);
  Layout layout = layoutOf(compiled.axes(), plan);
  report.devices = layout.devices;
  server.lay(layout, report.replicas);
  LoadPoint &steady = report.steady;
  ServingRefusal refusal = server.serve(steady.load, steady.state);
  report.capacityTokens = static_cast<int64_t>(steady.state.capacityTokens);
  if (refusal.kind == ServingRefusal::Kind::capacity)
    return std::move(report);
  if (!refusal)
    refusal = findLoadCurve(server, steady, report.curve);
  if (refusal)
    return explain(program);
  report.isServed = true;
  setStep(steady.state.running);
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
  if (!plan.pipeline.stages.empty())
    return Error{"", "requests over pipeline stages are not modelled",
                 "leave out --stage-pp, or the requests"};
  Workload one;
  PlanInputs inputs{program, plan, machine, runtime, one};
  if (auto error = checkInputs(inputs))
    return *error;
  return ServingReader(program, plan, machine, runtime, requests)
      .run(program, choice);
}
