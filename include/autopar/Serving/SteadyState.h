//===- SteadyState.h - Engines under constant load --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// So many requests at once, each followed by another: what a token takes in the
// mean, and what a first one does. Steps are those of the compiled strategy.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SERVING_STEADYSTATE_H
#define AUTOPAR_SERVING_STEADYSTATE_H

#include "autopar/Program/Requests.h"
#include "autopar/Serving/StepPrices.h"

namespace autopar {

/// What a deployment is asked.
struct ServedLoad {
  /// Requests at once, each followed by another; 0: `ratePerS` says.
  int64_t concurrency = 1;
  /// Of a request in the mean.
  double promptTokens = 1, answerTokens = 1;
  /// Requests that each of them makes in turn, the first of all at once, as
  /// benchmarks do; 0 is without beginning or end.
  double rounds = 0;
  /// Requests that come in a second, by Poisson's law.
  double ratePerS = 0;
  /// Variance of the tokens over their squared mean.
  double promptVariation = 0, answerVariation = 0;
  /// Share of the tokens of a prompt that the KV caches have already.
  double cachedShare = 0;
  ServiceLimits limits = {};
  /// Whether percentiles are wanted.
  bool hasSpread = false;
};

/// The values below which such shares of all lie.
struct Percentiles {
  double p50 = 0, p90 = 0, p95 = 0, p99 = 0;
};

struct PromptQueue;
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
  Refusal step = {};

  explicit operator bool() const { return kind != Kind::none; }
};

/// Times are microseconds.
struct SteadyState {
  /// Requests of a replica that run at once in the mean, prompts that a step
  /// with any has, and requests of a replica that wait for room.
  double running = 0, promptsPerStep = 0, waiting = 0;
  /// Whether requests wait for room in the KV caches.
  bool isCacheFull = false;
  /// Tokens that the KV caches of a replica hold.
  double capacityTokens = 0;
  /// A step that decodes, one that has prompts too (or, of a runtime that
  /// alternates, alone), and what a prompt adds to the steps of the others.
  double decodeStepUs = 0, promptStepUs = 0, addedByPromptUs = 0;
  /// Of the decoding step, its communication and its host's, layers included.
  double communicationUs = 0, hostUs = 0;
  /// Mean times, to the first token those of all rounds.
  double tpotUs = 0, ttftUs = 0;
  /// Of the whole deployment. Requests at a steady rate that it cannot serve
  /// have no steady state: times are those of what it serves then, and the
  /// queue grows.
  double outputTokensPerSecond = 0;
  bool isOverloaded = false;
  /// Of an open loop: requests a second that the deployment serves at most.
  double mostPerS = 0;
  /// Of times to the first token, from token to token in the mean of a
  /// request, and of whole requests; not of benchmarks' rounds.
  Percentiles ttft, tpot, request;
  /// Of requests.
  double shareWithinLimits = 1;

  void setDecodeStep(const StepTime &step) {
    decodeStepUs = step.us;
    communicationUs = step.communicationUs;
    hostUs = step.hostUs;
  }
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
  Server(CompiledProgram &program, const Machine &machine,
         const Runtime &runtime,
         std::optional<double> memoryUtilization = std::nullopt);

  /// Lays it on devices, before anything is asked of it. Of `replicas` replicas
  /// each has its own part of the requests; `layout` is that of all.
  void lay(const Layout &layout, int64_t replicas);

  ServingRefusal serve(const ServedLoad &load, SteadyState &state);
  /// Output tokens per second of `batch` sequences from their prompts to their
  /// last tokens, none of which begins or ends alone.
  ServingRefusal runBatch(const ServedLoad &batch, double &tokensPerSecond);
  ServingRefusal count(double promptTokens, double answerTokens,
                       ServingFlops &flops);

  /// Of a worker that does nothing else.
  ServingRefusal paceOf(const ServedLoad &load, PromptPace &pace);
  /// How many requests of a replica have room, in `state.running`, and the
  /// tokens of that room.
  ServingRefusal roomOf(const ServedLoad &load, SteadyState &state);
  /// The step where `running` sequences of a replica decode, nothing else.
  ServingRefusal stepAt(const ServedLoad &load, double running,
                        SteadyState &state);
  double replicaCount() const { return prices.replicaCount(); }

private:
  ServingRefusal price(const StepLoad &load, StepTime &step);
  ServingRefusal priceServed(const StepLoad &load, StepTime &step);
  /// Where `count` of the load is a mean.
  ServingRefusal priceBetween(StepLoad load, double StepLoad::*count,
                              StepTime &step);
  double promptsPerStep(const ServedLoad &load, double running) const;
  ServingRefusal burst(const ServedLoad &load, double running, double &us);
  static double contextOf(const ServedLoad &load);
  ServingRefusal priceRunning(const StepLoad &load, StepTime &step);
  ServingRefusal spreadOf(const ServedLoad &load, const StepLoad &step,
                          double firstUs, double &bendUs, double &spreadUs);
  ServingRefusal queueOf(const ServedLoad &load, double running,
                         PromptQueue &queue, StepTime &decode);
  ServingRefusal findRunning(const ServedLoad &load, double most,
                             PromptQueue &queue, StepTime &decode,
                             double &running);
  ServingRefusal waitForRoom(const ServedLoad &load, double most,
                             double firstUs, const PromptQueue &full,
                             double mostPerUs, Waiting &waiting);
  void spread(const ServedLoad &load, const PromptQueue &queue, double growthUs,
              ServiceTimes &times, SteadyState &state);
  ServingRefusal spreadClosed(const ServedLoad &load, SteadyState &state);
  TimeMoments beforeAndAfter(const ServedLoad &load,
                             const SteadyState &state) const;
  ServingRefusal serveClosed(const ServedLoad &load, SteadyState &state);
  ServingRefusal serveOpen(const ServedLoad &load, SteadyState &state);

  const Runtime &runtime;
  StepPrices prices;
};

} // namespace autopar

#endif // AUTOPAR_SERVING_STEADYSTATE_H
