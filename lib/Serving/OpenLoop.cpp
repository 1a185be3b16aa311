//===- OpenLoop.cpp - Requests that come when they come -------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ServiceTimes.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace autopar;

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Of one replica, any number is as if it were whole.
ServingRefusal Server::priceRunning(const StepLoad &load, StepTime &step) {
  if (prices.replicaCount() == 1)
    return priceServed(load, step);
  return priceBetween(load, &StepLoad::decoding, step);
}

/// Adds a piece of a prompt, which sees what is cached and, in the mean, a half
/// of the others.
static void addPiece(const ServedLoad &load, double tokens, StepLoad &step) {
  double read = load.readTokens();
  step.prompts = 1;
  step.promptTokens = tokens;
  step.promptContext =
      std::round(load.promptTokens) - read + std::round((read + tokens) / 2);
}

/// Times grow faster than lengths do: what prompts of different lengths take
/// more in the mean than one of mean length, and one that is longer by a
/// standard deviation, from two that are as far from the mean. `step` reads one
/// of mean length in `firstUs`.
ServingRefusal Server::spreadOf(const ServedLoad &load, const StepLoad &step,
                                double firstUs, double &bendUs,
                                double &spreadUs) {
  constexpr double farthest = 0.9;
  double deviation = std::sqrt(load.promptVariation);
  double far = std::min(farthest, deviation);
  double us[2];
  for (int i : {0, 1}) {
    StepLoad other = step;
    double tokens = step.promptTokens * (i == 0 ? 1 - far : 1 + far);
    other.promptTokens = std::max(1.0, std::round(tokens));
    other.promptContext += other.promptTokens - step.promptTokens;
    StepTime time;
    if (auto refusal = priceRunning(other, time))
      return refusal;
    us[i] = time.us;
  }
  double scale = deviation / far;
  bendUs = std::max(0.0, (us[0] + us[1]) / 2 - firstUs) * scale * scale;
  spreadUs = (us[1] - us[0]) / 2 * scale;
  return {};
}

/// The longest of so many prompts over their mean, where lengths are
/// log-normal: the quantile of Blom (1958), which is near the mean of the
/// largest.
static double longestOf(double count, const ServedLoad &load) {
  constexpr int halvings = 40;
  double deviation = std::sqrt(std::log1p(load.promptVariation));
  double share = (count - 0.375) / (count + 0.25);
  double low = -8, high = 8;
  for (int i = 0; i < halvings; ++i) {
    double middle = (low + high) / 2;
    (std::erfc(-middle / std::sqrt(2.0)) / 2 < share ? low : high) = middle;
  }
  return std::max(1.0, std::exp(deviation * high - deviation * deviation / 2));
}

/// Replicas wait for the one that reads the longest prompt; all read what they
/// read.
static void lengthenTo(double longest, StepLoad &step) {
  double more = std::round(step.promptTokens * (longest - 1));
  step.promptTokens += more;
  step.promptContext += more;
  step.prompts = std::max(1.0, step.prompts / longest);
}

