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

/// Gives the scores of candidates on one target for the goal of a problem.
class Worth {
public:
  /// The score of a candidate that must not be chosen.
  static constexpr double none = -std::numeric_limits<double>::infinity();

  /// The arguments must outlive the object.
  Worth(const SearchProblem &problem, const SearchTarget &target)
      : problem(problem), target(target) {}

  /// Returns the tokens per second of a step that takes `stepUs` with `batch`
  /// sequences.
  double tokensPerS(int64_t batch, double stepUs) const;
  /// Copies time, memory and rate of `price` into `candidate`.
  void setPrice(Candidate &candidate, const BatchPrice &price) const;
  /// Returns the score of a candidate; higher is better. It is `none` for a
  /// step that exceeds the time limit.
  double scoreOf(const Candidate &candidate) const;
  /// Returns the score in words, such as "40,544 tokens/s", to report progress.
  std::string text(const Candidate &candidate) const;
  /// Returns whether a request misses the latency limits.
  bool isTooSlow(const Candidate &candidate) const;
  /// Returns whether expert loads are known; only then do experts get copies.
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

/// A plan that has a bound, but no price yet.
struct OpenCandidate : Candidate {
  uint32_t strategy = 0;
  /// The number of points that share the price of this candidate.
  uint64_t points = 1;
  /// A lower bound of the bytes on some device; only for plans with pipeline
  /// stages.
  double leastBytes = 0;
};

/// Raises `best[value]` to `score` if `score` is larger.
void raise(std::map<int64_t, double> &best, int64_t value, double score);

/// What one thread has found or, after `merge`, what all threads have found.
struct Findings {
  Frontier frontier;
  SearchProof proof;
  /// The best candidate of each mesh, by the index of the mesh in the space.
  std::vector<Scored> bestOfMesh;
  Scored best;
  /// The best score of each batch.
  std::vector<double> bestOfBatch;
  /// The best score of each number of slots for copies of experts; empty if
  /// loads are even.
  std::map<int64_t, double> bestOfCopies;
  /// Candidates that have only a bound so far: fsdp plans without pipeline
  /// stages (`openGathered`), and all plans with stages (`openStaged`).
  std::vector<OpenCandidate> openGathered, openStaged;
  /// Candidates with pipeline stages whose bound of memory exceeds the device.
  /// They are kept because one of them may be the nearest to fitting.
  std::vector<OpenCandidate> unfitStaged;
  /// fsdp strategies whose plans with pipeline stages need bounds of their own.
  std::set<uint32_t> wantedBounds;
  /// Of the priced candidates that do not fit in memory, the one that needs the
  /// least memory, and its bytes.
  Candidate closest;
  double closestBytes = std::numeric_limits<double>::infinity();
  /// Of the requests that miss the latency limits, those with the shortest
  /// times.
  std::optional<Candidate> shortestTtft, shortestTpot;

  /// Counts a price that `points` points share, and keeps the candidate if it
  /// is good in some respect. `batch` is the index of the candidate's batch.
  void take(const BatchPrice &price, Candidate candidate, uint64_t points,
            size_t batch, const Worth &worth);
  /// Merges the findings of `other`. `other` keeps only its open plans.
  void merge(Findings &other);

private:
  void keepClosest(const Candidate &candidate, double bytes);
  void keepShortest(const Candidate &candidate);
};

} // namespace autopar::search

#endif // AUTOPAR_LIB_SEARCH_FINDINGS_H
