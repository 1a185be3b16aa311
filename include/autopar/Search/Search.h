//===- Search.h - The best plans of a model on machines ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All plans of a space are priced by the tapes that estimates are priced by, or
// excluded by a bound that is a part of one. What remains is the frontier: the
// plans that no other beats in both time of a step and tokens per second.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SEARCH_SEARCH_H
#define AUTOPAR_SEARCH_SEARCH_H

#include "autopar/Cost/CompiledProgram.h"
#include "autopar/Hardware/Hardware.h"
#include "autopar/Runtime/Runtime.h"
#include "autopar/Search/SearchSpace.h"
#include "autopar/Support/Progress.h"

#include <map>

namespace autopar {

/// Where the compiled programs of a model come from.
class ProgramSource {
public:
  virtual ~ProgramSource() = default;
  /// That of the strategy of `plan`, whatever its sizes, of a model that has
  /// its formats; null where the passes refuse it. Outlives the search.
  virtual CompiledProgram *find(const Plan &plan) = 0;
};

/// Devices to search plans for.
struct SearchTarget {
  /// With enough nodes.
  Machine machine;
  /// Adapted to its chip.
  Runtime runtime;
  int64_t devices = 1;
  std::optional<double> memoryUtilization = std::nullopt;
  ProgramSource *programs = nullptr;
};

/// What the best plan is best in: tokens per second, time of a step, dollars
/// per token, or how few devices it needs.
enum class Goal : uint8_t { throughput, latency, cost, devices };
std::string_view nameOf(Goal goal);
std::optional<Goal> parseGoal(std::string_view text);

struct SearchProblem {
  std::vector<SearchTarget> targets;
  SearchSpace space;
  /// What all plans have; no axes.
  Plan base;
  bool hasExperts = false;
  /// The step; its batch is each of `batches`.
  Workload workload;
  std::vector<int64_t> batches;
  Goal goal = Goal::throughput;
  /// Steps that take longer are not wanted.
  std::optional<double> maxStepUs = std::nullopt;
  /// Whether plans are priced even where a bound excludes them.
  bool verify = false;
};

/// Where all points of a space went. They add up to `space`.
struct SearchProof {
  /// By the sizes of sets, not by counting what was visited.
  uint64_t space = 0;
  uint64_t evaluated = 0;
  /// Of those, priced with another one whose axes lie as well on the machine.
  uint64_t sharedPrices = 0;
  /// A frontier has a plan better than the bound of these.
  uint64_t excluded = 0;
  uint64_t unfit = 0;
  /// Refused by passes, or for sizes that do not divide.
  uint64_t illegal = 0;

  uint64_t sum() const { return evaluated + excluded + unfit + illegal; }
  void add(const SearchProof &other);
};

/// A plan with a batch, and what it is worth.
struct SearchPoint {
  size_t target = 0;
  Plan plan;
  int64_t batch = 1;
  double stepUs = 0, tokensPerS = 0;
  /// Of all devices; absent where the machine has no price.
  std::optional<double> dollarsPerMillionTokens = std::nullopt;
};

/// By value of a choice, the score of the best that it leads to: tokens per
/// second, or less the time of a step.
struct KnobEffect {
  std::string name;
  std::map<int64_t, double> best;
  /// Values of plans that are at most 5 % below the best.
  std::vector<int64_t> close = {};
};

/// A plan that does not fit, and what a device would hold.
struct UnfitPoint {
  size_t target = 0;
  Plan plan;
  int64_t batch = 1;
  double totalBytes = 0;
};

struct SearchResult {
  /// By target, then rising time.
  std::vector<SearchPoint> frontier;
  /// Of the frontier, the best for the goal; absent where nothing is fit.
  std::optional<size_t> best;
  SearchProof proof;
  /// Whether it went to its end.
  bool complete = true;
  std::vector<KnobEffect> effects;
  /// Of those that do not fit, the one that holds least.
  std::optional<UnfitPoint> closest;
  size_t strategies = 0;
};

struct SearchControl {
  /// 0: one for each core.
  unsigned threads = 0;
  /// Asked now and then; false stops.
  Progress progress = nullptr;
};

/// Errors: bad problems, not spaces in which nothing fits.
Result<SearchResult> search(const SearchProblem &problem,
                            const SearchControl &control = {});

} // namespace autopar

#endif // AUTOPAR_SEARCH_SEARCH_H