/// The steps of a replica where `running` sequences decode.
ServingRefusal Server::queueOf(const ServedLoad &load, double running,
                               PromptQueue &queue, StepTime &decode) {
  double together = prices.togetherCount();
  double mostPriced = std::max(4.0, 2 * together);
  StepLoad step;
  step.decoding = running;
  step.context = load.contextTokens();
  addDrafts(load, step);
  if (auto refusal = priceRunning(step, decode))
    return refusal;
  bool fuses = runtime.fusesPrompts;
  double read = load.readTokens();
  double room = std::max(1.0, runtime.tokenBudget.value -
                                  (fuses ? running * (1 + load.drafts) : 0));
  queue.decodeUs = decode.us;
  queue.fusesPrompts = fuses;
  queue.turns = prices.groupCount();
  if (load.isRead) {
    queue.firstUs = decode.us;
    queue.perStep = runtime.maxSequences.value * together;
    queue.fusesPrompts = true;
    return {};
  }
  queue.squaredVariation = load.promptVariation;
  double each = std::min(room / read, runtime.maxSequences.value);
  if (!runtime.cutsPrompts)
    each = std::max(1.0, std::floor(each));
  queue.perStep = each * together;
  queue.pieces = std::max(1.0, 1 / each);
  if (!fuses)
    step.decoding = 0;
  addPiece(load, each >= 1 ? read : std::floor(std::min(read, room)), step);
  StepTime first, several;
  if (auto refusal = priceRunning(step, first))
    return refusal;
  double bendUs = 0;
  queue.spreadUs = first.us * queue.pieces * std::sqrt(load.promptVariation);
  if (load.promptVariation > 0 && each >= 1) {
    if (auto refusal = spreadOf(load, step, first.us, bendUs, queue.spreadUs))
      return refusal;
  } else if (load.promptVariation > 0) {
    // Longer ones have more pieces, each of which sees more.
    StepLoad later = step;
    later.promptContext += std::round(read / 2);
    StepTime time;
    if (auto refusal = priceRunning(later, time))
      return refusal;
    bendUs = std::max(0.0, time.us - first.us) * load.promptVariation;
  }
  queue.firstUs = first.us + bendUs;
  queue.moreUs = std::max(0.0, queue.firstUs - (fuses ? decode.us : 0));
  double atOnce = std::floor(queue.perStep * queue.pieces + 1e-9);
  if (atOnce < 2)
    return {};
  double count = step.prompts = std::min(mostPriced, atOnce);
  if (together > 1)
    lengthenTo(longestOf(std::min(step.prompts, together), load), step);
  if (auto refusal = together > 1
                         ? priceBetween(step, &StepLoad::prompts, several)
                         : priceRunning(step, several))
    return refusal;
  queue.moreUs = std::max(0.0, (several.us - first.us) / (count - 1)) + bendUs;
  return {};
}

