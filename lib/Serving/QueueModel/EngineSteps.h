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

/// Describes the steps of a saturated service, in which as many sequences
/// decode as have room.
struct FullSteps {
  /// The number of sequences that decode on each replica.
  double running = 0;
  StepQueue queue;
  double stepUs = 0;
  /// The number of requests that a lock-step group serves per us.
  double mostPerUs = 0;
  /// Whether a step has room for fewer prompts than requests end in it.
  bool isCrowded = false;
};

/// Returns the number of steps in which a request decodes: one for each token
/// after the first, divided by the tokens that a step makes per request.
inline double decodedSteps(const ServedLoad &load) {
  return load.decodedTokens() / load.tokensPerStep;
}

/// Returns the number of steps over which the mean time of a token is taken.
inline double decodingSteps(const ServedLoad &load) {
  return std::max(1.0, decodedSteps(load));
}

/// Returns the load of a step that prefills `prompts` whole prompts, apart from
/// their cached tokens.
inline StepLoad prefillOf(const ServedLoad &load, double prompts) {
  return {0, 1, prompts, load.uncachedTokens(), std::round(load.promptTokens)};
}

/// Returns the load of a step that decodes `sequences` sequences on each
/// replica, with their drafts.
inline StepLoad decodeOf(const ServedLoad &load, double sequences) {
  StepLoad step{sequences, load.contextTokens()};
  step.drafts = load.drafts;
  step.draftCost = load.draftCost;
  return step;
}

/// Prices the steps that a load causes on an engine.
class EngineSteps {
public:
  /// Both arguments must outlive the object.
  EngineSteps(StepPrices &prices, const runtime::Runtime &runtime)
      : prices(prices), runtime(runtime) {}

  /// Finds how the lengths of prompts change the times of prefills (Q1).
  ServingRefusal findSpread(const ServedLoad &load, PrefillSpread &spread);
  /// Describes the queue of an engine on each of whose replicas `running`
  /// sequences decode. `queue` has the arrivals and the spread of lengths
  /// already; `decode` becomes the time of a step without prompts.
  ServingRefusal describe(const ServedLoad &load, double running,
                          StepQueue &queue, StepTime &decode);
  /// Finds the steps in which most requests are served (Q4). `room` gives how
  /// many requests of a replica have room.
  ServingRefusal findFull(const ServedLoad &load, const SteadyState &room,
                          FullSteps &full);

private:
  struct PrefillTime {
    /// The time of the whole prefill, the time that it adds to steps that
    /// decode, and the most time that it adds to one of these steps, all in us.
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

/// Sets the prompt of `step` to a chunk of `tokens` tokens. The chunk attends
/// to all cached tokens and, in the mean, to half of the other chunks.
void setChunk(const ServedLoad &load, double tokens, StepLoad &step);

} // namespace autopar::serving

#endif // AUTOPAR_LIB_SERVING_QUEUEMODEL_ENGINESTEPS_H
