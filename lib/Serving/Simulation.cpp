//===- Simulation.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Serving/Simulation.h"

#include "Replica.h"

#include <algorithm>
#include <cmath>

using namespace autopar;

Engine autopar::engineOf(const Runtime &runtime, double capacityTokens,
                         int64_t replicas) {
  auto whole = [](double value) {
    return static_cast<int64_t>(std::clamp(std::floor(value), 1.0, 1e15));
  };
  Engine engine;
  engine.stepTokens = whole(runtime.tokenBudget.value);
  engine.maxSequences = whole(runtime.maxSequences.value);
  engine.fusesPrompts = runtime.fusesPrompts;
  engine.blockTokens = whole(runtime.kvBlockTokens.value);
  engine.blocks =
      whole(capacityTokens / static_cast<double>(engine.blockTokens));
  engine.replicas = replicas;
  return engine;
}

namespace {

class Simulation {
public:
  Simulation(StepPrices &prices, const Engine &engine,
             const SimulatedLoad &load)
      : prices(prices), engine(engine), load(load) {
    for (int64_t i = 0; i < engine.replicas; ++i)
      replicas.emplace_back(engine, load.requests);
    result.requests.resize(load.requests.size());
  }
  SimulationResult run();

private:
  bool mayCome() const;
  void letIn();
  StepLoad plan();
  void finish();

  StepPrices &prices;
  const Engine &engine;
  const SimulatedLoad &load;
  std::vector<Replica> replicas;
  SimulationResult result;
  double nowUs = 0;
  size_t come = 0, ended = 0;
  std::vector<size_t> answering, ending;
};

} // namespace

bool Simulation::mayCome() const {
  if (come == load.requests.size())
    return false;
  bool hasRoom = load.concurrency == 0 ||
                 static_cast<int64_t>(come - ended) < load.concurrency;
  return hasRoom && load.requests[come].arrivalUs <= nowUs;
}

/// To the replica that has the fewest.
void Simulation::letIn() {
  while (mayCome()) {
    auto least = std::min_element(
        replicas.begin(), replicas.end(),
        [](const Replica &a, const Replica &b) { return a.size() < b.size(); });
    ServedRequest &request = result.requests[come];
    request.replica = static_cast<int32_t>(least - replicas.begin());
    request.arrivalUs =
        load.concurrency == 0 ? load.requests[come].arrivalUs : nowUs;
    least->add(come++);
  }
}

/// The most that a replica computes: the others wait for it.
StepLoad Simulation::plan() {
  StepLoad most = replicas.front().plan();
  for (size_t i = 1; i < replicas.size(); ++i) {
    StepLoad own = replicas[i].plan();
    if (own.decoding * own.context > most.decoding * most.context)
      most.context = own.context;
    most.decoding = std::max(most.decoding, own.decoding);
    if (own.prompts * own.promptTokens <= most.prompts * most.promptTokens)
      continue;
    most.prompts = own.prompts;
    most.promptTokens = own.promptTokens;
    most.promptContext = own.promptContext;
  }
  return most;
}

void Simulation::finish() {
  for (Replica &replica : replicas) {
    answering.clear();
    ending.clear();
    replica.finish(answering, ending);
    for (size_t request : answering)
      result.requests[request].firstTokenUs = nowUs;
    for (size_t request : ending) {
      result.requests[request].endUs = nowUs;
      result.requests[request].evictions = replica.evictionsOf(request);
    }
    ended += ending.size();
  }
}

SimulationResult Simulation::run() {
  for (size_t i = 0; i < load.requests.size(); ++i) {
    const Request &request = load.requests[i];
    if (engine.blocksOf(request.promptTokens + request.answerTokens) >
        engine.blocks) {
      result.tooLong = i;
      return std::move(result);
    }
  }
  while (ended < load.requests.size()) {
    letIn();
    StepLoad step = plan();
    if (step.decoding + step.prompts == 0) {
      nowUs = std::max(nowUs, load.requests[come].arrivalUs);
      continue;
    }
    StepTime time;
    if ((result.refusal = prices.priceServed(step, time)))
      return std::move(result);
    nowUs += time.us;
    ++result.steps;
    finish();
  }
  result.endUs = nowUs;
  return std::move(result);
}

SimulationResult autopar::simulate(StepPrices &prices, const Engine &engine,
                                   const SimulatedLoad &load) {
  return Simulation(prices, engine, load).run();
}
