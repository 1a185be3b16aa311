//===- LargestRead.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LargestRead.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

using namespace autopar;

/// Of a replica: so many vary little.
static constexpr double many = 500;
static constexpr double infinity = std::numeric_limits<double>::infinity();

static double power(double base, int64_t exponent) {
  double product = 1;
  for (int64_t left = exponent; left > 0; left >>= 1) {
    if (left & 1)
      product *= base;
    base *= base;
  }
  return product;
}

//===----------------------------------------------------------------------===//
// Lengths
//===----------------------------------------------------------------------===//

/// Shares of a normal law below points from `-deviations` on.
static constexpr int pointCount = 21;
static constexpr double deviations = 3.5;
static constexpr double apart = 2 * deviations / (pointCount - 1);

static const std::array<double, pointCount> &normalShares() {
  static const std::array<double, pointCount> shares = [] {
    std::array<double, pointCount> at;
    for (int i = 0; i < pointCount; ++i)
      at[i] = std::erfc((deviations - i * apart) / std::sqrt(2.0)) / 2;
    return at;
  }();
  return shares;
}

/// Of a normal law, the share below.
static double normalBelow(double deviations) {
  return std::erfc(-deviations / std::sqrt(2.0)) / 2;
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

/// The integral of the probability that any is longer, `anyAbove` of the share
/// that is shorter: by trapezoids as far as what is longer ends or has no room,
/// less what they are above the curve (Euler and Maclaurin).
template <typename AnyAbove>
static double longestOf(const LengthLaw &law, double most, AnyAbove anyAbove) {
  const std::array<double, pointCount> &shares = normalShares();
  double spread = std::log1p(law.variance / (law.mean * law.mean));
  double step = apart * std::sqrt(spread), factor = std::exp(step);
  double length = law.mean * std::exp(-deviations / apart * step - spread / 2);
  double before = anyAbove(law.none), sum = before * std::min(length, most);
  double moved = 0, end = 0;
  for (int i = 1; i < pointCount && length < most; ++i) {
    double above = anyAbove(law.none + (1 - law.none) * shares[i]);
    double next = length * factor, falls = before - above;
    if (next > most) {
      double part = most - length;
      sum += part * (before - falls * part / (next - length) / 2);
      break;
    }
    sum += (next - length) * (before + above) / 2;
    moved += falls * (length + next) / 2;
    end = falls * length * next / (next - length);
    before = above;
    length = next;
  }
  return sum - step * step / 12 * (2 * moved - end);
}

double LengthLaw::longest(double count, double most) const {
  auto whole = static_cast<int64_t>(count);
  return longestOf(*this, most,
                   [whole](double below) { return 1 - power(below, whole); });
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

/// How likely two meet that come at once where requests come and end one by
/// one, each to the first of the replicas that have fewest, over how likely
/// they do where each goes to any. Of two replicas exactly: their counts differ
/// by n or 1-n with (1/3)^n, and they meet where n is 2 or more, with 1/3 for
/// 1/2.
static constexpr double meetingAlone = 2.0 / 3;

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
    second *= std::erfc(std::sqrt(std::log1p(squaredVariation)) / 2);
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

/// How likely so many prompts are longer: sums of lengths are of log-normal
/// laws.
double ReplicaReads::shareWithoutRoom(double count) const {
  if (squaredVariation <= 0)
    return count > most ? 1 : 0;
  double spread = std::log1p(squaredVariation / count);
  double above = std::log(most / count) + spread / 2;
  return std::erfc(above / std::sqrt(2 * spread)) / 2;
}

double ReplicaReads::shareCut(double prompts) const {
  constexpr double least = 1e-4;
  if (!cutsPrompts)
    return 0;
  double each = comingAgain(std::min(prompts / replicas, many));
  double term = std::exp(-each), above = 1 - term, cut = 0;
  for (int count = 1; above > least * each; ++count) {
    term *= each / count;
    above -= term;
    cut += term * shareWithoutRoom(count);
  }
  double any = -std::expm1(-each * replicas);
  return (1 - power(1 - cut, static_cast<int64_t>(replicas))) / any;
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
  double left = std::max(least * most, most - each), idle = 0, own = 0;
  double variance = each;
  if (areCounted) {
    CountMoments counts(come, most, 1);
    idle = counts.idleSquare;
  } else {
    LengthLaw law = lawOf(come);
    idle = law.idleSquare(most);
    variance *= 1 + squaredVariation;
    // Of one alone, too, which is a part of what it takes.
    own = 1 - LengthLaw{0, 1, squaredVariation}.limited(most);
  }
  double waits = (variance + left * left - idle) / (2 * left);
  // Whoever waits does for a step at least, and few do for more where there is
  // much room.
  unread.share = std::clamp(come / each - 1 - own, 0.0, 1.0);
  unread.steps =
      std::clamp(waits / each - own, unread.share, unread.share * most / left);
  return unread;
}

namespace {
/// How many replicas read, where each prompt of Poisson's law goes to another.
struct Readers {
  static constexpr int most = 64;
  int count = 0;
  double shares[most + 1];

  Readers(double prompts, double replicas) {
    constexpr double least = 1e-6;
    int last = static_cast<int>(std::min<double>(replicas, most));
    double term = std::exp(-prompts), above = 1 - term;
    shares[0] = term;
    while (count < last && (above > least || count < prompts)) {
      term *= prompts / ++count;
      shares[count] = term;
      above -= term;
    }
    shares[count] += std::max(0.0, above);
  }

  /// How likely any reads more than what a share of prompts are below.
  double anyAbove(double below) const {
    double none = shares[count];
    for (int i = count - 1; i >= 0; --i)
      none = none * below + shares[i];
    return 1 - none;
  }
};
} // namespace

/// In the mean, of the replica that gets most of what is dealt in turn.
static double deepestOf(double prompts, double replicas) {
  // Of so many, what is left after the last full round is any.
  constexpr double large = 500;
  if (prompts > large)
    return prompts / replicas + 0.5;
  // Of Poisson's law: how many there are at least.
  double term = std::exp(-prompts), below = term, deepest = 0;
  for (int count = 1; below < 1 - 1e-6; ++count) {
    if (std::fmod(count - 1, replicas) == 0)
      deepest += 1 - below;
    // The second of two finds what the first one left uneven, as that did.
    if (count == 2 && replicas > 1)
      deepest += (1 - below) * power(meetingAlone / replicas, 2);
    term *= prompts / count;
    below += term;
    if (count > prompts && term < 1e-9)
      break;
  }
  return deepest;
}

double ReplicaReads::largestOfEven(double prompts) const {
  if (prompts > many * replicas)
    return std::min(most, prompts / replicas);
  double any = -std::expm1(-prompts);
  double deepest =
      std::min(deepestOf(prompts, replicas) / any, std::max(1.0, most));
  if (squaredVariation <= 0)
    return any * deepest;
  LengthLaw law;
  law.mean = deepest;
  law.variance = deepest * squaredVariation;
  Readers readers(prompts, replicas);
  return longestOf(law, cutsPrompts ? most : infinity,
                   [&](double below) { return readers.anyAbove(below); });
}
