//===- Server.h - A strategy that serves requests ---------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SERVING_SERVER_H
#define AUTOPAR_SERVING_SERVER_H

#include "autopar/Serving/LoadCurve.h"
#include "autopar/Serving/RequestHost.h"
#include "autopar/Serving/SteadyState.h"
#include "autopar/Serving/StepPrices.h"

namespace autopar::serving {

struct DecodeLine;
struct FirstTokenTime;
struct FullSteps;
struct PromptQueue;
struct ReadLaw;
struct ServiceTimes;
struct TimeMoments;
struct Waiting;

/// Why a deployment does not serve.
struct ServingRefusal {
  enum class Kind : uint8_t {
    none,
    /// The plan has no price: `step`.
    step,
    /// The KV caches do not hold one request.
    capacity,
  };
  Kind kind = Kind::none;
  cost::Refusal step = {};

  explicit operator bool() const { return kind != Kind::none; }
};

/// What of a deployment depends on no load: of one request.
struct ServingFlops {
  double decode = 0, prompt = 0;
  /// Of a replica.
  int64_t capacityTokens = 0;
};

/// How fast a worker reads prompts that others answer.
struct PromptPace {
  /// One that comes to an idle worker, microseconds.
  double oneUs = 0;
  double mostPerS = 0;
};

/// Serves requests with one strategy on one machine.
class Server {
public:
  /// All arguments outlive it.
  Server(cost::CompiledProgram &program, const hardware::Machine &machine,
         const runtime::Runtime &runtime,
         std::optional<double> memoryUtilization = std::nullopt);

  /// Lays it on devices, before anything is asked of it. Of `replicas` replicas
  /// each has its own part of the requests; `layout` is that of all.
  void lay(const cost::Layout &layout, int64_t replicas);

  /// What requests have encoded beside their text (default: nothing).
  void encode(const EncodedInput &input) { prices.encode(input); }

  ServingRefusal serve(const ServedLoad &load, SteadyState &state);
  /// Output tokens per second of `batch` sequences from their prompts to their
  /// last tokens, none of which begins or ends alone.
  ServingRefusal runBatch(const ServedLoad &batch, double &tokensPerSecond);
  ServingRefusal count(const ServedLoad &load, ServingFlops &flops);

