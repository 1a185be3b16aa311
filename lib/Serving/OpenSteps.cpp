//===- OpenSteps.cpp - Steps of requests that come when they come ---------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Serving/Server.h"

#include "ServiceTimes.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace autopar;
using namespace autopar::serving;

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

/// Of a prompt with `left` tokens that no cache has, whole or in pieces that
/// fill steps and a last one that sees all: how long it is read, and how much
/// of that it adds to steps that decode something.
ServingRefusal Server::timeRead(const ServedLoad &load, double left,
                                ReadTime &read) {
  double most = runtime.cutsPrompts ? std::max(1.0, runtime.tokenBudget.value)
                                    : std::numeric_limits<double>::infinity();
  double full = std::floor((left - 1) / most);
  StepLoad step;
  StepTime beside, time;
  if (runtime.fusesPrompts) {
    step.decoding = 1;
    step.context = load.contextTokens();
    if (auto refusal = priceServed(step, beside))
      return refusal;
  }
  // Caches have as large a share of short prompts as of long ones.
  double cached =
      left * (std::round(load.promptTokens) / load.readTokens() - 1);
  auto add = [&](double pieces, double tokens, double context) {
    step.prompts = 1;
    step.promptTokens = std::round(tokens);
    step.promptContext = std::round(cached + context);
    auto refusal = priceServed(step, time);
    read.wholeUs += pieces * time.us;
    read.addedUs += pieces * (time.us - beside.us);
    read.longestUs = std::max(read.longestUs, time.us - beside.us);
    return refusal;
  };
  double tokens = left;
  read.furtherSteps = std::max(0.0, full);
  if (full > 0) {
    tokens -= full * most;
    if (auto refusal = add(full, most, most * (full + 1) / 2))
      return refusal;
  }
  return add(1, tokens, left);
}

/// Times grow faster than lengths do, and each piece takes a step.
ServingRefusal Server::findLaw(const ServedLoad &load, ReadLaw &law) {
  law = {};
  if (load.isRead || load.promptVariation <= 0)
    return {};
  double share = load.readTokens() / std::round(load.promptTokens);
  ReadTime middle;
  if (auto refusal = timeRead(load, load.readTokens(), middle))
    return refusal;
  std::array<ReadTime, gaussPoints.size()> times;
  TimeMoments whole, added;
  double longestUs = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    double tokens = std::max(1.0, std::round(share * load.promptsAt[i]));
    if (auto refusal = timeRead(load, tokens, times[i]))
      return refusal;
    whole.mean += gaussWeights[i] * times[i].wholeUs;
    added.mean += gaussWeights[i] * times[i].addedUs;
    longestUs += gaussWeights[i] * times[i].longestUs;
    law.furtherSteps += gaussWeights[i] * times[i].furtherSteps;
  }
  for (size_t i = 0; i < times.size(); ++i) {
    double apart = times[i].wholeUs - whole.mean,
           besideApart = times[i].addedUs - added.mean;
    whole.variance += gaussWeights[i] * apart * apart;
    whole.third += gaussWeights[i] * apart * apart * apart;
    added.variance += gaussWeights[i] * besideApart * besideApart;
  }
  law.whole = whole;
  law.whole.scale(1 / middle.wholeUs);
  if (added.mean <= 0 || middle.addedUs <= 0)
    return {};
  law.added = added.mean / middle.addedUs;
  law.squaredVariation = added.variance / (added.mean * added.mean);
  for (size_t i = 0; i < times.size(); ++i) {
    law.deviations[i] = times[i].longestUs / longestUs - 1;
    law.stepVariation +=
        gaussWeights[i] * law.deviations[i] * law.deviations[i];
  }
  return {};
}

/// What a prompt adds beside one that another replica reads, and beside one
/// that its own does: all wait for the replica that reads most, which is so
/// much in the mean.
ServingRefusal Server::addMoreLocked(const FirstStep &first, double most,
                                     PromptQueue &queue) {
  double together = prices.togetherCount();
  StepLoad step = first.load;
  StepTime others, longer;
  longer.us = first.us;
  if (most > 1) {
    step.joinPrompts(std::round(step.promptTokens * most));
    if (auto refusal = priceRunning(step, longer))
      return refusal;
  }
  step.prompts = together;
  if (auto refusal = priceRunning(step, others))
    return refusal;
  queue.moreUs =
      std::max(0.0, (others.us - longer.us) / ((together - 1) * most));
  // Each step of a prompt in pieces is full.
  if (queue.mostLength <= 1)
    return {};
  if (most <= 1) {
    most = std::min(2.0, queue.mostLength);
    step = first.load;
    step.joinPrompts(std::round(step.promptTokens * most));
    if (auto refusal = priceRunning(step, longer))
      return refusal;
  }
  queue.longestUs =
      std::max(0.0, (longer.us - first.us) / (most - 1) - queue.moreUs);
  return {};
}

