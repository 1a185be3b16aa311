//===- ServingText.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TextParts.h"

#include "autopar/Support/Text.h"
#include "autopar/Support/TextStyle.h"
#include "autopar/Support/TextTables.h"
#include "autopar/Write/MoneyText.h"
#include "autopar/Write/Phrases.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;
using namespace autopar::serving;
using namespace autopar::writing;

static std::string timeText(double us) {
  return std::isfinite(us) ? formatTime(us) : "unbounded";
}

/// Returns a rate with three significant digits, even if it is small.
static std::string rateText(double rate) {
  return rate < 100 ? print("%.3g", rate) : formatRate(rate);
}

static std::string limitsText(const ServiceLimits &limits) {
  std::vector<std::string> words;
  if (limits.ttftUs)
    words.push_back("TTFT <= " + formatTime(*limits.ttftUs));
  if (limits.tpotUs)
    words.push_back("TPOT <= " + formatTime(*limits.tpotUs));
  return join(words, ", ");
}

static std::string loadText(const ServedLoad &load) {
  return load.concurrency == 0
             ? rateText(load.ratePerS) + " requests/s"
             : countOf(load.concurrency, "request") + " at once";
}

/// Returns lengths as the user wrote them; for the histogram of a trace, their
/// mean.
static std::string lengthsText(const TokenLengths &lengths) {
  return lengths.isHistogram()
             ? countOf(std::llround(lengths.mean()), "token") + " on average"
             : lengths.str() + " tokens";
}

std::string autopar::writing::serviceText(const ServiceReport &serving) {
  const Requests &requests = serving.requests;
  std::string text = loadText(serving.steady.load) + ", prompts of " +
                     lengthsText(requests.prompt) + ", output of " +
                     lengthsText(requests.answer);
  if (requests.cachedShare > 0)
    text += ", " + percent(requests.cachedShare, 1) + " of prompts cached";
  const ServedLoad &load = serving.steady.load;
  if (load.drafts > 0)
    text += ", " + print("%g", load.drafts) +
            (load.drafts == 1 ? " draft" : " drafts") + " and " +
            print("%.3g", load.tokensPerStep) + " tokens per sequence and step";
  return text;
}

static std::string headingOf(const ServiceReport &service) {
  return wrapText("", "Service: " + serviceText(service));
}

static std::string answerServed(const ServiceReport &serving) {
  const LoadPoint &steady = serving.steady;
  const SteadyState &state = steady.state;
  if (steady.load.concurrency != 0)
    return rateText(steady.requestsPerS()) + " requests/s";
  std::string most = rateText(state.mostPerS) + " requests/s";
  if (state.isOverloaded)
    return "NO: saturates at " + most + ", the queue never empties";
  return "yes, at " + percent(steady.load.ratePerS, state.mostPerS) +
         " of its saturation rate, " + most;
}

static std::string answerLimits(const ServiceReport &serving) {
  const LoadPoint &steady = serving.steady;
  const auto &most = serving.curve.mostWithinLimits;
  std::string attainment = percent(LoadCurve::attainment, 1);
  std::string text = percent(steady.state.shareWithinLimits, 1) +
                     " of requests meet " +
                     limitsText(serving.requests.limits) + ": " +
                     rateText(steady.goodputPerS()) + " requests/s";
  return text + (most ? "; " + attainment + " do up to " + loadText(most->load)
                      : "; " + attainment + " do at no load");
}

static std::string answerRunning(const ServiceReport &serving) {
  const SteadyState &state = serving.steady.state;
  std::string text = rateText(serving.running()) + " requests";
  if (serving.replicas > 1)
    text += " (" + rateText(state.running + state.prefilling) + " on each of " +
            formatInteger(serving.replicas) + " replicas)";
  if (!state.isOverloaded && serving.waiting() >= 0.05)
    text += ", " + rateText(serving.waiting()) + " wait for room";
  text += ", KV cache " + percent(serving.cacheShare(), 1) + " full";
  return state.fillsRoom
             ? text + "; times leave out longer waits for room: see --simulate"
             : text;
}

static std::string answerSteps(const ServiceReport &serving) {
  const SteadyState &state = serving.steady.state;
  return "decode " + formatTime(state.decodeStepUs) + " (communication " +
         percent(state.communicationUs, state.decodeStepUs) + ", host " +
         percent(state.hostUs, state.decodeStepUs) + "), a prompt adds " +
         formatTime(state.addedByPromptUs);
}

