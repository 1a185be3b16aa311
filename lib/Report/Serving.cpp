//===- Serving.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reading.h"

#include "autopar/Report/Money.h"
#include "autopar/Report/PlanLayout.h"
#include "autopar/Serving/Server.h"

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

  Result<ServingReport> run(const CostProgram &program);

private:
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
  report.step.batch = std::max<int64_t>(1, std::llround(sequences)) *
                      report.replicas;
  report.step.context = std::max<int64_t>(
      1, static_cast<int64_t>(report.steady.load.contextTokens()));
}

/// Why a step has no price: as its own report says it, where that does.
Error ServingReader::explain(const CostProgram &program) const {
  Result<Report> step =
      evaluate(program, plan, machine, runtime, report.step);
  if (!step)
    return step.error();
  return {"", "a step of prompts of " + report.requests.prompt.str() +
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

Result<ServingReport> ServingReader::run(const CostProgram &program) {
  setStep(1);
  Layout layout = layoutOf(compiled.axes(), plan);
  report.devices = layout.devices;
  server.lay(layout, report.replicas);
  LoadPoint &steady = report.steady;
  ServingRefusal refusal = server.serve(steady.load, steady.state);
  report.capacityTokens =
      static_cast<int64_t>(steady.state.capacityTokens);
  if (refusal.kind == ServingRefusal::Kind::capacity)
    return std::move(report);
  if (!refusal)
    refusal = findLoadCurve(server, steady, report.curve);
  if (refusal)
    return explain(program);
  report.isServed = true;
  setStep(steady.state.running);
  addCosts();
  return std::move(report);
}

Result<ServingReport> autopar::evaluateServing(const CostProgram &program,
                                               const Plan &plan,
                                               const Machine &machine,
                                               const Runtime &runtime,
                                               const Requests &requests) {
  if (!plan.pipeline.stages.empty())
    return Error{"", "requests over pipeline stages are not modelled",
                 "leave out --stage-pp, or the requests"};
  Workload one;
  PlanInputs inputs{program, plan, machine, runtime, one};
  if (auto error = checkInputs(inputs))
    return *error;
  return ServingReader(program, plan, machine, runtime, requests).run(program);
}
