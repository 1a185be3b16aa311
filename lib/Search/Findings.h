//===- Findings.h - Candidates that a search keeps --------------*- C++ -*-===//
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

/// Scores candidates on one target for the goal of a problem.
class Worth {
public:
  /// Score of a candidate that must not be chosen.
  static constexpr double none = -std::numeric_limits<double>::infinity();

  /// Arguments outlive it.
  Worth(const SearchProblem &problem, const SearchTarget &target)
      : problem(problem), target(target) {}

  /// Tokens per second of a step of `stepUs` with `batch` sequences.
  double tokensPerS(int64_t batch, double stepUs) const;
  /// Copies the time, memory and rate of `price` into `candidate`.
  void setPrice(Candidate &candidate, const BatchPrice &price) const;
  /// Higher is better; `none` for steps that exceed the time limit.
  double scoreOf(const Candidate &candidate) const;
  /// The score in words, such as "40,544 tokens/s", for progress.
  std::string text(const Candidate &candidate) const;
  /// Whether a request misses the latency limits.
  bool isTooSlow(const Candidate &candidate) const;
  /// Whether expert loads are known; only then are experts copied.
  bool knowsLoads() const { return problem.space.loadedExperts > 0; }

private:
  double units() const;

  const SearchProblem &problem;
  const SearchTarget &target;
};

/// A candidate and its score for the goal.
struct Scored {
  double score = Worth::none;
  Candidate candidate;
};

/// A plan that has a bound but no price yet.
struct OpenCandidate : Candidate {
  uint32_t strategy = 0;
  /// Points that share the price of this candidate.
  uint64_t points = 1;
  /// Lower bound of the bytes of some device; plans with stages only.
  double leastBytes = 0;
};

/// Raises `best[value]` to `score` if that is larger.
void raise(std::map<int64_t, double> &best, int64_t value, double score);

/// The findings of one thread, or of all threads after `merge`.
struct Findings {
  Frontier frontier;
  SearchProof proof;
  /// The best candidate of each mesh, by its index in the space.
  std::vector<Scored> bestOfMesh;
  Scored best;
  /// Best score by batch.
  std::vector<double> bestOfBatch;
  /// Best score by number of slots for copies of experts; empty where loads are
  /// even.
  std::map<int64_t, double> bestOfCopies;
  /// Candidates that only have a bound yet: fsdp plans without stages, and all
  /// plans with stages.
  std::vector<OpenCandidate> openGathered, openStaged;
  /// Pipelined candidates whose memory bound exceeds the device; kept because
  /// one of them may be the nearest to fitting.
  std::vector<OpenCandidate> unfitStaged;
  /// fsdp strategies whose pipelined plans need bounds of their own.
  std::set<uint32_t> wantedBounds;
  /// The priced candidate that needs the least memory among those that do not
  /// fit.
  Candidate closest;
  double closestBytes = std::numeric_limits<double>::infinity();
  /// The shortest times among requests that miss the latency limits.
  std::optional<Candidate> shortestTtft, shortestTpot;

  /// Counts a price that `points` points share, and keeps the candidate where
  /// it is good. `batch` is the index of its batch.
  void take(const BatchPrice &price, Candidate candidate, uint64_t points,
            size_t batch, const Worth &worth);
  /// Merges the findings of `other`, which keeps nothing but its open plans.
  void merge(Findings &other);

private:
  void keepClosest(const Candidate &candidate, double bytes);
  void keepShortest(const Candidate &candidate);
};

} // namespace autopar::search

#endif // AUTOPAR_LIB_SEARCH_FINDINGS_H
