//===- Simulation.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Serving/Simulation.h"

#include "Replica.h"
#include "autopar/Support/Limits.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <queue>

using namespace autopar;
using namespace autopar::program;
using namespace autopar::runtime;
using namespace autopar::serving;

Engine autopar::serving::engineOf(const Runtime &runtime, double capacityTokens,
                                  int64_t replicas) {
  auto whole = [](double value) {
    return static_cast<int64_t>(std::clamp(std::floor(value), 1.0, 1e15));
  };
  Engine engine;
  engine.stepTokens = whole(runtime.tokenBudget.value);
  engine.maxSequences = whole(runtime.maxSequences.value);
  engine.fusesPrompts = runtime.fusesPrompts;
  engine.cutsPrompts = runtime.cutsPrompts;
  engine.reservesAnswers = runtime.reservesAnswers;
  engine.host = RequestHost::of(runtime);
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
      : prices(prices), engine(engine), load(load),
        states(load.requests.size()) {
    for (int64_t i = 0; i < engine.replicas; ++i)
      replicas.emplace_back(engine, load.requests, states);
    unsent.resize(replicas.size());
    result.requests.resize(load.requests.size());
  }
  SimulationResult run();

private:
  bool maySend() const;
  void send();
  bool looks();
  void letIn();
  double nextUs() const;
  void planReplicas();
  StepLoad plan();
  void sendTokens(size_t replica);
  void finish(double stepUs);

  StepPrices &prices;
  const Engine &engine;
  const SimulatedLoad &load;
  /// The states of the requests, by the index of the request in the load.
  std::vector<RequestState> states;
  std::vector<Replica> replicas;
  SimulationResult result;
  double nowUs = 0;
  size_t sent = 0, ended = 0;
  /// The times at which requests reach the scheduler, with the next one on top.
  using Arrival = std::pair<double, size_t>;
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> coming;
  std::vector<size_t> answering, ending;
  /// For each replica, the requests whose first token is still to be sent: the
  /// number of decoding steps at which it is sent, and the request, the next
  /// one first.
  using Unsent = std::pair<int64_t, size_t>;
  std::vector<std::deque<Unsent>> unsent;
  int64_t stepsSinceLook = 0;
};

} // namespace

bool Simulation::maySend() const {
  if (sent == load.requests.size())
    return false;
  bool hasRoom = load.concurrency == 0 ||
                 static_cast<int64_t>(sent - ended) < load.concurrency;
  return hasRoom && load.requests[sent].arrivalUs <= nowUs;
}

void Simulation::send() {
  if (!maySend())
    return;
  double streams = 0;
  for (const Replica &replica : replicas)
    streams += replica.decodingLoad().decoding;
  for (; maySend(); ++sent) {
    const Request &request = load.requests[sent];
    double sentUs = load.concurrency == 0 ? request.arrivalUs : nowUs;
    result.requests[sent].arrivalUs = sentUs;
    auto tokens = static_cast<double>(request.promptTokens);
    coming.emplace(sentUs + engine.host.timeUs(tokens, streams), sent);
  }
}

/// Returns whether the engine looks for requests now. It does so every
/// `receiveInterval` steps, and whenever it is idle.
bool Simulation::looks() {
  bool isIdle =
      std::all_of(replicas.begin(), replicas.end(),
                  [](const Replica &replica) { return replica.size() == 0; });
  if (!isIdle && ++stepsSinceLook < engine.host.receiveInterval)
    return false;
  stepsSinceLook = 0;
  return true;
}

/// Gives each request that has arrived to the replica with the fewest requests.
void Simulation::letIn() {
  if (!looks())
    return;
  for (; !coming.empty() && coming.top().first <= nowUs; coming.pop()) {
    auto least = std::min_element(
        replicas.begin(), replicas.end(),
        [](const Replica &a, const Replica &b) { return a.size() < b.size(); });
    size_t request = coming.top().second;
    result.requests[request].replica =
        static_cast<int32_t>(least - replicas.begin());
    least->add(request);
  }
}

/// Returns the time in us of the next arrival at an idle engine. A request
/// without a place does not arrive but waits until another one ends.
double Simulation::nextUs() const {
  double next = std::numeric_limits<double>::infinity();
  if (!coming.empty())
    next = coming.top().first;
  if (sent < load.requests.size() && load.requests[sent].arrivalUs > nowUs)
    next = std::min(next, load.requests[sent].arrivalUs);
  return next;
}

/// Plans the step of all replicas. If the engine alternates between prefill and
/// decoding, no replica decodes or preempts while another one prefills.
void Simulation::planReplicas() {
  bool prefills = false;
  for (Replica &replica : replicas) {
    replica.plan();
    prefills = prefills || replica.prefills();
  }
  if (engine.fusesPrompts || prefills)
    return;
  for (Replica &replica : replicas)
    replica.planDecoding();
}