/// Returns the parts of TTFT: "host 13.2 ms, its prompt 97.0 ms", without parts
/// of 0.
static std::string answerFirstToken(const FirstTokenParts &parts) {
  std::vector<std::string> words;
  auto add = [&](const char *name, double us) {
    if (us >= 0.5)
      words.push_back(name + (" " + formatTime(us)));
  };
  add("host", parts.hostUs);
  add("prefill", parts.prefillUs);
  add("rest of the running step", parts.stepUs);
  add("queue", parts.queueUs);
  add("link", parts.moveUs);
  add("tokens sent with it", parts.sendUs);
  return join(words, ", ");
}

static std::string throughputText(const ServiceReport &service) {
  const LoadPoint &steady = service.steady;
  double tokensPerS = steady.state.outputTokensPerSecond;
  return rateText(tokensPerS) + " output tokens/s, " +
         rateText(tokensPerS / static_cast<double>(service.devices)) +
         " per device; " +
         rateText(steady.requestsPerS() * steady.load.requestTokens()) +
         " with prompts";
}

static void addAnswers(const ServiceReport &service, TextTable &table) {
  table.add({"serves", answerServed(service)});
  if (service.hasLimits())
    table.add({"within limits", answerLimits(service)});
  table.add({"throughput", throughputText(service)});
  table.add({"running", answerRunning(service)});
  if (!service.steady.state.isOverloaded)
    table.add(
        {"first token", answerFirstToken(service.steady.state.firstToken)});
}

static void addCosts(const ServiceReport &service, TextTable &table) {
  if (service.dollarsPerMillionTokens)
    table.add({"price", dollarText(*service.dollarsPerMillionTokens) +
                            " per million output tokens"});
  if (service.joulesPerMillionTokens)
    table.add({"energy", "at most " +
                             energyText(*service.joulesPerMillionTokens / 1e6) +
                             " per output token"});
}

static std::string answer(const ServingReport &serving) {
  TextTable table("lw");
  addAnswers(serving, table);
  table.add({"steps", answerSteps(serving)});
  addCosts(serving, table);
  return table.str();
}

/// Writes the rate of each pool, and the ratio of pools that would be balanced.
static std::string answer(const PoolsReport &pools) {
  TextTable table("lw");
  addAnswers(pools, table);
  auto add = [&](const char *name, const std::string &what, double mostPerS) {
    table.add({name, what + "at most " + rateText(mostPerS) + " requests/s"});
  };
  add("prefill", "@" + pools.prefill + ": ", pools.prefillMostPerS);
  add("decode", "@" + pools.decode + ": ", pools.decodeMostPerS);
  if (std::isfinite(pools.linksPerS))
    add("links", "", pools.linksPerS);
  double ratio = pools.decodeMostPerS / pools.prefillMostPerS;
  const std::string &more = ratio >= 1 ? pools.prefill : pools.decode;
  const std::string &fewer = ratio >= 1 ? pools.decode : pools.prefill;
  table.add({"balance", rateText(std::max(ratio, 1 / ratio)) + " of @" + more +
                            " for each @" + fewer});
  table.add({"transfer",
             formatTime(pools.transferUs) + " per request, for its caches"});
  addCosts(pools, table);
  return table.str();
}

/// Returns a cell of the table: the time, or "-" for 0.
static std::string cellOf(double us) { return us > 0 ? formatTime(us) : "-"; }

static std::string timesTable(const ServiceReport &service) {
  const auto &simulation = service.simulation;
  const LoadPoint &steady = service.steady;
  const SteadyState &state = steady.state;
  TextTable table("lrrrrr");
  table.add({"", "mean", "p50", "p90", "p95", "p99"});
  auto add = [&](const char *name, double mean, const Percentiles &times) {
    table.add({name, timeText(mean), cellOf(times.p50), cellOf(times.p90),
               cellOf(times.p95), cellOf(times.p99)});
  };
  auto addBoth = [&](const char *name, double mean, const Percentiles &times,
                     MeasuredTimes SimulatedService::*simulated) {
    add(name, mean, times);
    if (!simulation)
      return;
    const MeasuredTimes &measured = simulation->service.*simulated;
    add("  simulated", measured.mean, measured.at);
  };
  addBoth("time to first token (TTFT)", state.ttftUs, state.ttft,
          &SimulatedService::ttft);
  if (steady.load.answerTokens > 1)
    addBoth("time per output token (TPOT)", state.tpotUs, state.tpot,
            &SimulatedService::tpot);
  addBoth("whole request", steady.requestUs(), state.request,
          &SimulatedService::request);
  return "\n" + table.str();
}

