//===- LargestRead.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LargestRead.h"

#include "LengthIntegral.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

using namespace autopar;
using namespace autopar::serving;

static constexpr double many = ReplicaReads::many;
static constexpr double infinity = std::numeric_limits<double>::infinity();

//===----------------------------------------------------------------------===//
// Lengths
//===----------------------------------------------------------------------===//

/// Shares of a normal law below points from `-deviations` on.
static constexpr int pointCount = 15;
static constexpr double deviations = 3.5;
static constexpr double apart = 2 * deviations / (pointCount - 1);

static const std::array<double, pointCount> &normalShares() {
  static const std::array<double, pointCount> shares = [] {
    std::array<double, pointCount> at;
    for (int i = 0; i < pointCount; ++i)
      at[i] = normalBelow(i * apart - deviations);
    return at;
  }();
  return shares;
}

/// Where the length is, in deviations of the logarithm, which `deviation` is:
/// of the k-th moment, those that are shorter have the share k deviations below
/// (Aitchison and Brown 1957, section 2.4).
static double deviationsOf(const LengthLaw &law, double length,
                           double &deviation) {
  double spread = std::log1p(law.variance / (law.mean * law.mean));
  deviation = std::sqrt(spread);
  return (std::log(length / law.mean) + spread / 2) / deviation;
}

double LengthLaw::limited(double most) const {
  double deviation, at = deviationsOf(*this, most, deviation);
  double shorter = mean * normalBelow(at - deviation);
  double others = at < infinity ? most * normalBelow(-at) : 0;
  return (1 - none) * (shorter + others);
}

double LengthLaw::longest(double count, double most) const {
  const std::array<double, pointCount> &shares = normalShares();
  auto whole = static_cast<int64_t>(count);
  double spread = std::log1p(variance / (mean * mean));
  double deviation = std::sqrt(spread);
  double first = mean * std::exp(-deviations * deviation - spread / 2);
  return meanLength(first, apart * deviation, pointCount, most, [&](int i) {
    double shorter = i == 0 ? 0 : shares[i];
    return 1 - power(none + (1 - none) * shorter, whole);
  });
}

