//===- Simulate.cpp - Requests of a report, one by one --------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ServedProgram.h"

#include "autopar/Program/RequestTrace.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::evaluation;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::serving;

/// Returns the number of requests in the system when the last request arrives.
static size_t insideAtEnd(const SimulatedRun &run) {
  if (run.load.concurrency != 0)
    return static_cast<size_t>(run.load.concurrency);
  const std::vector<ServedRequest> &served = run.result.requests;
  double lastUs = served.back().arrivalUs;
  return static_cast<size_t>(std::count_if(
      served.begin(), served.end(),
      [&](const ServedRequest &one) { return one.endUs > lastUs; }));
}

/// Summarises the measured requests. For drawn requests the first quarter is
/// left out (warm-up), and as many of the last requests as are in the system at
/// the end (cool-down). A trace counts as a whole.
static SimulatedService summarize(const SimulatedRun &run,
                                  const SimulationChoice &choice,
                                  const ServiceLimits &limits) {
  size_t first = 0, end = run.load.requests.size();
  if (choice.trace.empty() && end >= 8) {
    first = end / 4;
    end -= std::min(insideAtEnd(run), end / 2);
  }
  return summarize(run, limits, first, end);
}

/// Spreads the first requests of a closed loop evenly over the time of one
/// request. Otherwise requests of equal length would begin and end in lock
/// step.
static void spreadFirst(const ServiceReport &report, SimulatedLoad &load) {
  auto places = static_cast<size_t>(load.concurrency);
  double us = report.steady.requestUs() / static_cast<double>(places);
  for (size_t i = 0; i < load.requests.size(); ++i)
    load.requests[i].arrivalUs = i < places ? static_cast<double>(i) * us : 0;
}

std::optional<Error> autopar::evaluation::addSimulation(
    ServiceReport &report, const SimulationChoice &choice,
    const std::function<SimulationResult(const SimulatedLoad &)> &simulate) {
  if (report.steady.load.drafts > 0)
    return Error{"", "requests with drafts are not simulated",
                 "leave out --acceptance, or the simulation"};
  auto run = std::make_shared<SimulatedRun>();
  run->load.concurrency = report.requests.concurrency;
  run->load.requests =
      choice.trace.empty()
          ? drawRequests(report.requests, choice.count, choice.seed)
          : choice.trace;
  if (run->load.concurrency != 0)
    spreadFirst(report, run->load);
  run->result = simulate(run->load);
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
  if (run->result.isCut)
    return Error{"",
                 "the simulation takes more than " +
                     formatInteger(limits::maxSimulatedSteps) +
                     " steps of an engine",
                 "fewer requests, or shorter output: --simulate=1000"};
  if (run->result.refusal)
    return Error{"", "a simulated step has no price under this plan",
                 "estimate it with --phase=prefill --prompt to see why"};
  SimulationReport simulation;
  if (choice.trace.empty())
    simulation.seed = choice.seed;
  simulation.service = ::summarize(*run, choice, report.requests.limits);
  simulation.run = std::move(run);
  report.simulation = std::move(simulation);
  return std::nullopt;
}
