//===- ReplicaPrompts.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReplicaPrompts.h"

#include "LogNormal.h"
#include "RootFinding.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

using namespace autopar;
using namespace autopar::serving;

static constexpr double infinity = std::numeric_limits<double>::infinity();
/// From this mean number of prompts per replica on, the law of large numbers
/// makes replicas equal: their counts deviate by 4 %, the largest of 64 by 11
/// %.
static constexpr double manyPrompts = 500;

//===----------------------------------------------------------------------===//
// Work of one replica
//===----------------------------------------------------------------------===//

namespace {

/// A random length that is 0 with probability `none`, and otherwise log-normal.
struct Work {
  double none = 0, mean = 1, variance = 0;

  double limited(double limit) const;
  double longest(double count, double limit) const;
};

/// Moments of the counts of a Poisson distribution with mean `each`, cut at
/// `limit`: their mean, their mean square, and the mean of the largest of
/// `replicas` counts.
struct CountMoments {
  double mean = 0, square = 0, largest = 0;

  CountMoments(double each, double limit, double replicas) {
    // Tails below 1e-6 change no figure that a report prints.
    constexpr double smallestTail = 1e-6;
    double term = std::exp(-each), upTo = term;
    auto whole = static_cast<int64_t>(replicas);
    for (int count = 0; count < limit; ++count) {
      double more = std::min(1.0, limit - count), above = 1 - upTo;
      double anyAbove = 1 - power(upTo, whole);
      mean += above * more;
      square += above * more * (2 * count + more);
      largest += anyAbove * more;
      if (!(anyAbove >= smallestTail || count <= each))
        break;
      term *= each / (count + 1);
      upTo += term;
    }
  }
};

} // namespace

/// Returns how many standard deviations of the logarithm `length` lies above
/// the median. Sets `deviation` to the standard deviation of the logarithm.
static double deviationsOf(const Work &work, double length, double &deviation) {
  double spread = std::log1p(work.variance / (work.mean * work.mean));
  deviation = std::sqrt(spread);
  return (std::log(length / work.mean) + spread / 2) / deviation;
}

/// Returns E[min(length, limit)]. The lengths below a value have the share of
/// the mean that lies one deviation lower (Aitchison and Brown 1957, section
/// 2.4).
double Work::limited(double limit) const {
  double deviation, at = deviationsOf(*this, limit, deviation);
  double shorter = mean * normalBelow(at - deviation);
  double others = at < infinity ? limit * normalBelow(-at) : 0;
  return (1 - none) * (shorter + others);
}

/// Returns E[min(largest of `count` lengths, limit)].
double Work::longest(double count, double limit) const {
  // 15 points from -3.5 to 3.5 deviations give 0.1 % of the mean.
  constexpr int points = 15;
  constexpr double farthest = 3.5, apart = 2 * farthest / (points - 1);
  static const std::array<double, points> shares = [] {
    std::array<double, points> at;
    for (int i = 0; i < points; ++i)
      at[i] = normalBelow(i * apart - farthest);
    return at;
  }();
  auto whole = static_cast<int64_t>(count);
  double spread = std::log1p(variance / (mean * mean));
  double deviation = std::sqrt(spread);
  double shortest = mean * std::exp(-farthest * deviation - spread / 2);
  return meanLength(shortest, apart * deviation, points, limit, [&](int i) {
    double shorter = i == 0 ? 0 : shares[i];
    return 1 - power(none + (1 - none) * shorter, whole);
  });
}

/// Returns the work of a replica that gets `each` prompts in the mean.
static Work workOf(const ReplicaPrompts &prompts, double each) {
  double mean = each, square = each + each * each;
  if (!prompts.cutsPrompts) {
    CountMoments counts(each, prompts.limit, 1);
    mean = counts.mean;
    square = counts.square;
  }
  Work work;
  work.none = std::exp(-each);
  double any = 1 - work.none;
  work.mean = mean / any;
  double squareOfWork = (square + mean * prompts.squaredVariation) / any;
  work.variance = std::max(0.0, squareOfWork - work.mean * work.mean);
  return work;
}

//===----------------------------------------------------------------------===//
// Work of a group of replicas
//===----------------------------------------------------------------------===//