double LengthLaw::idleSquare(double most) const {
  double deviation, at = deviationsOf(*this, most, deviation);
  double square = most * most * normalBelow(at) -
                  2 * most * mean * normalBelow(at - deviation) +
                  (mean * mean + variance) * normalBelow(at - 2 * deviation);
  return none * most * most + (1 - none) * std::max(0.0, square);
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

/// Counts of Poisson's law, each `most` at most: the mean, that of squares, and
/// that of the largest of so many; and the square of what is left of the most.
namespace {
struct CountMoments {
  double mean = 0, square = 0, largest = 0, idleSquare = 0;

  CountMoments(double each, double most, double replicas) {
    constexpr double least = 1e-6;
    double term = std::exp(-each), upTo = term;
    auto whole = static_cast<int64_t>(replicas);
    for (int count = 0; count < most; ++count) {
      double more = std::min(1.0, most - count), above = 1 - upTo;
      double idle = most - count;
      idleSquare += term * idle * idle;
      double anyAbove = 1 - power(upTo, whole);
      mean += above * more;
      square += above * more * (2 * count + more);
      largest += anyAbove * more;
      if (!(anyAbove >= least || count <= each))
        break;
      term *= each / (count + 1);
      upTo += term;
    }
  }
};
} // namespace

/// What has no room comes again beside what follows: as many as make `read` of
/// them what comes new (own), by the secant method. Little that lacks lacks
/// little again.
template <typename Read>
static double withWaiting(double each, Read read) {
  constexpr int rounds = 5;
  constexpr double near = 1e-3, little = 1e-2;
  double before = each, lackedBefore = each - read(each);
  double come = std::min(each + lackedBefore, many);
  for (int i = 0; i < rounds && lackedBefore > little * each; ++i) {
    double lacks = each - read(come);
    if (std::abs(lacks) < near * each || lacks >= lackedBefore)
      break;
    double more = lacks * (come - before) / (lackedBefore - lacks);
    before = come;
    lackedBefore = lacks;
    come = std::min(come + std::max(more, -come / 2), many);
  }
  return come;
}

/// Of `each` prompts in the mean, whose counts end at `most` where whole ones
/// have room.
LengthLaw ReplicaReads::lawOf(double each) const {
  double countMean = each, countSquare = each + each * each;
  if (!cutsPrompts) {
    CountMoments counts(each, most, 1);
    countMean = counts.mean;
    countSquare = counts.square;
  }
  LengthLaw law;
  law.none = std::exp(-each);
  law.mean = countMean / (1 - law.none);
  double square = countSquare + countMean * squaredVariation;
  law.variance = std::max(0.0, square / (1 - law.none) - law.mean * law.mean);
  return law;
}

/// As many as keep the replicas as busy without what waits.
double ReplicaReads::comingAgain(double each) const {
  if (squaredVariation <= 0 || !cutsPrompts)
    return withWaiting(
        each, [&](double now) { return CountMoments(now, most, 1).mean; });
  return withWaiting(each,
                     [&](double now) { return lawOf(now).limited(most); });
}

/// What each prompt beyond the first adds to the largest count, where each of
/// Poisson's law, which are `none` with such a probability, goes to any
/// replica: 1 / replicas of two.
double ReplicaReads::meeting(double prompts, double none) const {
  constexpr double few = 0.1;
  if (prompts < few)
    return 1 / replicas;
  double largest = CountMoments(prompts / replicas, infinity, replicas).largest;
  return (largest - (1 - none)) / (prompts - (1 - none));
}

/// By how much the largest count is less where prompts go to replicas that have
/// fewest than where they go to any. As many as have ended go where those
/// were, which is anywhere: in the mean of two counts the fewer. The others
/// meet as two do that come alone.
double ReplicaReads::spared(double prompts) const {
  constexpr double most = 700;
  if (replicas == 1 || prompts > most || prompts <= 0)
    return 0;
  double afterEnds = 2 * prompts - CountMoments(prompts, infinity, 2).largest;
  double none = std::exp(-prompts), any = 1 - none;
  double rarer = (1 - meetingAlone) / replicas * (any - prompts * none);
  double spared = (prompts - any) * (meeting(prompts, none) -
                                     meeting(afterEnds, std::exp(-afterEnds))) +
                  (1 - afterEnds / prompts) * rarer;
  return std::max(0.0, spared);
}

double ReplicaReads::largestAnywhere(double prompts) const {
  if (prompts > many * replicas)
    return std::min(most, prompts / replicas);
  double come = comingAgain(prompts / replicas);
  // Counts alone differ.
  if (squaredVariation <= 0)
    return CountMoments(come, most, replicas).largest;
  return lawOf(come).longest(replicas, cutsPrompts ? most : infinity);
}

double ReplicaReads::largest(double prompts) const {
  double second = std::clamp(most - 1, 0.0, 1.0) * spared(prompts);
  // Beside the longer one of two, of a log-normal law, the shorter one counts.
  if (squaredVariation > 0)
    second *= smallerOfTwo(squaredVariation);
  return largestAnywhere(prompts) - second;
}

/// Replicas have as many again where each has got what ended on it beyond the
/// fewest that ended on any, of Poisson's law.
double ReplicaReads::shareUneven(double prompts) const {
  if (prompts <= 0 || prompts > many * replicas)
    return 0;
  double each = prompts / replicas, term = std::exp(-each), above = 1 - term;
  double fewest = 0;
  for (int count = 1; above > 1e-6; ++count) {
    fewest += power(above, static_cast<int64_t>(replicas));
    term *= each / count;
    above -= term;
  }
  double seconds = 1 + std::expm1(-each) / each;
  return seconds * (1 - fewest / each);
}

double ReplicaReads::largestToRead(double prompts) const {
  ReplicaReads all = *this;
  all.most = infinity;
  return all.largestAnywhere(prompts);
}

double ReplicaReads::shareWithoutRoom(double count) const {
  if (squaredVariation <= 0)
    return count > most ? 1 : 0;
  LengthLaw sum{0, count, count * squaredVariation};
  double deviation;
  return normalBelow(-deviationsOf(sum, most, deviation));
}

double ReplicaReads::shareCut(double prompts) const {
  constexpr double least = 1e-4, muchMore = 4;
  if (!cutsPrompts)
    return 0;
  double each = comingAgain(std::min(prompts / replicas, many));
  if (each > muchMore * (1 + most))
    return 1;
  double term = std::exp(-each), above = 1 - term, cut = 0;
  for (int count = 1; above > least * std::min(1.0, each); ++count) {
    term *= each / count;
    above -= term;
    cut += term * shareWithoutRoom(count);
  }
  double any = -std::expm1(-each * replicas);
  return (1 - power(1 - cut, static_cast<int64_t>(replicas))) / any;
}

/// Of a prompt that nothing else comes beside, for how many steps more than one
/// it is read, and the sum of what is left of it after each.
Unread ReplicaReads::ownRest() const {
  constexpr double least = 1e-3;
  constexpr int mostSteps = 1000;
  LengthLaw length{0, 1, squaredVariation};
  Unread own;
  if (!cutsPrompts)
    return own;
  bool isOne = squaredVariation <= 0;
  double left = 1;
  for (int step = 1; left > least && step < mostSteps; ++step) {
    double room = step * most;
    left = 1 - (isOne ? std::min(1.0, room) : length.limited(room));
    own.steps += left;
    if (step == 1)
      own.share = 1 / (1 - left) - 1;
  }
  return own;
}

/// What waits of so much that comes in a step and has so much room, by the
/// moments of what comes and of what is left of the room (Lindley 1952).
Unread ReplicaReads::unread(double prompts) const {
  constexpr double least = 0.02;
  Unread unread;
  if (prompts <= 0)
    return unread;
  double each = std::min(prompts / replicas, many), come = comingAgain(each);
  bool areCounted = squaredVariation <= 0 || !cutsPrompts;
  double left = std::max(least * most, most - each), idle = 0;
  double variance = each;
  if (areCounted) {
    CountMoments counts(come, most, 1);
    idle = counts.idleSquare;
  } else {
    idle = lawOf(come).idleSquare(most);
    variance *= 1 + squaredVariation;
  }
  Unread own = ownRest();
  double waits = (variance + left * left - idle) / (2 * left);
  // Whoever waits does for a step at least, and few do for more where there is
  // much room.
  unread.share = std::clamp(come / each - 1 - own.share, 0.0, 1.0);
  unread.steps = std::clamp(waits / each - own.steps, unread.share,
                            unread.share * most / left);
  return unread;
}
