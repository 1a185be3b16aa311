//===- ExplainServing.cpp - Derivations of a service's numbers ------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Explanation.h"

#include <cmath>

using namespace autopar;
using namespace autopar::explanation;
using namespace autopar::hardware;
using namespace autopar::report;
using namespace autopar::schedule;
using namespace autopar::serving;

namespace {

/// Adds the derivations of a service's numbers. Numbers of queues refer to the
/// formulas of docs/physics.md, "Serving".
class ServingExplainer {
public:
  ServingExplainer(const Report &report, const Machine &machine)
      : machine(machine), serving(*report.serving), steady(serving.steady) {}

  Derivations run();

private:
  void add(const std::string &name, const std::string &formula,
           Explanation explanation) {
    derivations["serving." + name] = explanation.formula(formula).derivation;
  }
  Explanation withOutput() const {
    return Explanation().input("serving.requests.mean_output_tokens",
                               steady.load.answerTokens);
  }
  void explainRates();
  void explainTimes();
  void explainCache();
  void explainMoney();
  void explainQueue();

  const Machine &machine;
  const ServingReport &serving;
  const LoadPoint &steady;
  Derivations derivations;
};

} // namespace

void ServingExplainer::explainRates() {
  double requestsPerS = steady.requestsPerS();
  add("output_tokens_per_s", "requests_per_s * mean_output_tokens",
      withOutput().input("serving.requests_per_s", requestsPerS));
  add("tokens_per_s",
      "requests_per_s * (mean_prompt_tokens + mean_output_tokens)",
      withOutput()
          .input("serving.requests_per_s", requestsPerS)
          .input("serving.requests.mean_prompt_tokens",
                 steady.load.promptTokens));
  add("output_tokens_per_s_per_device", "output_tokens_per_s / devices",
      Explanation()
          .input("serving.output_tokens_per_s",
                 steady.state.outputTokensPerSecond)
          .input("mesh.devices", serving.devices));
  add("goodput_per_s", "requests_per_s * share_within_limits",
      Explanation()
          .input("serving.requests_per_s", requestsPerS)
          .input("serving.share_within_limits",
                 steady.state.shareWithinLimits));
}

void ServingExplainer::explainTimes() {
  const SteadyState &state = steady.state;
  if (!std::isfinite(steady.requestUs()))
    return;
  const FirstTokenParts &parts = state.firstToken;
  add("ttft_us.mean", "host + prompt + step + queue + sending",
      Explanation()
          .input("serving.ttft_parts_us.host", parts.hostUs,
                 "time of the server outside of steps")
          .input("serving.ttft_parts_us.prompt", parts.prefillUs,
                 "steps that prefill its own prompt")
          .input("serving.ttft_parts_us.step", parts.stepUs,
                 "rest of the step that runs when the request arrives")
          .input("serving.ttft_parts_us.queue", parts.queueUs,
                 "wait for other prompts and for free KV blocks")
          .input("serving.ttft_parts_us.sending", parts.sendUs,
                 "wait for the tokens that are sent together with the first"));
  add("request_us.mean",
      "ttft_us - sending + (mean_output_tokens - 1) * tpot_us",
      withOutput()
          .input("serving.ttft_us", state.ttftUs, "the mean")
          .input("serving.ttft_parts_us.sending", parts.sendUs)
          .input("serving.tpot_us", state.tpotUs, "the mean"));
  if (steady.load.concurrency == 0)
    return;
  add("tpot_us.mean",
      "decode_step_us / tokens_per_step + others / mean_output_tokens * "
      "added_by_prompt_us",
      withOutput()
          .input("serving.decode_step_us", state.decodeStepUs)
          .input(
              "serving.requests.tokens_per_step", steady.load.tokensPerStep,
              "one token, and each draft if all drafts before it were accepted")
          .input("serving.others", state.others,
                 "requests that step together, without those that a step "
                 "prefills; each is replaced once while a request is answered")
          .input("serving.added_by_prompt_us", state.addedByPromptUs));
}

void ServingExplainer::explainCache() {
  add("kv_share",
      "(decoding * context + reading * mean_prompt_tokens) / "
      "kv_capacity_tokens",
      Explanation()
          .input("serving.decoding", steady.state.running, "of a replica")
          .input("serving.context", steady.load.contextTokens(),
                 "prompt and half of the output; longer requests weigh more")
          .input("serving.reading", steady.state.prefilling, "of a replica")
          .input("serving.requests.mean_prompt_tokens",
                 steady.load.promptTokens)
          .input("serving.kv_capacity_tokens", serving.capacityTokens));
}

void ServingExplainer::explainMoney() {
  auto perMillion = [&] {
    return Explanation()
        .input("mesh.devices", serving.devices)
        .input("serving.output_tokens_per_s",
               steady.state.outputTokensPerSecond);
  };
  if (serving.dollarsPerMillionTokens)
    add("usd_per_million_output_tokens",
        "price * devices / 3600 / output_tokens_per_s * 1e6",
        perMillion().figure(*machine.price));
  if (serving.joulesPerMillionTokens)
    add("joules_per_million_output_tokens",
        "board_power * devices / output_tokens_per_s * 1e6",
        perMillion().figure(*machine.pools.front().chip.boardPower));
}

/// Explains numbers of the queue by a reference to their formulas, without
/// inputs.
void ServingExplainer::explainQueue() {
  auto given = [&](const std::string &name, const char *source) {
    std::string path = "serving." + name;
    if (derivations.count(path) == 0)
      derivations[path] =
          Explanation().formula("given").from(source).derivation;
  };
  const char *queue = "the steady state of the queue: docs/physics.md, Serving";
  for (const char *times : {"ttft_us", "tpot_us", "request_us"})
    for (const char *mark : {".mean", ".p50", ".p90", ".p95", ".p99"})
      given(std::string(times) + mark, queue);
  for (const char *name : {"step", "queue", "link", "sending"})
    given(std::string("ttft_parts_us.") + name, queue);
  given("ttft_parts_us.prompt", "price of the steps that prefill one prompt");
  given("ttft_parts_us.host", "request_time of the runtime");
  for (const char *name :
       {"requests_per_s", "share_within_limits", "saturates_at_per_s",
        "running", "waiting", "decoding", "reading", "prompts_per_step"})
    given(name, queue);
  for (const char *name : {"decode_step_us", "communication_us", "host_us",
                           "prompt_step_us", "added_by_prompt_us"})
    given(name, "price of a step in the steady state");
  given("replicas", "groups of devices with sequences of their own");
  given("kv_capacity_tokens", "memory.kv_capacity_tokens of a replica");
}

Derivations ServingExplainer::run() {
  explainRates();
  explainTimes();
  explainCache();
  explainMoney();
  explainQueue();
  return std::move(derivations);
}

Derivations autopar::explanation::explainService(const Report &report,
                                                 const Machine &machine) {
  return ServingExplainer(report, machine).run();
}
