//===- SimulatedPools.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Serving/Disaggregation.h"

#include <algorithm>
#include <map>

using namespace autopar;
using namespace autopar::program;
using namespace autopar::serving;

namespace {

class PoolsSimulation {
public:
  PoolsSimulation(const SimulatedPool &prefill, const SimulatedPool &decode,
                  const SimulatedLink &link, const SimulatedLoad &load)
      : prefill(prefill), decode(decode), link(link), load(load) {}

  SimulationResult run();

private:
  SimulationResult prefillAll() const;
  void move(SimulationResult &result);
  void goOn(SimulationResult &result) const;

  const SimulatedPool &prefill, &decode;
  const SimulatedLink &link;
  const SimulatedLoad &load;
  /// The times at which KV caches arrive at the decode pool, in order, for
  /// requests of more than one token.
  std::vector<std::pair<double, size_t>> arrivals;
};

} // namespace

/// Simulates the prefill pool, which answers each prompt with one token.
SimulationResult PoolsSimulation::prefillAll() const {
  SimulatedLoad prompts = load;
  for (Request &request : prompts.requests)
    request.answerTokens = 1;
  return simulate(prefill.prices, prefill.engine, prompts, prefill.engines);
}

/// Moves the KV caches in the order in which their prefills end, each over the
/// link of its replica.
void PoolsSimulation::move(SimulationResult &result) {
  std::vector<size_t> order(result.requests.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(result.requests[a].endUs, a) <
           std::pair(result.requests[b].endUs, b);
  });
  std::map<int32_t, double> freeUs;
  for (size_t i : order) {
    ServedRequest &served = result.requests[i];
    double &free = freeUs[served.replica];
    double startUs = std::max(served.endUs, free);
    free = startUs + link.busyUs;
    served.madeUs = served.firstTokenUs = served.endUs =
        startUs + link.transferUs;
    if (load.requests[i].answerTokens > 1)
      arrivals.emplace_back(served.endUs, i);
  }
  std::sort(arrivals.begin(), arrivals.end());
}

/// Simulates the decode pool, which decodes from the second token on; the first
/// token came from the prefill pool.
void PoolsSimulation::goOn(SimulationResult &result) const {
  SimulatedLoad answers;
  for (auto [arrivalUs, i] : arrivals) {
    const Request &request = load.requests[i];
    answers.requests.push_back({arrivalUs, request.promptTokens + 1,
                                request.answerTokens - 1,
                                request.promptTokens});
  }
  Engine engine = decode.engine;
  engine.decodesOnly = true;
  engine.fusesPrompts = true;
  engine.host = {};
  // One of the tokens that are sent together was made by the prefill pool.
  bool sendsSeveral = decode.engine.host.streamInterval > 1;
  if (sendsSeveral)
    engine.host.streamInterval = decode.engine.host.streamInterval - 1;
  SimulationResult answered =
      simulate(decode.prices, engine, answers, decode.engines);
  result.refusal = answered.refusal;
  if (answered.tooLong)
    result.tooLong = arrivals[*answered.tooLong].second;
  result.isCut = answered.isCut;
  if (answered.refusal || answered.tooLong || answered.isCut)
    return;
  auto firstReplica =
      static_cast<int32_t>(prefill.engines * prefill.engine.replicas);
  for (size_t i = 0; i < arrivals.size(); ++i) {
    ServedRequest &served = result.requests[arrivals[i].second];
    served.endUs = answered.requests[i].endUs;
    if (sendsSeveral)
      served.firstTokenUs = answered.requests[i].firstTokenUs;
    served.replica = firstReplica + answered.requests[i].replica;
    served.evictions += answered.requests[i].evictions;
  }
  result.endUs = std::max(result.endUs, answered.endUs);
  result.steps += answered.steps;
  result.answerTokens += answered.answerTokens;
  result.blocksInUse += answered.blocksInUse;
}

SimulationResult PoolsSimulation::run() {
  SimulationResult result = prefillAll();
  if (result.tooLong || result.refusal || result.isCut)
    return result;
  move(result);
  goOn(result);
  return result;
}

SimulationResult autopar::serving::simulatePools(const SimulatedPool &prefill,
                                                 const SimulatedPool &decode,
                                                 const SimulatedLink &link,
                                                 const SimulatedLoad &load) {
  return PoolsSimulation(prefill, decode, link, load).run();
}
