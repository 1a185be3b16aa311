//===- Findings.h - What was found of a space -------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SEARCH_FINDINGS_H
#define AUTOPAR_LIB_SEARCH_FINDINGS_H

#include "BatchPrices.h"

#include "autopar/Search/Frontier.h"

#include <limits>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace autopar::search {

/// What candidates on a target are worth for the goal of a problem.
class Worth {
public:
  /// Of what is not wanted.
  static constexpr double none = -std::numeric_limits<double>::infinity();

  /// Arguments outlive it.
  Worth(const SearchProblem &problem, const SearchTarget &target)
      : problem(problem), target(target) {}

  /// Of a step.
  double tokensPerS(int64_t batch, double stepUs) const;
  /// Gives `candidate` what `price` says of it.
  void setPrice(Candidate &candidate, const BatchPrice &price) const;
  /// More is better; `none` of steps that take longer than is wanted.
  double scoreOf(const Candidate &candidate) const;
  /// "40,544 tokens/s", for progress.
  std::string text(const Candidate &candidate) const;
  /// Whether it is a request beyond the limits.
  bool isTooSlow(const Candidate &candidate) const;
  /// Whether those of experts are known, so that they have copies.
  bool knowsLoads() const { return problem.space.loadedExperts > 0; }

private:
  double units() const;

  const SearchProblem &problem;
  const SearchTarget &target;
};

/// A candidate and what it is worth for the goal.
struct Scored {
  double score = Worth::none;
  Candidate candidate;
};

/// A plan without a price that may be worth its bound.
struct OpenCandidate : Candidate {
  uint32_t strategy = 0;
  /// That have its price.
  uint64_t points = 1;
  /// Of plans with stages, what some device holds at least.
  double leastBytes = 0;
};

/// Says that `value` leads to `score`, of which `best` keeps the largest.
void raise(std::map<int64_t, double> &best, int64_t value, double score);

/// What one thread has found, or all.
struct Findings {
  Frontier frontier;
  SearchProof proof;
  /// By index of a mesh of the space.
  std::vector<Scored> bestOfMesh;
  Scored best;
  /// By batch, the best score.
  std::vector<double> bestOfBatch;
  /// By slots for copies of experts, where loads are known.
  std::map<int64_t, double> bestOfCopies;
  /// Those without stages, which gather parameters, and those with stages.
  std::vector<OpenCandidate> openGathered, openStaged;
  /// Those with stages that do not fit by their bound, of which one may hold
  /// least.
  std::vector<OpenCandidate> unfitStaged;
  /// Strategies that gather parameters, whose plans with stages need bounds of
  /// their own.
  std::set<uint32_t> wantedBounds;
  /// Of those priced that do not fit, the one that holds least.
  Candidate closest;
  double closestBytes = std::numeric_limits<double>::infinity();
  /// Of requests that are too slow.
  std::optional<Candidate> shortestTtft, shortestTpot;

  /// Counts a price, of `points` points, and keeps what is good; `batch` is the
  /// index of its batch.
  void take(const BatchPrice &price, Candidate candidate, uint64_t points,
            size_t batch, const Worth &worth);
  /// Adds what `other` has, which is left without its open plans.
  void merge(Findings &other);

private:
  void keepClosest(const Candidate &candidate, double bytes);
  void keepShortest(const Candidate &candidate);
};

} // namespace autopar::search

#endif // AUTOPAR_LIB_SEARCH_FINDINGS_H