/// Writes the simulated requests, "Simulated: 10,000 requests of seed 1 in
/// 2,041 s, 7,500 of them counted", and their times.
static std::string simulationText(const ServiceReport &serving) {
  if (!serving.simulation)
    return "";
  const SimulatedService &service = serving.simulation->service;
  const auto &seed = serving.simulation->seed;
  std::string text =
      "Simulated: " + countOf(service.requests, "request") +
      (seed ? " with seed " + std::to_string(*seed) : " of the trace") +
      " in " + formatTime(service.seconds * 1e6) + " and " +
      countOf(service.steps, "step");
  if (service.counted < service.requests)
    text += ", of which " + formatInteger(service.counted) + " are counted";
  text += ": " + rateText(service.requestsPerS) + " requests/s, " +
          formatRate(service.outputTokensPerS) + " output tokens/s";
  if (serving.hasLimits())
    text += ", " + percent(service.shareWithinLimits, 1) + " within limits";
  if (service.evictions > 0)
    text += ", " + countOf(service.evictions, "preemption");
  return wrapText("  ", text);
}

static std::string curveTable(const ServiceReport &serving) {
  const LoadCurve &curve = serving.curve;
  bool isOpen = serving.isOpen(), hasLimits = serving.hasLimits();
  TextTable table("rrrrrrrl");
  table.add({isOpen ? "requests/s" : "at once",
             isOpen ? "running" : "requests/s", "output tokens/s", "TPOT",
             "TTFT", "p99 TTFT", hasLimits ? "within limits" : "", ""});
  for (size_t i = 0; i < curve.points.size(); ++i) {
    const LoadPoint &point = curve.points[i];
    const SteadyState &state = point.state;
    std::vector<std::string> marks;
    if (curve.asked == i)
      marks.push_back("asked");
    if (curve.knee == i)
      marks.push_back("knee");
    table.add(
        {isOpen ? rateText(point.load.ratePerS)
                : formatInteger(point.load.concurrency),
         rateText(isOpen ? state.running * static_cast<double>(serving.replicas)
                         : point.requestsPerS()),
         rateText(state.outputTokensPerSecond), formatTime(state.tpotUs),
         formatTime(state.ttftUs), cellOf(state.ttft.p99),
         hasLimits ? percent(state.shareWithinLimits, 1) : "",
         join(marks, ", ")});
  }
  return "\nLoad curve\n" + table.str() +
         wrapText("  ", "Knee: the load at which throughput over request time "
                        "is highest.");
}

/// Returns a text about why no request runs. If answers vary much, the mean
/// request in the running batch is longer than the mean of all requests.
static std::string refusalText(const ServiceReport &service) {
  const ServedLoad &load = service.steady.load;
  double all = load.requestTokens(), running = load.contextTokens();
  return wrapText(
      "  ", "NO: the KV cache of a replica holds " +
                formatInteger(service.capacityTokens) + " tokens, a " +
                (running > all ? "running request has " : "request has ") +
                formatInteger(std::llround(std::max(all, running))) +
                " on average");
}

std::string autopar::writing::servingAnswer(const ServingReport &serving) {
  std::string heading = "\n" + headingOf(serving);
  if (!serving.isServed)
    return heading + refusalText(serving);
  return heading + answer(serving) + timesTable(serving);
}

std::string autopar::writing::servingText(const ServingReport &serving) {
  std::string text = servingAnswer(serving);
  if (!serving.isServed)
    return text;
  return text + simulationText(serving) + curveTable(serving);
}

std::string autopar::writing::poolsText(const PoolsReport &pools) {
  if (!pools.isServed)
    return headingOf(pools) + refusalText(pools);
  std::string text = headingOf(pools) + answer(pools) + timesTable(pools);
  if (TextStyleScope::current().brief)
    return text;
  return text + simulationText(pools) + curveTable(pools);
}
