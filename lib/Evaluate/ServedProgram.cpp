//===- ServedProgram.cpp --------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ServedProgram.h"

#include "autopar/Evaluate/Pipeline.h"
#include "autopar/Evaluate/PlanLayout.h"
#include "autopar/Program/Stages.h"
#include "autopar/Support/Text.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::runtime;
using namespace autopar::serving;

static Runtime servingRuntime(const Plan &plan, const Runtime &runtime) {
  Runtime own = runtime;
  if (plan.prefillChunk == 0)
    own.cutsPrompts = false;
  else if (plan.prefillChunk)
    own.setTokenBudget(static_cast<double>(*plan.prefillChunk));
  return own;
}

ServedProgram::ServedProgram(const PlanInputs &inputs)
    : inputs(inputs), runtime(servingRuntime(inputs.plan, inputs.runtime)),
      compiled(inputs.program, launchingOf(runtime)),
      layout(layoutOf(compiled.axes(), inputs.plan)),
      replicas(replicasOf(inputs.plan)),
      server(compiled, inputs.machine, runtime, inputs.plan.memoryUtilization) {
  server.lay(layout, replicas);
}

std::optional<Error> ServedProgram::check(const PlanInputs &inputs) {
  if (!inputs.plan.pipeline.stages.empty())
    return requestsOverStages();
  if (!inputs.program.keepsTokens())
    return Error{"",
                 "'" + inputs.program.model +
                     "' keeps nothing of a sequence: it answers no requests "
                     "token by token",
                 "give --phase=prefill and a --prompt instead"};
  return checkInputs(inputs);
}

std::optional<Error> ServedProgram::checkLengths(const PlanInputs &inputs,
                                                 const Requests &requests) {
  const Positions &positions = inputs.program.positions;
  double tokens = requests.prompt.mean() + requests.answer.mean();
  if (!positions.areLearned || positions.longest == 0 ||
      tokens <= static_cast<double>(positions.longest))
    return std::nullopt;
  return Error{"",
               "requests have " + formatInteger(std::llround(tokens)) +
                   " tokens on average, the model has learned " +
                   formatInteger(positions.longest) + " positions",
               "shorter --prompt or --output-tokens"};
}

ServedLoad ServedProgram::loadOf(const Requests &requests) const {
  ServedLoad load = ServedLoad::of(requests);
  Result<std::vector<uint32_t>> layers = layersInOrder(inputs.program);
  if (!requests.draftCost && layers && !layers->empty())
    load.draftCost = 1 / static_cast<double>(layers->size());
  return load;
}

void ServedProgram::encode(const EncodedInput &input) {
  encoded = input;
  server.encode(encoded);
}

Workload ServedProgram::stepOf(double sequences, const ServedLoad &load) const {
  Workload step;
  step.phase = Phase::decode;
  step.batch = std::max<int64_t>(1, std::llround(sequences)) * replicas;
  step.query = 1 + static_cast<int64_t>(load.drafts);
  step.context = std::max<int64_t>(
      step.query, static_cast<int64_t>(load.contextTokens() + load.drafts));
  step.crossTokens = encoded.crossTokens;
  return step;
}

Error ServedProgram::explain(const Requests &requests) const {
  Workload step = stepOf(1, loadOf(requests));
  Runtime own = runtimeOf(inputs.plan, inputs.runtime, step);
  PlanInputs ofStep{inputs.program, inputs.plan, inputs.machine, own, step};
  if (auto error = checkInputs(ofStep))
    return *error;
  Strategy strategy =
      compile(inputs.program, launchingOf(own), Counting::whole, {step.phase});
  Result<std::unique_ptr<EvaluatedStep>> evaluated =
      evaluateStep(ofStep, strategy, layoutOf(ofStep));
  if (!evaluated)
    return evaluated.error();
  return {"",
          "a step of prompts of " + requests.prompt.str() +
              " tokens has no price under this plan",
          "estimate it with --phase=prefill --prompt to see why"};
}

StepPrices ServedProgram::prices() {
  StepPrices prices(compiled, inputs.machine, runtime,
                    inputs.plan.memoryUtilization);
  prices.lay(layout, replicas);
  prices.encode(encoded);
  return prices;
}

SimulatedPool ServedProgram::simulated(StepPrices &prices,
                                       double capacityTokens) const {
  auto together = static_cast<int64_t>(prices.lockStepReplicas());
  return {prices, engineOf(runtime, capacityTokens, together),
          replicas / together};
}

double ServedProgram::dollarsPerHour() const {
  return inputs.machine.price->value * static_cast<double>(layout.devices);
}

double ServedProgram::boardPowerW() const {
  return inputs.pool().chip.boardPower->value *
         static_cast<double>(layout.devices);
}

void autopar::evaluation::addCosts(
    ServiceReport &report, std::initializer_list<const ServedProgram *> all) {
  double tokensPerS = report.steady.state.outputTokensPerSecond;
  double dollarsPerHour = 0, powerW = 0;
  bool hasPrice = true, hasPower = true;
  for (const ServedProgram *served : all) {
    hasPrice = hasPrice && served->hasPrice();
    hasPower = hasPower && served->hasPower();
    dollarsPerHour += hasPrice ? served->dollarsPerHour() : 0;
    powerW += hasPower ? served->boardPowerW() : 0;
  }
  if (hasPrice)
    report.dollarsPerMillionTokens = dollarsPerHour / 3600 / tokensPerS * 1e6;
  if (hasPower)
    report.joulesPerMillionTokens = powerW / tokensPerS * 1e6;
}
