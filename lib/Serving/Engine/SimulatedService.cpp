//===- SimulatedService.cpp -----------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Serving/SimulatedService.h"

#include "autopar/Serving/Simulation.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace autopar;
using namespace autopar::program;
using namespace autopar::serving;
using json = nlohmann::ordered_json;

MeasuredTimes MeasuredTimes::of(std::vector<double> times) {
  if (times.empty())
    return {};
  std::sort(times.begin(), times.end());
  auto at = [&](double share) {
    double rank = std::ceil(share * static_cast<double>(times.size()));
    return times[static_cast<size_t>(std::max(1.0, rank)) - 1];
  };
  double sum = std::accumulate(times.begin(), times.end(), 0.0);
  return {sum / static_cast<double>(times.size()),
          {at(0.5), at(0.9), at(0.95), at(0.99)}};
}

double autopar::serving::ttftUs(const ServedRequest &served) {
  return served.firstTokenUs - served.arrivalUs;
}

std::optional<double> autopar::serving::tpotUs(const Request &request,
                                               const ServedRequest &served) {
  if (request.answerTokens < 2)
    return std::nullopt;
  return (served.endUs - served.madeUs) /
         static_cast<double>(request.answerTokens - 1);
}

SimulatedService autopar::serving::summarize(const SimulatedRun &run,
                                             const ServiceLimits &limits,
                                             size_t first, size_t end) {
  const auto &[load, result] = run;
  SimulatedService service;
  service.requests = static_cast<int64_t>(load.requests.size());
  service.steps = result.steps;
  service.seconds = result.endUs / 1e6;
  service.counted = static_cast<int64_t>(end - first);
  double fromUs = result.requests[first].arrivalUs,
         toUs = result.requests[end - 1].arrivalUs;
  std::vector<double> ttfts, tpots, requests;
  double ended = 0, tokens = 0, within = 0;
  for (size_t i = 0; i < load.requests.size(); ++i) {
    const ServedRequest &served = result.requests[i];
    service.evictions += served.evictions;
    if (served.endUs > fromUs && served.endUs <= toUs) {
      ++ended;
      tokens += static_cast<double>(load.requests[i].answerTokens);
    }
    if (i < first || i >= end)
      continue;
    double ttft = ttftUs(served);
    std::optional<double> tpot = tpotUs(load.requests[i], served);
    ttfts.push_back(ttft);
    if (tpot)
      tpots.push_back(*tpot);
    requests.push_back(served.endUs - served.arrivalUs);
    bool isLate = limits.ttftUs && ttft > *limits.ttftUs;
    bool isSlow = limits.tpotUs && tpot && *tpot > *limits.tpotUs;
    within += isLate || isSlow ? 0 : 1;
  }
  service.ttft = MeasuredTimes::of(std::move(ttfts));
  service.tpot = MeasuredTimes::of(std::move(tpots));
  service.request = MeasuredTimes::of(std::move(requests));
  service.shareWithinLimits = within / static_cast<double>(service.counted);
  // If no request ends while others still arrive, the rate is that of the whole
  // simulation.
  if (ended == 0) {
    fromUs = 0;
    toUs = result.endUs;
    for (const Request &request : load.requests) {
      ++ended;
      tokens += static_cast<double>(request.answerTokens);
    }
  }
  if (toUs > fromUs) {
    service.requestsPerS = ended / (toUs - fromUs) * 1e6;
    service.outputTokensPerS = tokens / (toUs - fromUs) * 1e6;
  }
  return service;
}

std::string autopar::serving::writeRequestLines(const SimulatedRun &run) {
  const auto &[load, result] = run;
  std::string text;
  for (size_t i = 0; i < load.requests.size(); ++i) {
    const Request &request = load.requests[i];
    const ServedRequest &served = result.requests[i];
    std::optional<double> tpot = tpotUs(request, served);
    json line = {{"request", i},
                 {"arrival_us", served.arrivalUs},
                 {"prompt_tokens", request.promptTokens},
                 {"cached_tokens", request.cachedTokens},
                 {"output_tokens", request.answerTokens},
                 {"ttft_us", ttftUs(served)},
                 {"tpot_us", tpot ? json(*tpot) : json()},
                 {"end_us", served.endUs},
                 {"replica", served.replica},
                 {"evictions", served.evictions}};
    text += line.dump() + "\n";
  }
  return text;
}

/// Requests overlap, so that each request gets a track of its own in the
/// timeline.
static void addSlice(std::string &text, size_t request, const char *name,
                     int32_t replica, double fromUs, double toUs) {
  for (auto [phase, us] : {std::pair("b", fromUs), std::pair("e", toUs)}) {
    json event = {{"ph", phase},    {"cat", "request"}, {"id", request},
                  {"pid", replica}, {"tid", 0},         {"name", name},
                  {"ts", us}};
    text += (text.empty() ? "" : ",\n") + event.dump();
  }
}

std::string autopar::serving::writeTrace(const SimulatedRun &run) {
  const auto &[load, result] = run;
  std::string text;
  for (size_t i = 0; i < load.requests.size(); ++i) {
    const ServedRequest &served = result.requests[i];
    addSlice(text, i, "to first token", served.replica, served.arrivalUs,
             served.firstTokenUs);
    addSlice(text, i, "decode", served.replica, served.firstTokenUs,
             served.endUs);
  }
  return "{\"traceEvents\":[\n" + text + "\n],\"displayTimeUnit\":\"ms\"}\n";
}
