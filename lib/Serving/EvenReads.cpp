//===- EvenReads.cpp - Prompts that are dealt in turn ---------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LargestRead.h"
#include "LengthIntegral.h"

#include <array>
#include <limits>
#include <vector>

using namespace autopar;
using namespace autopar::serving;

static constexpr double infinity = std::numeric_limits<double>::infinity();

namespace {

/// Of a normal law, shares below, between points of a table.
class NormalTable {
public:
  static const NormalTable &get() {
    static const NormalTable table;
    return table;
  }
  double below(double deviations) const {
    double at = (deviations + most) * perDeviation;
    if (!(at > 0))
      return 0;
    auto index = static_cast<size_t>(at);
    if (index + 1 >= count)
      return 1;
    double before = shares[index], part = at - static_cast<double>(index);
    return before + part * (shares[index + 1] - before);
  }

private:
  static constexpr int most = 5, perDeviation = 32;
  static constexpr size_t count = 2 * most * perDeviation + 1;
  std::array<double, count> shares;

  NormalTable() {
    for (size_t i = 0; i < count; ++i)
      shares[i] = normalBelow(static_cast<double>(i) / perDeviation - most);
  }
};

/// The logarithm of a sum of so many lengths of mean 1, which are of log-normal
/// laws, and so is the sum.
struct SumLaw {
  double mean = 0, deviation = 1, perDeviation = 1;

  SumLaw(double count, double squaredVariation) {
    double spread = std::log1p(squaredVariation / count);
    deviation = std::sqrt(spread);
    perDeviation = 1 / deviation;
    mean = std::log(count) - spread / 2;
  }
};

/// Counts of Poisson's law that are dealt in turn: of k, as many replicas as
/// k mod replicas get one more than the others.
class EvenReads {
public:
  EvenReads(const ReplicaReads &reads, double prompts);

  /// What the one reads that reads most, in the mean.
  double largest() const;

private:
  double anyAbove(double logLength) const;

  const NormalTable &table = NormalTable::get();
  int64_t replicas, fewest = 0;
  /// In prompts of mean length; no more is read.
  double room;
  /// Of counts from `fewest` on; and of sums for one replica, from as many on
  /// as each has then.
  std::vector<double> shares;
  std::vector<SumLaw> laws;
};

} // namespace

EvenReads::EvenReads(const ReplicaReads &reads, double prompts)
    : replicas(static_cast<int64_t>(reads.replicas)),
      room(reads.cutsPrompts ? reads.most : infinity) {
  constexpr double least = 1e-5, far = 5;
  double start = std::max(0.0, std::floor(prompts - far * std::sqrt(prompts)));
  double share =
      std::exp(start * std::log(prompts) - prompts - std::lgamma(start + 1));
  fewest = static_cast<int64_t>(start);
  int64_t most = fewest;
  while (share > least || static_cast<double>(most) < prompts) {
    shares.push_back(share);
    share *= prompts / static_cast<double>(++most);
  }
  // Whole prompts have room for so many.
  double deepest = reads.cutsPrompts ? infinity : std::max(1.0, reads.most);
  for (int64_t each = fewest / replicas; each <= most / replicas + 1; ++each)
    laws.emplace_back(std::clamp(static_cast<double>(each), 1.0, deepest),
                      reads.squaredVariation);
}

double EvenReads::anyAbove(double logLength) const {
  auto below = [&](const SumLaw &law) {
    return table.below((logLength - law.mean) * law.perDeviation);
  };
  int64_t deeper = fewest % replicas;
  size_t i = 0;
  double none = 0, now = fewest < replicas ? 1 : below(laws[0]);
  for (size_t level = 1; i < shares.size(); ++level, deeper = 0) {
    double next = below(laws[level]), ratio = now > 0 ? next / now : 0;
    double all = power(now, replicas - deeper) * power(next, deeper);
    for (; deeper < replicas && i < shares.size(); ++deeper, ++i) {
      none += shares[i] * all;
      all *= ratio;
    }
    now = next;
  }
  return 1 - none;
}

double EvenReads::largest() const {
  constexpr int points = 15;
  constexpr double deviations = 3.5;
  double first = laws.front().mean - deviations * laws.front().deviation;
  double last = laws.back().mean + deviations * laws.back().deviation;
  double step = (last - first) / (points - 1);
  return meanLength(std::exp(first), step, points, room,
                    [&](int i) { return anyAbove(first + i * step); });
}

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
      deepest +=
          (1 - below) * std::pow(ReplicaReads::meetingAlone / replicas, 2);
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
  if (squaredVariation > 0)
    return EvenReads(*this, prompts).largest();
  double any = -std::expm1(-prompts);
  return any *
         std::min(deepestOf(prompts, replicas) / any, std::max(1.0, most));
}