/// How many whole prompts a step reads that has room for so many of mean
/// length, one at least (the renewal function; Cox 1962).
static double wholePrompts(double room, const ServedLoad &load) {
  if (load.promptVariation <= 0)
    return std::max(1.0, std::floor(room));
  ReplicaReads reads{1, load.promptVariation, room, /*cutsPrompts=*/false};
  double sum = 1;
  for (double count = 2, share = 1; share > 1e-4; ++count)
    sum += share = 1 - reads.shareWithoutRoom(count);
  return sum;
}

/// The steps of a replica where `running` sequences decode; `queue` has a rate
/// and a law.
ServingRefusal Server::describe(const ServedLoad &load, double running,
                                PromptQueue &queue, StepTime &decode,
                                FirstStep &first) {
  double together = prices.togetherCount();
  StepLoad &step = first.load;
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
  queue.endsInTurn = load.answerVariation <= 0;
  queue.turns = prices.groupCount();
  queue.together = together;
  if (load.isRead) {
    queue.firstUs = decode.us;
    queue.own = {decode.us};
    queue.perStep = runtime.maxSequences.value * together;
    queue.reads = {together, 0, runtime.maxSequences.value, false};
    queue.fusesPrompts = true;
    return {};
  }
  double each =
      runtime.cutsPrompts ? room / read : wholePrompts(room / read, load);
  each = std::min(each, runtime.maxSequences.value);
  queue.mostLength =
      runtime.cutsPrompts ? each : std::numeric_limits<double>::infinity();
  queue.perStep = each * together;
  queue.pieces = std::max(1.0, 1 / each);
  if (!fuses)
    step.decoding = 0;
  addPiece(load, each >= 1 ? read : std::floor(std::min(read, room)), step);
  StepTime time;
  if (auto refusal = priceRunning(step, time))
    return refusal;
  first.us = time.us;
  first.addedUs = std::max(0.0, first.us - (fuses ? decode.us : 0));
  queue.own = queue.law.whole;
  queue.own.scale(first.us * queue.pieces);
  queue.reads = {together, load.promptVariation, each, runtime.cutsPrompts};
  auto refusal =
      together > 1 ? addMoreLocked(first, 1, queue) : addMore(first, queue);
  queue.addFirst(first.us, first.addedUs);
  return refusal;
}

/// The same where tokens take about so long: of replicas that read several
/// prompts in a step, each adds what it does there.
ServingRefusal Server::queueOf(const ServedLoad &load, double running,
                               double tokenUs, PromptQueue &queue,
                               StepTime &decode) {
  FirstStep first;
  if (auto refusal = describe(load, running, queue, decode, first))
    return refusal;
  if (queue.longestUs <= 0)
    return {};
  constexpr double few = 2;
  double prompts = queue.ratePerUs * queue.pieces * queue.stepUsOf(tokenUs);
  // No replica reads more than all do.
  double most = prompts > few ? queue.times.largest(prompts) : prompts;
  if (most <= few)
    return {};
  auto refusal = addMoreLocked(first, most, queue);
  queue.addFirst(first.us, first.addedUs);
  return refusal;
}

/// What each further prompt adds to a step.
ServingRefusal Server::addMore(const FirstStep &first, PromptQueue &queue) {
  constexpr double mostPriced = 4;
  queue.moreUs = first.addedUs;
  double atOnce = queue.perStep * queue.pieces + 1e-9;
  double share = std::clamp(atOnce - 1, 0.0, 1.0);
  // The next one has room beside it in part, or with what is left of it.
  if (runtime.cutsPrompts)
    share = queue.pieces > 1 ? 0 : 1;
  if (share < 1e-3)
    return {};
  StepTime several;
  StepLoad step = first.load;
  step.prompts = std::clamp(std::floor(atOnce), 2.0, mostPriced);
  if (auto refusal = priceRunning(step, several))
    return refusal;
  double moreUs = std::max(0.0, (several.us - first.us) / (step.prompts - 1));
  queue.moreUs += share * (moreUs - queue.moreUs);
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
  pace.oneUs = one.us * pieces;
  pace.mostPerS = 1e6 * step.prompts * prices.groupCount() / (full.us * pieces);
  return {};
}
