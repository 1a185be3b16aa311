//===- SteadyState.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Serving/SteadyState.h"

#include <algorithm>
#include <cmath>

using namespace autopar;

static constexpr double picosecondsPerUs = 1e6;

Server::Server(CompiledProgram &program, const Machine &machine,
               const Runtime &runtime, std::optional<double> memoryUtilization)
    : runtime(runtime),
      pricer(program.serving(), machine, runtime, memoryUtilization) {}

void Server::lay(const Layout &layout, int64_t count) {
  replicas = static_cast<double>(count);
  laid = pricer.lay(layout);
}

ServingRefusal Server::price(double decoding, double context, double prompts,
                             double promptTokens, Step &step) {
  std::vector<GroupValues> groups = {
      {decoding * replicas, 1, context, 0, 0},
      {prompts * replicas, promptTokens, promptTokens, 0, 0}};
  double outputs[servingOutputCount];
  if (Refusal refusal = pricer.price(groups, outputs))
    return {ServingRefusal::Kind::step, refusal};
  auto output = [&](ServingOutput which) {
    return outputs[static_cast<size_t>(which)];
  };
  step.us = output(ServingOutput::step_ps) / picosecondsPerUs;
  step.hostUs = output(ServingOutput::host_ps) / picosecondsPerUs;
  step.communicationUs =
      output(ServingOutput::communication_ps) / picosecondsPerUs;
  step.capacityTokens = output(ServingOutput::kv_capacity_tokens);
  step.flops = output(ServingOutput::flops);
  return {};
}

/// Prompts in steps of whole ones, as many as the budget holds; then a step for
/// each token of the answers but the first.
ServingRefusal Server::runBatch(const ClosedLoop &batch,
                                double &tokensPerSecond) {
  if (laid)
    return {ServingRefusal::Kind::step, laid};
  double sequences = static_cast<double>(batch.concurrency) / replicas;
  double prompt = std::round(batch.promptTokens);
  double context = std::round(batch.promptTokens + batch.answerTokens / 2);
  double together =
      std::clamp(std::floor(runtime.tokenBudget.value / batch.promptTokens),
                 1.0, std::max(1.0, sequences));
  Step decode, fill;
  if (auto refusal = price(sequences, context, 0, prompt, decode))
    return refusal;
  if (auto refusal = price(0, context, together, prompt, fill))
    return refusal;
  if (decode.capacityTokens <
      sequences * (batch.promptTokens + batch.answerTokens))
    return {ServingRefusal::Kind::capacity};
  double us = std::ceil(sequences / together) * fill.us +
              (batch.answerTokens - 1) * decode.us;
  tokensPerSecond =
      1e6 * static_cast<double>(batch.concurrency) * batch.answerTokens / us;
  return {};
}

ServingRefusal Server::count(double promptTokens, double answerTokens,
                             ServingFlops &flops) {
  if (laid)
    return {ServingRefusal::Kind::step, laid};
  double prompt = std::round(promptTokens);
  Step decode, fill;
  if (auto refusal =
          price(1, std::round(promptTokens + answerTokens / 2), 0, 1, decode))
    return refusal;
  if (auto refusal = price(0, 1, 1, prompt, fill))
    return refusal;
  flops = {decode.flops / replicas, fill.flops / replicas,
           static_cast<int64_t>(decode.capacityTokens)};
  return {};
}

/// Requests end at random steps, one in `answerTokens` of those that run, and
/// others come in their place: of Poisson's law, how many come where any does.
/// No more than the budget of a step holds, and one where it holds none whole.
double Server::promptsPerStep(const ClosedLoop &load, double running) const {
  double ends = running / load.answerTokens;
  double come = ends / -std::expm1(-ends);
  double most = std::floor(runtime.tokenBudget.value / load.promptTokens);
  return std::max(1.0, std::min({come, most, running}));
}

/// Steps have whole prompts: what is between two of them is on a line.
ServingRefusal Server::priceWithPrompts(double decoding, double context,
                                        double prompts, double promptTokens,
                                        Step &step) {
  double fewer = std::floor(prompts), share = prompts - fewer;
  Step more;
  if (auto refusal = price(decoding, context, fewer, promptTokens, step))
    return refusal;
  if (share == 0)
    return {};
  if (auto refusal = price(decoding, context, fewer + 1, promptTokens, more))
    return refusal;
  step.us += share * (more.us - step.us);
  step.hostUs += share * (more.hostUs - step.hostUs);
  return {};
}

ServingRefusal Server::serve(const ClosedLoop &load, SteadyState &state) {
  if (laid)
    return {ServingRefusal::Kind::step, laid};
  double prompt = std::round(load.promptTokens);
  double longest = load.promptTokens + load.answerTokens;
  double context = std::round(load.promptTokens + load.answerTokens / 2);
  double wanted = std::max(
      1.0, std::ceil(static_cast<double>(load.concurrency) / replicas));
  Step one, decode, withPrompts;
  if (auto refusal = price(1, context, 0, prompt, one))
    return refusal;
  state.capacityTokens = one.capacityTokens;
  double room = std::floor(one.capacityTokens / longest);
  if (room < 1)
    return {ServingRefusal::Kind::capacity};
  state.running = std::min({wanted, room, runtime.maxSequences.value});
  state.isCacheFull = room < wanted;
  state.promptsPerStep = promptsPerStep(load, state.running);
  if (auto refusal = price(state.running, context, 0, prompt, decode))
    return refusal;
  double beside = runtime.fusesPrompts ? state.running : 0;
  if (auto refusal = priceWithPrompts(beside, context, state.promptsPerStep,
                                      prompt, withPrompts))
    return refusal;
  state.decodeStepUs = decode.us;
  state.communicationUs = decode.communicationUs;
  state.hostUs = decode.hostUs;
  state.promptStepUs =
      withPrompts.hostUs + runtime.promptStepUs.value +
      runtime.promptStepShare.value * (withPrompts.us - withPrompts.hostUs);
  double added = state.promptStepUs - (runtime.fusesPrompts ? decode.us : 0);
  state.addedByPromptUs = std::max(0.0, added) / state.promptsPerStep;
  // While a request answers, each of the others is replaced once.
  double others = std::max(0.0, state.running - state.promptsPerStep);
  state.tpotUs =
      state.decodeStepUs + others / load.answerTokens * state.addedByPromptUs;
  state.ttftUs = state.promptStepUs + state.decodeStepUs / 2;
  double waits =
      static_cast<double>(load.concurrency) / replicas / state.running - 1;
  state.ttftUs += std::max(0.0, waits) * load.answerTokens * state.tpotUs;
  double request = state.ttftUs + (load.answerTokens - 1) * state.tpotUs;
  state.outputTokensPerSecond =
      1e6 * static_cast<double>(load.concurrency) * load.answerTokens / request;
  return {};
}
