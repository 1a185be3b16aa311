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
#include <limits>

using namespace autopar;

/// Of so many, all replicas have about as many.
static constexpr double many = 500;
static constexpr double infinity = std::numeric_limits<double>::infinity();

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

/// The integral of the probability that any is longer.
double LengthLaw::longest(double count, double most) const {
  const std::array<double, pointCount> &shares = normalShares();
  double spread = std::log1p(variance / (mean * mean));
  double deviation = std::sqrt(spread), factor = std::exp(apart * deviation);
  auto anyAbove = [&](double below) {
    return 1 - (count == 1 ? below : std::pow(below, count));
  };
  double length = mean * std::exp(-deviations * deviation - spread / 2);
  double before = anyAbove(none), sum = before * std::min(length, most);
  for (int i = 1; i < pointCount && length < most; ++i) {
    double above = anyAbove(none + (1 - none) * shares[i]);
    double next = std::min(length * factor, most);
    sum += (next - length) * (before + above) / 2;
    before = above;
    length = next;
  }
  return sum;
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
      double anyAbove = replicas == 1 ? above : 1 - std::pow(upTo, replicas);
      mean += above * more;
      square += above * more * (2 * count + more);
      largest += anyAbove * more;
      if (anyAbove < least && count > each)
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
  double come = each + lackedBefore;
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

double ReplicaReads::largest(double prompts) const {
  if (prompts > many)
    return std::min(most, prompts / replicas);
  double come = comingAgain(prompts / replicas);
  // Counts alone differ.
  if (squaredVariation <= 0)
    return CountMoments(come, most, replicas).largest;
  return lawOf(come).longest(replicas, cutsPrompts ? most : infinity);
}

double ReplicaReads::largestToRead(double prompts) const {
  ReplicaReads all = *this;
  all.most = infinity;
  return all.largest(prompts);
}

/// What waits of so much that comes in a step and has so much room, by the
/// moments of what comes and of what is left of the room (Lindley 1952).
Unread ReplicaReads::unread(double prompts) const {
  constexpr double least = 0.02;
  Unread unread;
  if (prompts <= 0)
    return unread;
  double each = std::min(prompts, many) / replicas, come = comingAgain(each);
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

double ReplicaReads::largestOfEven(double prompts) const {
  if (prompts > many)
    return std::min(most, prompts / replicas);
  double term = std::exp(-prompts), any = 1 - term, below = term;
  double deepest = 0, readers = 0;
  // Of Poisson's law: how many there are at least.
  for (int count = 1; below < 1 - 1e-6; ++count) {
    double least = 1 - below;
    if (std::fmod(count - 1, replicas) == 0)
      deepest += least;
    if (count <= replicas)
      readers += least;
    term *= prompts / count;
    below += term;
    if (count > replicas && term < 1e-9)
      break;
  }
  deepest = std::min(deepest / any, std::max(1.0, most));
  if (squaredVariation <= 0)
    return any * deepest;
  LengthLaw law;
  law.mean = deepest;
  law.variance = deepest * squaredVariation;
  return any * law.longest(readers / any, cutsPrompts ? most : infinity);
}
