//===- EngineSteps.h - Priced steps, described as a queue -------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SERVING_QUEUEMODEL_ENGINESTEPS_H
#define AUTOPAR_LIB_SERVING_QUEUEMODEL_ENGINESTEPS_H

#include "StepQueue.h"
#include "autopar/Serving/QueueModel.h"

namespace autopar::serving {

/// Steps with as many sequences as have room, where the service saturates.
struct FullSteps {
  /// Sequences of each replica.
  double running = 0;
  StepQueue queue;
  double stepUs = 0;
  /// Requests that a lock-step group serves per us.
  double mostPerUs = 0;
  /// Whether steps have room for fewer prompts than requests end in them.
  bool isCrowded = false;
};

/// Steps of requests that decode: one for each token after the first, divided
/// by the tokens of a step.
inline double decodedSteps(const ServedLoad &load) {
  return load.decodedTokens() / load.tokensPerStep;
}

/// Steps that the mean time of a token is taken over.
inline double decodingSteps(const ServedLoad &load) {
  return std::max(1.0, decodedSteps(load));
}

/// A step of `prompts` whole prompts, but for their cached tokens.
inline StepLoad prefillOf(const ServedLoad &load, double prompts) {
  return {0, 1, prompts, load.uncachedTokens(), std::round(load.promptTokens)};
}

/// A step that decodes `sequences` of each replica, with their drafts.
inline StepLoad decodeOf(const ServedLoad &load, double sequences) {
  StepLoad step{sequences, load.contextTokens()};
  step.drafts = load.drafts;
  step.draftCost = load.draftCost;
  return step;
}

/// Prices the steps that loads cause on an engine.
class EngineSteps {
public:
  /// Both outlive it.
  EngineSteps(StepPrices &prices, const runtime::Runtime &runtime)
      : prices(prices), runtime(runtime) {}

  /// What the lengths of prompts change (Q1).
  ServingRefusal findSpread(const ServedLoad &load, PrefillSpread &spread);
  /// The queue of an engine on each of whose replicas `running` sequences
  /// decode; `queue` has its arrivals and its spread. `decode` is the step
  /// without prompts.
  ServingRefusal describe(const ServedLoad &load, double running,
                          StepQueue &queue, StepTime &decode);
  /// The steps where most requests are served (Q4); `room` says how many
  /// requests of a replica have room.
  ServingRefusal findFull(const ServedLoad &load, const SteadyState &room,
                          FullSteps &full);

private:
  struct PrefillTime {
    /// The whole prefill, what it adds to steps that decode, and the most that
    /// it adds to one of them, in us.
    double wholeUs = 0, addedUs = 0, longestUs = 0;
    double furtherSteps = 0;
  };
  ServingRefusal timePrefill(const ServedLoad &load, double tokens,
                             PrefillTime &time);
  ServingRefusal addFurther(const StepLoad &first, double firstUs,
                            double addedUs, StepQueue &queue);
  ServingRefusal addFurtherLocked(const StepLoad &first, double firstUs,
                                  StepQueue &queue);
  ServingRefusal fullAt(const ServedLoad &load, double running,
                        double evictions, FullSteps &full);

  StepPrices &prices;
  const runtime::Runtime &runtime;
};

/// Sets the prompt of `step` to a chunk of `tokens`, which attends to all that
/// is cached and, in the mean, to half of the other chunks.
void setChunk(const ServedLoad &load, double tokens, StepLoad &step);

} // namespace autopar::serving

#endif // AUTOPAR_LIB_SERVING_QUEUEMODEL_ENGINESTEPS_H