  /// Of a worker that does nothing else.
  ServingRefusal paceOf(const ServedLoad &load, PromptPace &pace);
  /// How many requests of a replica have room, in `state.running`, and the
  /// tokens of that room.
  ServingRefusal roomOf(const ServedLoad &load, SteadyState &state);
  /// The step where `running` sequences of a replica decode, nothing else.
  ServingRefusal stepAt(const ServedLoad &load, double running,
                        SteadyState &state);
  /// Requests that come at a rate, where `roomOf` has said how many have room;
  /// `times` where it is not overloaded.
  ServingRefusal serveOpen(const ServedLoad &load, SteadyState &state,
                           ServiceTimes &times);
  /// Of the load that `asked` was served with, and less and more of it.
  ServingRefusal findCurve(const LoadPoint &asked, LoadCurve &curve);
  /// What the encoder takes of a request whose step encodes no other, in us.
  ServingRefusal timeEncoder(const ServedLoad &load, double &us);
  double replicaCount() const { return prices.replicaCount(); }
  double groupCount() const { return prices.groupCount(); }
  const RequestHost &requestHost() const { return host; }

private:
  ServingRefusal price(const StepLoad &load, StepTime &step);
  ServingRefusal priceServed(const StepLoad &load, StepTime &step);
  ServingRefusal priceBetween(const StepLoad &load, double StepLoad::*count,
                              StepTime &step);
  /// Prompts that a step reads at most.
  double mostPerStep(const ServedLoad &load) const;
  double promptsPerStep(const ServedLoad &load, double running) const;
  ServingRefusal burst(const ServedLoad &load, double running, double &us);
  ServingRefusal priceRunning(const StepLoad &load, StepTime &step);
  /// Of one prompt: in all, beyond steps that only decode, and of that the step
  /// that has most; steps after its first.
  struct ReadTime {
    double wholeUs = 0, addedUs = 0, longestUs = 0, furtherSteps = 0;
  };
  ServingRefusal timeRead(const ServedLoad &load, double left, ReadTime &read);
  ServingRefusal findLaw(const ServedLoad &load, ReadLaw &law);
  /// The step that reads one prompt, and what it takes beyond one that decodes.
  struct FirstStep {
    StepLoad load;
    double us = 0, addedUs = 0;
  };
  ServingRefusal addMore(const FirstStep &first, PromptQueue &queue);
  ServingRefusal addMoreLocked(const FirstStep &first, double most,
                               PromptQueue &queue);
  ServingRefusal describe(const ServedLoad &load, double running,
                          PromptQueue &queue, StepTime &decode,
                          FirstStep &first);
  ServingRefusal queueOf(const ServedLoad &load, double running, double tokenUs,
                         PromptQueue &queue, StepTime &decode);
  ServingRefusal fullAt(const ServedLoad &load, double running,
                        double evictions, FullSteps &full);
  ServingRefusal findFull(const ServedLoad &load, const SteadyState &state,
                          FullSteps &full);
  /// What differs where how many decode varies, over the same at their mean,
  /// and how much a request's time grows for each more.
  struct Bend {
    double share = 1, growth = 0;
    /// That began with a request and go on with it.
    double companions = 0;
  };
  ServingRefusal queueAmong(const ServedLoad &load, double most, double others,
                            double tokenUs, PromptQueue &queue,
                            StepTime &decode);
  ServingRefusal tokenAmong(const ServedLoad &load, double most, double others,
                            PromptQueue &queue, StepTime &decode, double &us);
  ServingRefusal findToken(const ServedLoad &load, double most, Bend &bend,
                           PromptQueue &queue, StepTime &decode, double &us);
  ServingRefusal bendOver(const ServedLoad &load, double most, double tokenUs,
                          PromptQueue &queue, StepTime &decode, Bend &bend);
  ServingRefusal findRunning(const ServedLoad &load, double most,
                             PromptQueue &queue, StepTime &decode, double &us);
  ServingRefusal findLine(const ServedLoad &load, const FullSteps &full,
                          DecodeLine &line);
  ServingRefusal serveMost(const ServedLoad &load, const FullSteps &full,
                           PromptQueue &queue, StepTime &decode,
                           SteadyState &state);
  ServingRefusal serveAll(const ServedLoad &load, const FullSteps &full,
                          DecodeLine &line, PromptQueue &queue,
                          StepTime &decode, SteadyState &state);
  void timeRequests(const ServedLoad &load, const FullSteps &full,
                    const DecodeLine &line, double places,
                    const PromptQueue &queue, SteadyState &state,
                    ServiceTimes &times);
  void spread(const ServedLoad &load, const PromptQueue &queue, double growthUs,
              ServiceTimes &times, const SteadyState &state);
  /// The first token of a closed loop from means of steps alone, or from the
  /// law of steps, which open loops have, too; how times spread follows.
  ServingRefusal meanOfFirst(const ServedLoad &load, SteadyState &state);
  ServingRefusal spreadClosed(const ServedLoad &load, SteadyState &state);
  ServingRefusal firstOfClosed(const ServedLoad &load, const SteadyState &state,
                               double outsideUs, FirstTokenTime &first,
                               PromptQueue &queue);
  double runningOthers(const SteadyState &state) const;
  TimeMoments outside(const ServedLoad &load, double streams, double busy,
                      SteadyState &state) const;
  ServingRefusal serveClosed(const ServedLoad &load, SteadyState &state);

  const runtime::Runtime &runtime;
  RequestHost host;
  StepPrices prices;
};

} // namespace autopar::serving

#endif // AUTOPAR_SERVING_SERVER_H
