//===- EngineSteps.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EngineSteps.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

using namespace autopar;
using namespace autopar::serving;

static constexpr double infinity = std::numeric_limits<double>::infinity();

void serving::setChunk(const ServedLoad &load, double tokens, StepLoad &step) {
  double uncached = load.uncachedTokens();
  double cached = std::round(load.promptTokens) - uncached;
  step.prompts = 1;
  step.promptTokens = tokens;
  step.promptContext = cached + std::round((uncached + tokens) / 2);
}

//===----------------------------------------------------------------------===//
// The effect of different lengths of prompts
//===----------------------------------------------------------------------===//

/// Prices the prefill of a prompt with `tokens` uncached tokens: chunks that
/// fill steps, and a last chunk that attends to the whole prompt.
ServingRefusal EngineSteps::timePrefill(const ServedLoad &load, double tokens,
                                        PrefillTime &prefill) {
  double most =
      runtime.cutsPrompts ? std::max(1.0, runtime.tokenBudget.value) : infinity;
  StepLoad step;
  StepTime decode, time;
  if (runtime.fusesPrompts) {
    step.decoding = 1;
    step.context = load.contextTokens();
    if (ServingRefusal refusal = prices.priceServed(step, decode))
      return refusal;
  }
  // Prompts of all lengths have the same share of cached tokens.
  double cached =
      tokens * (std::round(load.promptTokens) / load.uncachedTokens() - 1);
  auto add = [&](double chunks, double chunk, double context) {
    step.prompts = 1;
    step.promptTokens = std::round(chunk);
    step.promptContext = std::round(cached + context);
    ServingRefusal refusal = prices.priceServed(step, time);
    prefill.wholeUs += chunks * time.us;
    prefill.addedUs += chunks * (time.us - decode.us);
    prefill.longestUs = std::max(prefill.longestUs, time.us - decode.us);
    return refusal;
  };
  double full = std::max(0.0, std::floor((tokens - 1) / most)), last = tokens;
  prefill.furtherSteps = full;
  if (full > 0) {
    last -= full * most;
    if (auto refusal = add(full, most, most * (full + 1) / 2))
      return refusal;
  }
  return add(1, last, tokens);
}

/// The mean over prompt lengths is a Gauss-Hermite quadrature over the
/// logarithm of the length.
ServingRefusal EngineSteps::findSpread(const ServedLoad &load,
                                       PrefillSpread &spread) {
  spread = {};
  if (load.arePrefilled || load.promptVariation <= 0)
    return {};
  double uncached = load.uncachedTokens() / std::round(load.promptTokens);
  PrefillTime middle;
  if (auto refusal = timePrefill(load, load.uncachedTokens(), middle))
    return refusal;
  std::array<PrefillTime, gaussPoints.size()> times;
  TimeMoments whole, added, longest;
  for (size_t i = 0; i < times.size(); ++i) {
    double tokens = std::max(1.0, std::round(uncached * load.promptsAt[i]));
    if (auto refusal = timePrefill(load, tokens, times[i]))
      return refusal;
    whole.mean += gaussWeights[i] * times[i].wholeUs;
    added.mean += gaussWeights[i] * times[i].addedUs;
    longest.mean += gaussWeights[i] * times[i].longestUs;
    spread.furtherSteps += gaussWeights[i] * times[i].furtherSteps;
  }
  for (size_t i = 0; i < times.size(); ++i) {
    double apart = times[i].wholeUs - whole.mean;
    whole.variance += gaussWeights[i] * apart * apart;
    whole.third += gaussWeights[i] * apart * apart * apart;
    added.variance +=
        gaussWeights[i] * std::pow(times[i].addedUs - added.mean, 2);
    longest.variance +=
        gaussWeights[i] * std::pow(times[i].longestUs - longest.mean, 2);
  }
  spread.whole = whole;
  spread.whole.scale(1 / middle.wholeUs);
  if (added.mean <= 0 || middle.addedUs <= 0)
    return {};
  spread.added = added.mean / middle.addedUs;
  spread.addedVariation = added.variance / (added.mean * added.mean);
  spread.stepVariation = longest.variance / (longest.mean * longest.mean);
  return {};
}

/// Returns the mean number of whole prompts in a step that has room for `room`
/// prompts of mean length, but at least 1. It is the renewal function (Cox
/// 1962, "Renewal Theory").
static double wholePrompts(double room, const ServedLoad &load) {
  // Each further term of the sum adds less than 1e-4 prompts.
  constexpr double smallestShare = 1e-4;
  if (load.promptVariation <= 0)
    return std::max(1.0, std::floor(room));
  ReplicaPrompts prompts{1, load.promptVariation, room, /*cutsPrompts=*/false};
  double sum = 1, share = 1;
  for (int count = 2; share > smallestShare; ++count)
    sum += share = 1 - prompts.shareOverLimit(count);
  return sum;
}