/// Returns the mean number of prompts of a replica in a step, including those
/// that found no room in the step before. With this number the replica prefills
/// as much in a step as arrives.
double ReplicaPrompts::withRetries(double perReplica) const {
  // If 1 % is retried, what is retried again is 1 % of 1 %, which is left out.
  constexpr double littleRetried = 1e-2;
  auto prefilled = [&](double prompts) {
    return squaredVariation > 0 && cutsPrompts
               ? workOf(*this, prompts).limited(limit)
               : CountMoments(prompts, limit, 1).mean;
  };
  double lacks = perReplica - prefilled(perReplica);
  if (lacks <= littleRetried * perReplica)
    return std::min(perReplica + lacks, manyPrompts);
  auto excessAt = [&](double ratio, double &excess) {
    excess = 1 - prefilled(ratio * perReplica) / perReplica;
    return ServingRefusal();
  };
  double ratio = 1;
  findZero(1 + lacks / perReplica, 1, manyPrompts / perReplica, excessAt,
           ratio);
  return ratio * perReplica;
}

/// For prompts that go to any replica, returns how much each prompt beyond the
/// first adds to the largest count. Two prompts meet on one of R replicas with
/// probability 1/R.
double ReplicaPrompts::sharedPerPrompt(double prompts, double none) const {
  // Below a mean of 0.1 prompts, a third prompt comes with less than 0.5 % of
  // the second prompts, and the quotient below loses its digits.
  constexpr double fewPrompts = 0.1;
  if (prompts < fewPrompts)
    return 1 / replicas;
  double largest = CountMoments(prompts / replicas, infinity, replicas).largest;
  return (largest - (1 - none)) / (prompts - (1 - none));
}

/// Returns how much smaller the largest count is if prompts go to the replicas
/// with the fewest requests than if they go to any replica. As many prompts as
/// requests have ended in the step go to the replicas of these requests, which
/// may be any (the mean of the smaller of two Poisson counts). The other
/// prompts meet with the probability of two prompts that arrive alone.
double ReplicaPrompts::sparedByDealing(double prompts) const {
  // The probability that two prompts meet on a replica, times R, if requests
  // arrive and end one by one. It is exact for two replicas: their counts
  // differ by n or 1 - n with probability (1/3)^n, and two prompts meet if n >=
  // 2, with probability 1/3 instead of 1/2.
  constexpr double meetingAlone = 2.0 / 3;
  // exp(-745) is 0, so that the terms of the Poisson distribution underflow.
  constexpr double mostPrompts = 700;
  if (replicas == 1 || prompts > mostPrompts || prompts <= 0)
    return 0;
  double afterEnds = 2 * prompts - CountMoments(prompts, infinity, 2).largest;
  double none = std::exp(-prompts), any = 1 - none;
  double rarer = (1 - meetingAlone) / replicas * (any - prompts * none);
  double spared =
      (prompts - any) * (sharedPerPrompt(prompts, none) -
                         sharedPerPrompt(afterEnds, std::exp(-afterEnds))) +
      (1 - afterEnds / prompts) * rarer;
  return std::max(0.0, spared);
}

double ReplicaPrompts::largestAnywhere(double prompts) const {
  if (prompts > manyPrompts * replicas)
    return std::min(limit, prompts / replicas);
  double each = withRetries(prompts / replicas);
  if (squaredVariation <= 0)
    return CountMoments(each, limit, replicas).largest;
  return workOf(*this, each).longest(replicas, cutsPrompts ? limit : infinity);
}

double ReplicaPrompts::largest(double prompts) const {
  // If the limit is below two prompts, only a part of the second prompt has
  // room.
  double spared = std::clamp(limit - 1, 0.0, 1.0) * sparedByDealing(prompts);
  // The replica with the longer one of two prompts is late by the length of the
  // shorter one.
  if (squaredVariation > 0)
    spared *= smallerOfTwo(squaredVariation);
  return largestAnywhere(prompts) - spared;
}

double ReplicaPrompts::largestUnlimited(double prompts) const {
  ReplicaPrompts all = *this;
  all.limit = infinity;
  return all.largestAnywhere(prompts);
}

double ReplicaPrompts::shareOverLimit(double count) const {
  if (squaredVariation <= 0)
    return count > limit ? 1 : 0;
  Work sum{0, count, count * squaredVariation};
  double deviation;
  return normalBelow(-deviationsOf(sum, limit, deviation));
}