/// Returns the load of the replica that computes most, for which the other
/// replicas wait.
StepLoad Simulation::plan() {
  planReplicas();
  StepLoad most = replicas.front().planned();
  double tokens = most.prompts * most.promptTokens;
  for (size_t i = 1; i < replicas.size(); ++i) {
    StepLoad own = replicas[i].planned();
    if (own.decoding * own.context > most.decoding * most.context)
      most.context = own.context;
    most.decoding = std::max(most.decoding, own.decoding);
    tokens += own.prompts * own.promptTokens;
    if (own.prompts * own.promptTokens <= most.prompts * most.promptTokens)
      continue;
    most.prompts = own.prompts;
    most.promptTokens = own.promptTokens;
    most.promptContext = own.promptContext;
  }
  // The step is priced with one prompt as long as all that the busiest replica
  // prefills, times the number of such prompts that all replicas together
  // prefill.
  if (replicas.size() > 1 && most.prompts > 0) {
    double longest = most.prompts * most.promptTokens;
    most.joinPrompts(longest);
    most.prompts = tokens / longest;
  }
  return most;
}

/// Sends the first tokens of requests that have `streamInterval` tokens by now.
/// Requests whose first token the last step made are added to those that wait
/// to be sent.
void Simulation::sendTokens(size_t replica) {
  std::deque<Unsent> &waiting = unsent[replica];
  int64_t steps = replicas[replica].decodedSteps();
  for (size_t request : answering) {
    result.requests[request].madeUs = nowUs;
    waiting.emplace_back(steps + engine.host.streamInterval - 1, request);
  }
  for (; !waiting.empty() && waiting.front().first <= steps;
       waiting.pop_front()) {
    double &sentUs = result.requests[waiting.front().second].firstTokenUs;
    sentUs = sentUs > 0 ? sentUs : nowUs;
  }
}

void Simulation::finish(double stepUs) {
  nowUs += stepUs;
  ++result.steps;
  ending.clear();
  for (size_t i = 0; i < replicas.size(); ++i) {
    answering.clear();
    replicas[i].finish(answering, ending);
    sendTokens(i);
  }
  for (size_t request : ending) {
    ServedRequest &served = result.requests[request];
    served.endUs = nowUs;
    // An answer that is shorter than the stream interval is sent at its end.
    if (served.firstTokenUs == 0)
      served.firstTokenUs = nowUs;
    served.evictions = states[request].evictions;
    result.endUs = std::max(result.endUs, served.endUs);
  }
  ended += ending.size();
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
    send();
    letIn();
    StepLoad step = plan();
    if (step.decoding + step.prompts == 0) {
      nowUs = nextUs();
      continue;
    }
    if (result.steps == limits::maxSimulatedSteps) {
      result.isCut = true;
      return std::move(result);
    }
    StepTime time;
    if ((result.refusal = prices.priceBetween(step, time)))
      return std::move(result);
    finish(time.us);
  }
  for (const Replica &replica : replicas) {
    result.answerTokens += replica.tokensMade();
    result.blocksInUse += replica.usedBlocks();
  }
  return std::move(result);
}

/// Returns the load with every `stride`-th request, beginning with request
/// `first`.
static SimulatedLoad partOf(const SimulatedLoad &load, int64_t first,
                            int64_t stride) {
  SimulatedLoad part;
  // If the groups do not divide the concurrency, the first groups get one place
  // more.
  part.concurrency = (load.concurrency + stride - 1 - first) / stride;
  for (auto i = static_cast<size_t>(first); i < load.requests.size();
       i += static_cast<size_t>(stride))
    part.requests.push_back(load.requests[i]);
  return part;
}

/// Adds the results of engine `first` of `stride` engines to the results of
/// all.
static void addPart(const SimulationResult &part, const Engine &engine,
                    int64_t first, int64_t stride, SimulationResult &all) {
  for (size_t i = 0; i < part.requests.size(); ++i) {
    size_t index = static_cast<size_t>(first) + i * static_cast<size_t>(stride);
    all.requests[index] = part.requests[i];
    all.requests[index].replica +=
        static_cast<int32_t>(first * engine.replicas);
  }
  all.endUs = std::max(all.endUs, part.endUs);
  all.steps += part.steps;
  all.answerTokens += part.answerTokens;
  all.blocksInUse += part.blocksInUse;
}

SimulationResult autopar::serving::simulate(StepPrices &prices,
                                            const Engine &engine,
                                            const SimulatedLoad &load,
                                            int64_t engines) {
  if (load.concurrency > 0)
    engines = std::min(engines, load.concurrency);
  if (engines == 1)
    return Simulation(prices, engine, load).run();
  SimulationResult all;
  all.requests.resize(load.requests.size());
  for (int64_t i = 0; i < engines; ++i) {
    SimulatedLoad own = partOf(load, i, engines);
    SimulationResult part = Simulation(prices, engine, own).run();
    if (part.tooLong)
      all.tooLong =
          static_cast<size_t>(i) + *part.tooLong * static_cast<size_t>(engines);
    all.refusal = part.refusal;
    all.isCut = part.isCut;
    if (part.tooLong || part.refusal || part.isCut)
      return all;
    addPart(part, engine, i, engines, all);
  }
  return all;
}