//===----------------------------------------------------------------------===//
// Describing the queue of an engine
//===----------------------------------------------------------------------===//

/// Finds M, the time that each further prompt adds to a step, for a single
/// replica: the mean over the further prompts of a full step.
ServingRefusal EngineSteps::addFurther(const StepLoad &first, double firstUs,
                                       double addedUs, StepQueue &queue) {
  // At most four prompts are priced: each further one adds as much as the
  // fourth does, within 1 %.
  constexpr double mostPriced = 4, smallestShare = 1e-3;
  queue.furtherPromptUs = addedUs;
  // Only a share of the second prompts has room beside the first one; if
  // prompts are cut, there is always room for a part.
  double atOnce = queue.maxPrompts * queue.chunks + 1e-9;
  double share = std::clamp(atOnce - 1, 0.0, 1.0);
  if (runtime.cutsPrompts)
    share = queue.chunks > 1 ? 0 : 1;
  if (share < smallestShare)
    return {};
  StepTime several;
  StepLoad step = first;
  step.prompts = std::clamp(std::floor(atOnce), 2.0, mostPriced);
  if (ServingRefusal refusal = prices.priceServed(step, several))
    return refusal;
  double each = std::max(0.0, (several.us - firstUs) / (step.prompts - 1));
  queue.furtherPromptUs += share * (each - addedUs);
  return {};
}

/// Finds M and L for replicas in lock step, from the price of a step with a
/// prompt on every replica and of a step with a prompt of up to twice the
/// length on one replica.
ServingRefusal EngineSteps::addFurtherLocked(const StepLoad &first,
                                             double firstUs, StepQueue &queue) {
  double replicas = queue.lengths.replicas, limit = queue.lengths.limit;
  StepLoad step = first;
  StepTime all, longer;
  step.prompts = replicas;
  if (ServingRefusal refusal = prices.priceServed(step, all))
    return refusal;
  queue.furtherPromptUs = std::max(0.0, (all.us - firstUs) / (replicas - 1));
  // If one prompt fills its step, the step has no second prompt.
  if (runtime.cutsPrompts && limit <= 1)
    return {};
  double length = runtime.cutsPrompts ? std::min(2.0, limit) : 2;
  step = first;
  step.joinPrompts(std::round(step.promptTokens * length));
  if (ServingRefusal refusal = prices.priceServed(step, longer))
    return refusal;
  queue.sameReplicaUs = std::max(0.0, (longer.us - firstUs) / (length - 1) -
                                          queue.furtherPromptUs);
  return {};
}

ServingRefusal EngineSteps::describe(const ServedLoad &load, double running,
                                     StepQueue &queue, StepTime &decode) {
  double replicas = prices.lockStepReplicas();
  double mostSequences = runtime.maxSequences.value;
  bool fuses = runtime.fusesPrompts;
  StepLoad step = decodeOf(load, running);
  if (ServingRefusal refusal = prices.priceServed(step, decode))
    return refusal;
  queue.decodeUs = decode.us;
  queue.groups = prices.groupCount();
  queue.fusesPrompts = fuses || load.arePrefilled;
  if (load.arePrefilled) {
    queue.firstPromptUs = decode.us;
    queue.own = {decode.us};
    queue.maxPrompts = mostSequences * replicas;
    queue.lengths = {replicas, 0, mostSequences, false};
    return {};
  }
  double uncached = load.uncachedTokens();
  double room = std::max(1.0, runtime.tokenBudget.value -
                                  (fuses ? running * (1 + load.drafts) : 0));
  double each = runtime.cutsPrompts ? room / uncached
                                    : wholePrompts(room / uncached, load);
  each = std::min(each, mostSequences);
  queue.maxPrompts = each * replicas;
  queue.chunks = std::max(1.0, 1 / each);
  queue.lengths = {replicas, load.promptVariation, each, runtime.cutsPrompts};
  if (!fuses)
    step.decoding = 0;
  setChunk(load, each >= 1 ? uncached : std::floor(std::min(uncached, room)),
           step);
  StepTime first;
  if (ServingRefusal refusal = prices.priceServed(step, first))
    return refusal;
  double addedUs = std::max(0.0, first.us - (fuses ? decode.us : 0));
  queue.own = queue.spread.whole;
  queue.own.scale(first.us * queue.chunks);
  queue.furtherPromptUs = queue.sameReplicaUs = 0;
  auto refusal = replicas > 1 ? addFurtherLocked(step, first.us, queue)
                              : addFurther(step, first.us, addedUs, queue);
  queue.setFirstPrompt(first.us, addedUs);
  return refusal;
}
