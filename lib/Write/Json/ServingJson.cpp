//===- ServingJson.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonParts.h"

#include <cmath>

using namespace autopar;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::serving;
using namespace autopar::writing;
using json = nlohmann::ordered_json;

/// Returns a number; null if it is absent or infinite, as the wait in a queue
/// that grows.
static json number(std::optional<double> value) {
  return value && std::isfinite(*value) ? json(*value) : json();
}

/// Returns the rate or the concurrency of requests, or of a point of a load
/// curve.
template <typename Load>
static json writeCount(const Load &load) {
  if (load.concurrency == 0)
    return {{"rate_per_s", load.ratePerS}};
  return {{"concurrency", load.concurrency}};
}

static json writeRequests(const Requests &requests) {
  json written = writeCount(requests);
  written["prompt_tokens"] = requests.prompt.str();
  written["output_tokens"] = requests.answer.str();
  for (const RequestKnob &knob : requestKnobs()) {
    std::vector<double> numbers = knob.get(requests);
    if (!numbers.empty())
      written[knob.reportKey] =
          knob.isList ? json(numbers) : json(numbers.front());
  }
  written["ttft_limit_us"] = number(requests.limits.ttftUs);
  written["tpot_limit_us"] = number(requests.limits.tpotUs);
  return written;
}

static json writeTimes(std::optional<double> meanUs, const Percentiles &times,
                       bool isOverloaded) {
  json written = {{"mean", number(meanUs)}};
  if (!isOverloaded && times.p50 > 0) {
    written["p50"] = times.p50;
    written["p90"] = times.p90;
    written["p95"] = times.p95;
    written["p99"] = times.p99;
  }
  return written;
}

/// Returns the outcome of a load: what requests of this load see.
static json writeOutcome(const LoadPoint &point) {
  const SteadyState &state = point.state;
  json written = json::object();
  written["requests_per_s"] = point.requestsPerS();
  written["output_tokens_per_s"] = state.outputTokensPerSecond;
  written["share_within_limits"] = state.shareWithinLimits;
  written["goodput_per_s"] = point.goodputPerS();
  written["ttft_us"] = writeTimes(state.ttftUs, state.ttft, state.isOverloaded);
  // An answer of one token has no time per further token.
  written["tpot_us"] =
      point.load.answerTokens > 1
          ? writeTimes(state.tpotUs, state.tpot, state.isOverloaded)
          : json{{"mean", nullptr}};
  written["request_us"] =
      writeTimes(point.requestUs(), state.request, state.isOverloaded);
  return written;
}

static json writePoint(const LoadPoint &point) {
  json written = writeCount(point.load);
  written.update(writeOutcome(point));
  return written;
}

static json writeCurve(const LoadCurve &curve) {
  json points = json::array();
  for (const LoadPoint &point : curve.points)
    points.push_back(writePoint(point));
  return {{"points", std::move(points)},
          {"asked", curve.asked ? json(*curve.asked) : json()},
          {"knee", curve.knee},
          {"attainment", LoadCurve::attainment},
          {"most_within_limits", curve.mostWithinLimits
                                     ? writePoint(*curve.mostWithinLimits)
                                     : json()}};
}

static json writeMeasured(const MeasuredTimes &times) {
  return writeTimes(times.mean > 0 ? std::optional(times.mean) : std::nullopt,
                    times.at, /*isOverloaded=*/false);
}

static json writeSimulation(const SimulationReport &simulation) {
  const SimulatedService &service = simulation.service;
  return {{"seed", simulation.seed ? json(*simulation.seed) : json()},
          {"requests", service.requests},
          {"counted", service.counted},
          {"steps", service.steps},
          {"evictions", service.evictions},
          {"seconds", service.seconds},
          {"requests_per_s", service.requestsPerS},
          {"output_tokens_per_s", service.outputTokensPerS},
          {"share_within_limits", service.shareWithinLimits},
          {"ttft_us", writeMeasured(service.ttft)},
          {"tpot_us", writeMeasured(service.tpot)},
          {"request_us", writeMeasured(service.request)}};
}

static json writeFirstToken(const FirstTokenParts &parts) {
  return {{"host", parts.hostUs}, {"prompt", parts.prefillUs},
          {"step", parts.stepUs}, {"queue", parts.queueUs},
          {"link", parts.moveUs}, {"sending", parts.sendUs}};
}

/// Returns the last members of a service's report, which services of one module
/// and of two modules share.
static json writeCostsAndCurve(const ServiceReport &service) {
  const SteadyState &state = service.steady.state;
  json written = {{"ttft_parts_us", state.isOverloaded
                                        ? json()
                                        : writeFirstToken(state.firstToken)},
                  {"usd_per_million_output_tokens",
                   number(service.dollarsPerMillionTokens)},
                  {"joules_per_million_output_tokens",
                   number(service.joulesPerMillionTokens)},
                  {"load_curve", writeCurve(service.curve)}};
  if (service.simulation)
    written["simulation"] = writeSimulation(*service.simulation);
  return written;
}

json autopar::writing::writeServing(const ServingReport &serving) {
  json written = {{"requests", writeRequests(serving.requests)},
                  {"served", serving.isServed},
                  {"replicas", serving.replicas},
                  {"kv_capacity_tokens", serving.capacityTokens}};
  if (!serving.isServed)
    return written;
  const SteadyState &state = serving.steady.state;
  written["overloaded"] = state.isOverloaded;
  written.update(writeOutcome(serving.steady));
  written["output_tokens_per_s_per_device"] =
      state.outputTokensPerSecond / static_cast<double>(serving.devices);
  written["tokens_per_s"] =
      serving.steady.requestsPerS() * serving.steady.load.requestTokens();
  if (serving.steady.load.concurrency == 0) {
    written["saturates_at_per_s"] = state.mostPerS;
    written["fills_room"] = state.fillsRoom;
  }
  written["running"] = serving.running();
  written["waiting"] = number(
      state.isOverloaded ? std::nullopt : std::optional(serving.waiting()));
  written["kv_share"] = serving.cacheShare();
  written["decode_step_us"] = state.decodeStepUs;
  written["communication_us"] = state.communicationUs;
  written["host_us"] = state.hostUs;
  written["prompt_step_us"] = state.promptStepUs;
  written["added_by_prompt_us"] = state.addedByPromptUs;
  written["prompts_per_step"] = state.promptsPerStep;
  written.update(writeCostsAndCurve(serving));
  return written;
}

json autopar::writing::writePools(const PoolsReport &pools) {
  json written = {{"prefill", pools.prefill},
                  {"decode", pools.decode},
                  {"requests", writeRequests(pools.requests)},
                  {"served", pools.isServed},
                  {"kv_capacity_tokens", pools.capacityTokens}};
  if (!pools.isServed)
    return written;
  const SteadyState &state = pools.steady.state;
  written["overloaded"] = state.isOverloaded;
  written.update(writeOutcome(pools.steady));
  written["saturates_at_per_s"] = state.mostPerS;
  written["prefill_most_per_s"] = pools.prefillMostPerS;
  written["decode_most_per_s"] = pools.decodeMostPerS;
  written["links_most_per_s"] = number(pools.linksPerS);
  written["transfer_us"] = pools.transferUs;
  written["reading"] = number(pools.reading);
  written["running"] = pools.running();
  written["decode_step_us"] = state.decodeStepUs;
  written.update(writeCostsAndCurve(pools));
  return written;
}