/// Where so many run, as many as end in a step come in the next: what such a
/// step takes, and how many prompts it has.
static double fullStepUs(const PromptQueue &queue, double &prompts) {
  bool fuses = queue.fusesPrompts;
  if (fuses)
    prompts = std::min(prompts, queue.perStep);
  // Full steps of their own, or part of one.
  if (!fuses && prompts > queue.perStep)
    return queue.decodeUs + prompts * queue.fullUs();
  double one = 1 / queue.pieces;
  double more = std::max(0.0, prompts - one) / one * queue.moreUs;
  double some = std::min(1.0, prompts / one);
  double first = queue.firstUs - (fuses ? queue.decodeUs : 0);
  return queue.decodeUs + some * first + more;
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

/// That a request decodes in.
static double decodedSteps(const ServedLoad &load) {
  return load.decodedTokens() / load.tokensPerStep;
}

/// Steps that times of tokens are means of.
static double decodingSteps(const ServedLoad &load) {
  return std::max(1.0, decodedSteps(load));
}

/// Of so many in replicas that step together, those of the one that has most:
/// each request goes to the one that has fewest.
static double ofLargest(double requests, double together) {
  double even = requests / together;
  return std::max(1.0, even + (together - 1) / (2 * together));
}

/// From a token to the next where a request meets so many others.
ServingRefusal Server::tokenAmong(const ServedLoad &load, double most,
                                  double others, PromptQueue &queue,
                                  StepTime &decode, double &us) {
  double together = prices.togetherCount(), rate = queue.ratePerUs;
  double running = std::min(most / together, ofLargest(1 + others, together));
  if (auto refusal = queueOf(load, running, queue, decode))
    return refusal;
  us = queue.decodeAndPromptsUs();
  if (queue.turns > 1) {
    queue.ratePerUs *= queue.shareMet(decodedSteps(load) * us);
    us = queue.decodeAndPromptsUs();
    queue.ratePerUs = rate;
  }
  return {};
}

/// As many as come while one decodes, where a token takes `bend` of what it
/// does with their mean, found by false position (Illinois).
ServingRefusal Server::findOthers(const ServedLoad &load, double most,
                                  double bend, PromptQueue &queue,
                                  StepTime &decode, double &others) {
  constexpr int rounds = 20;
  constexpr double near = 1e-3;
  double excess = 0;
  auto excessAt = [&](double met) {
    double us = 0;
    auto refusal = tokenAmong(load, most, met, queue, decode, us);
    us *= bend * decodedSteps(load);
    excess = queue.ratePerUs * us * queue.shareMet(us) - met;
    return refusal;
  };
  if (auto refusal = excessAt(0))
    return refusal;
  double low = 0, atLow = excess;
  if (auto refusal = excessAt(most))
    return refusal;
  double high = most, atHigh = excess;
  others = most;
  for (int i = 0; i < rounds && atHigh < 0; ++i) {
    others = low + (high - low) * atLow / (atLow - atHigh);
    if (auto refusal = excessAt(others))
      return refusal;
    if (std::abs(excess) < near * (1 + others))
      return {};
    // The end that stays counts half.
    if (excess > 0) {
      low = others;
      atLow = excess;
      atHigh /= 2;
    } else {
      high = others;
      atHigh = excess;
      atLow /= 2;
    }
  }
  return {};
}

/// The share of a request's time that another one of its step has, too, which
/// began when it did: 1 less Gini's coefficient, of log-normal lengths.
static double sharedTime(const ServedLoad &load) {
  return std::erfc(std::sqrt(std::log1p(load.answerVariation)) / 2);
}

/// A token takes in the mean over how many decode what it does where they are
/// as many fewer and more than their mean as they deviate: `bend` is that over
/// what it takes with the mean. Steps that grow with what they decode keep it
/// away from its mean for longer: of servers that share, the variance over the
/// mean is 1 / (1 - growth) (BCMP 1975), the more where several begin at once.
ServingRefusal Server::bendOver(const ServedLoad &load, double most,
                                double others, PromptQueue &queue,
                                StepTime &decode, Bend &bend) {
  constexpr double mostGrowth = 0.95;
  double at = 0;
  if (auto refusal = tokenAmong(load, most, others, queue, decode, at))
    return refusal;
  double variance = others *
                    (1 + sharedTime(load) * (queue.dispersion() - 1)) /
                    (1 - bend.growth);
  double few = std::max(0.0, others - std::sqrt(variance));
  double below = others - few, above = variance / below;
  double fewUs = 0, manyUs = 0;
  if (below <= 0)
    return {};
  if (auto refusal = tokenAmong(load, most, few, queue, decode, fewUs))
    return refusal;
  if (auto refusal =
          tokenAmong(load, most, others + above, queue, decode, manyUs))
    return refusal;
  bend.share = (fewUs * above + manyUs * below) / ((above + below) * at);
  bend.growth = std::clamp(queue.ratePerUs * decodedSteps(load) *
                               (manyUs - fewUs) / (above + below),
                           0.0, mostGrowth);
  return {};
}

/// Of Poisson's law, a request meets one more than there are in the mean. All
/// counts are of replicas that step together; `us` is from token to token.
ServingRefusal Server::findRunning(const ServedLoad &load, double most,
                                   PromptQueue &queue, StepTime &decode,
                                   double &running, double &us) {
  constexpr int rounds = 2;
  Bend bend;
  if (auto refusal = findOthers(load, most, 1, queue, decode, running))
    return refusal;
  for (int i = 0; i < rounds; ++i) {
    if (auto refusal = bendOver(load, most, running, queue, decode, bend))
      return refusal;
    if (auto refusal =
            findOthers(load, most, bend.share, queue, decode, running))
      return refusal;
  }
  if (auto refusal = tokenAmong(load, most, running, queue, decode, us))
    return refusal;
  us *= bend.share;
  return {};
}

/// Requests are served together, up to `most`, and take the longer the more of
/// them there are: `steps` are those where most is served.
ServingRefusal Server::waitForRoom(const ServedLoad &load, double most,
                                   double firstUs, const FullSteps &steps,
                                   Waiting &waiting) {
  const PromptQueue &full = steps.queue;
  double mostPerUs = steps.mostPerUs;
  double running = steps.running * prices.togetherCount();
  if (decodedSteps(load) == 0)
    return {};
  PromptQueue one;
  StepTime decode;
  if (auto refusal = queueOf(load, 1, one, decode))
    return refusal;
  double growth = (full.decodeUs - one.decodeUs) / std::max(1.0, running - 1);
  auto occupancy = [&](double count) {
    double stepUs = one.decodeUs + growth * (count - 1);
    double decodeUs = decodedSteps(load) * stepUs;
    return full.ratePerUs * ((firstUs + decodeUs) / count + full.promptUs());
  };
  double near = std::min(0.999, full.ratePerUs / mostPerUs);
  waiting.share = shareThatWaits(most, occupancy, near);
  // Answers of one length end as they began: half as late (Lee and Longton
  // 1959, DOI 10.1057/jors.1959.5).
  waiting.meanUs =
      waiting.share / mostPerUs * (1 + load.answerVariation) / (2 * (1 - near));
  return {};
}

/// Where `state` has means: how they spread, and who waits how long.
void Server::spread(const ServedLoad &load, const PromptQueue &queue,
                    double growthUs, ServiceTimes &times,
                    const SteadyState &state) {
  double steps = decodingSteps(load), each = load.tokensPerStep;
  double tokens = steps * each;
  // Requests are as slow as the steps that they see, and as the number of
  // others, which stays for as long as they do.
  times.token.mean = state.tpotUs;
  times.token.variance =
      (queue.varianceOfSum() / steps + growthUs * growthUs * state.running) /
      (each * each);
  TimeMoments first = times.first.moments();
  times.request.mean =
      first.mean + times.waiting.meanUs + load.decodedTokens() * state.tpotUs;
  double decodeUs = tokens * state.tpotUs;
  times.request.variance = first.variance +
                           decodeUs * decodeUs * load.answerVariation +
                           tokens * tokens * times.token.variance;
}

/// The steps of replicas where so many decode on each, and as many prompts come
/// as end.
ServingRefusal Server::fullAt(const ServedLoad &load, double running,
                              FullSteps &full) {
  constexpr double shortest = 1e-6;
  StepTime decode;
  full.running = running;
  full.queue.ratePerUs = load.ratePerS / prices.groupCount() / 1e6;
  if (auto refusal = queueOf(load, running, full.queue, decode))
    return refusal;
  double prompts =
      running * prices.togetherCount() / std::max(shortest, decodedSteps(load));
  full.isCrowded = prompts > full.queue.perStep;
  full.stepUs = fullStepUs(full.queue, prompts);
  full.mostPerUs = prompts / full.stepUs;
  return {};
}

/// Where most is served: with all that have room, unless those leave prompts
/// too little room in the steps.
ServingRefusal Server::findFull(const ServedLoad &load, double most,
                                FullSteps &full) {
  constexpr double fewer = 0.85;
  if (auto refusal = fullAt(load, most, full))
    return refusal;
  if (!runtime.fusesPrompts || load.isRead || !full.isCrowded)
    return {};
  double running = most * fewer;
  while (running >= 1) {
    FullSteps other;
    if (auto refusal = fullAt(load, std::floor(running), other))
      return refusal;
    if (other.mostPerUs > full.mostPerUs)
      full = other;
    running *= fewer;
  }
  return {};
}

/// Where `state.running` says how many have room.
ServingRefusal Server::serveOpen(const ServedLoad &load, SteadyState &state,
                                 ServiceTimes &times) {
  double groups = prices.groupCount(), together = prices.togetherCount();
  FullSteps best;
  if (auto refusal = findFull(load, state.running, best))
    return refusal;
  double places = state.running, most = best.running;
  double mostPerUs = best.mostPerUs, fullUs = best.stepUs;
  const PromptQueue &full = best.queue;
  PromptQueue queue;
  StepTime decode;
  queue.ratePerUs = full.ratePerUs;
  state.mostPerS = mostPerUs * 1e6 * groups;
  state.isOverloaded = queue.ratePerUs >= mostPerUs;
  double servedPerUs = std::min(queue.ratePerUs, mostPerUs);
  state.outputTokensPerSecond = 1e6 * servedPerUs * groups * load.answerTokens;
  if (state.isOverloaded) {
    if (auto refusal = queueOf(load, most, queue, decode))
      return refusal;
    state.running = most;
    state.tpotUs = fullUs / load.tokensPerStep;
    state.ttftUs = std::numeric_limits<double>::infinity();
    state.shareWithinLimits = load.limits.any() ? 0 : 1;
  } else {
    double running = 0, us = 0;
    if (auto refusal =
            findRunning(load, most * together, queue, decode, running, us))
      return refusal;
    state.running = running / together;
    double afterOwnUs =
        queue.afterOwnUs(decodingSteps(load)) * (1 + load.answerVariation);
    state.tpotUs =
        (us + afterOwnUs / decodingSteps(load)) / load.tokensPerStep;
  }
  setDecodeStep(state, decode);
  state.promptStepUs = queue.firstUs;
  state.addedByPromptUs = queue.promptUs();
  state.promptsPerStep =
      std::max(1.0, servedPerUs * state.tpotUs * load.tokensPerStep);
  if (state.isOverloaded)
    return {};
  times.first = queue.toFirstToken(-std::expm1(-state.running * together));
  // Little's law.
  state.reading = queue.ratePerUs * times.first.mean() / together;
  times.first.add(beforeAndAfter(load, state));
  if (auto refusal = waitForRoom(load, places * together, times.first.mean(),
                                 best, times.waiting))
    return refusal;
  state.waiting = queue.ratePerUs * times.waiting.meanUs / together;
  state.ttftUs = times.first.mean() + times.waiting.meanUs;
  spread(load, queue,
         (full.decodeUs - queue.decodeUs) / std::max(1.0, most - state.running),
         times, state);
  return {};
}

/// What requests take outside of steps: before the first of them, and until
/// the first token is seen.
TimeMoments Server::beforeAndAfter(const ServedLoad &load,
                                   const SteadyState &state) const {
  double before = runtime.requestTimePerTokenUs.value * load.promptTokens;
  if (load.isRead)
    return {};
  return {before + runtime.firstTokenSteps.value * state.decodeStepUs,
          before * before * load.promptVariation};
}

/// As many come as end, but that nobody meets himself.
ServingRefusal Server::spreadClosed(const ServedLoad &load,
                                    SteadyState &state) {
  PromptQueue queue;
  StepTime decode;
  double requestUs = state.ttftUs + load.decodedTokens() * state.tpotUs;
  double running = state.running * prices.togetherCount();
  queue.ratePerUs = (running - 1) / requestUs;
  if (auto refusal = queueOf(load, state.running, queue, decode))
    return refusal;
  ServiceTimes times;
  times.first = queue.toFirstToken(running > 1 ? 1 : 0);
  times.first.scaleTo(state.ttftUs);
  spread(load, queue, 0, times, state);
  times.fill(load.limits, state);
  return {};
}

//===----------------------------------------------------------------------===//
// Pools
//===----------------------------------------------------------------------===//

ServingRefusal Server::stepAt(const ServedLoad &load, double running,
                              SteadyState &state) {
  StepLoad step;
  step.decoding = std::max(1.0, running);
  step.context = load.contextTokens();
  addDrafts(load, step);
  StepTime time;
  if (auto refusal = priceRunning(step, time))
    return refusal;
  setDecodeStep(state, time);
  return {};
}

/// In whole prompts, as many as a step holds; one that it does not hold in
/// several steps.
ServingRefusal Server::paceOf(const ServedLoad &load, PromptPace &pace) {
  if (prices.refusal())
    return {ServingRefusal::Kind::step, prices.refusal()};
  double read = load.readTokens();
  double room = std::max(1.0, runtime.tokenBudget.value);
  double pieces = runtime.cutsPrompts ? std::max(1.0, read / room) : 1;
  StepLoad step;
  addPiece(load, std::max(1.0, std::floor(read / pieces)), step);
  StepTime one, full;
  if (auto refusal = priceServed(step, one))
    return refusal;
  step.prompts =
      std::max(1.0, std::floor(room / read)) * prices.togetherCount();
  if (auto refusal = priceServed(step, full))
    return refusal;
  pace.oneUs =
      one.us * pieces + runtime.requestTimePerTokenUs.value * load.promptTokens;
  pace.mostPerS = 1e6 * step.prompts * prices.groupCount() / (full.us * pieces);
  return {};
}
