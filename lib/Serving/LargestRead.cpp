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

/// Of a whole exponent.
static double power(double base, double exponent) {
  double product = 1;
  for (auto left = static_cast<int64_t>(exponent); left > 0; left >>= 1) {
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
static constexpr int pointCount = 29;
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

/// The integral of the probability that any is longer: `anyAbove` of the share
/// that is shorter.
template <typename AnyAbove>
static double longestOf(const LengthLaw &law, double most, AnyAbove anyAbove) {
  const std::array<double, pointCount> &shares = normalShares();
  double spread = std::log1p(law.variance / (law.mean * law.mean));
  double deviation = std::sqrt(spread), factor = std::exp(apart * deviation);
  double length = law.mean * std::exp(-deviations * deviation - spread / 2);
  double before = anyAbove(law.none), sum = before * std::min(length, most);
  for (int i = 1; i < pointCount && length < most; ++i) {
    double above = anyAbove(law.none + (1 - law.none) * shares[i]);
    double next = std::min(length * factor, most);
    sum += (next - length) * (before + above) / 2;
    before = above;
    length = next;
  }
  return sum;
}

double LengthLaw::longest(double count, double most) const {
  return longestOf(*this, most,
                   [count](double below) { return 1 - power(below, count); });
}

/// The integral of 2 * (most - length) * the probability that it is shorter.
double LengthLaw::idleSquare(double most) const {
  const std::array<double, pointCount> &shares = normalShares();
  double spread = std::log1p(variance / (mean * mean));
  double deviation = std::sqrt(spread), factor = std::exp(apart * deviation);
  double length = mean * std::exp(-deviations * deviation - spread / 2);
  auto below = [&](double share) { return none + (1 - none) * share; };
  double start = std::min(length, most), before = below(shares[0]);
  double sum = none * (2 * most - start) * start;
  for (int i = 1; i < pointCount && length < most; ++i) {
    double now = below(shares[i]), next = std::min(length * factor, most);
    sum += (next - length) * (before * (most - length) + now * (most - next));
    before = now;
    length = next;
  }
  return sum + (length < most ? (most - length) * (most - length) : 0);
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
    for (int count = 0; count < most; ++count) {
      double more = std::min(1.0, most - count), above = 1 - upTo;
      double idle = most - count;
      idleSquare += term * idle * idle;
      double anyAbove = 1 - power(upTo, replicas);
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
/// them what comes new (own), by the secant method.
template <typename Read>
static double withWaiting(double each, Read read) {
  constexpr int rounds = 5;
  constexpr double near = 1e-3;
  double before = each, lackedBefore = each - read(each);
  double come = std::min(each + lackedBefore, many);
  for (int i = 0; i < rounds; ++i) {
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
  CountMoments counts(each, cutsPrompts ? infinity : most, 1);
  LengthLaw law;
  law.none = std::exp(-each);
  law.mean = counts.mean / (1 - law.none);
  double square = counts.square + counts.mean * squaredVariation;
  law.variance = std::max(0.0, square / (1 - law.none) - law.mean * law.mean);
  return law;
}

/// As many as keep the replicas as busy without what waits.
double ReplicaReads::comingAgain(double each) const {
  if (squaredVariation <= 0)
    return withWaiting(
        each, [&](double now) { return CountMoments(now, most, 1).mean; });
  double room = cutsPrompts ? most : infinity;
  return withWaiting(each,
                     [&](double now) { return lawOf(now).longest(1, room); });
}

/// Of so many in the mean, those beyond the first.
static double beyondFirst(double prompts) {
  return prompts + std::expm1(-prompts);
}

/// How likely there are two of them at least.
static double shareOfTwo(double prompts) {
  return 1 - (1 + prompts) * std::exp(-prompts);
}

/// What each prompt beyond the first adds to the largest count, where each of
/// Poisson's law goes to any replica: 1 / replicas of two.
double ReplicaReads::meeting(double prompts) const {
  constexpr double few = 0.1;
  if (prompts < few)
    return 1 / replicas;
  double largest = CountMoments(prompts / replicas, infinity, replicas).largest;
  return (largest + std::expm1(-prompts)) / beyondFirst(prompts);
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
  double rarer = (1 - meetingAlone) / replicas * shareOfTwo(prompts);
  double spared =
      beyondFirst(prompts) * (meeting(prompts) - meeting(afterEnds)) +
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
  // Beside the longer one of two the shorter one counts.
  if (squaredVariation > 0)
    second *= 2 - LengthLaw{0, 1, squaredVariation}.longest(2, infinity);
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
    fewest += power(above, replicas);
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
  return (1 - power(1 - cut, replicas)) / any;
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
    own = 1 - LengthLaw{0, 1, squaredVariation}.longest(1, most);
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
