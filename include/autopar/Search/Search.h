//===- Search.h - The best plans of a model on machines ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All plans of a space are priced by the tapes that estimates are priced by, or
// excluded by a bound that is a part of one. What remains is the frontier: the
// plans that no other beats in both time of a step and tokens per second or, of
// training, in both bytes of a device and tokens per second.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SEARCH_SEARCH_H
#define AUTOPAR_SEARCH_SEARCH_H

#include "autopar/Cost/CompiledProgram.h"
#include "autopar/Hardware/Hardware.h"
#include "autopar/Program/Question.h"
#include "autopar/Runtime/Runtime.h"
#include "autopar/Search/SearchSpace.h"
#include "autopar/Support/Progress.h"

namespace autopar::search {

/// Where the compiled programs of a model come from.
class ProgramSource {
public:
  virtual ~ProgramSource() = default;
  /// That of the strategy of `plan`, whatever its sizes, of a model that has
  /// its formats; null where the passes refuse it. Outlives the search.
  virtual cost::CompiledProgram *find(const plan::Plan &plan) = 0;
};

/// A flag of the command line, for readers.
struct GivenFlag {
  std::string name, value;
};

/// Devices to search plans for, and what all of these have.
struct SearchTarget {
  /// With enough nodes.
  hardware::Machine machine;
  /// Adapted to its chip.
  runtime::Runtime runtime;
  int64_t devices = 1;
  std::optional<double> memoryUtilization = std::nullopt;
  ProgramSource *programs = nullptr;
  /// Formats; no axes.
  plan::Plan base = {};
  /// That say so, where they are known.
  std::vector<GivenFlag> flags = {};
};

/// What the best plan is best in: tokens per second, of all devices or of each,
/// time of a step, dollars per token, or how few devices it needs.
enum class Goal : uint8_t {
  throughput,
  throughput_per_device,
  latency,
  cost,
  devices
};
std::string_view nameOf(Goal goal);
std::optional<Goal> parseGoal(std::string_view text);

/// Tokens of a request.
struct RequestTokens {
  int64_t prompt = 1, answer = 1;
};

/// Requests, each followed by another (`Server`); `step` is what they decode
/// in.
struct FollowingRequests : RequestTokens {
  program::Workload step;
};

/// What plans are searched for; batches are sequences of a step or an
/// iteration, or requests at once.
using SearchQuestion =
    std::variant<program::Step, program::Iteration, FollowingRequests>;
/// What differs by the kind of a question.
class QuestionKind;

struct SearchProblem {
  std::vector<SearchTarget> targets;
  SearchSpace space;
  bool hasExperts = false;
  SearchQuestion question;
  std::vector<int64_t> batches;
  Goal goal = Goal::throughput;
  program::ServiceLimits limits;
  /// Whether plans are priced even where a bound excludes them.
  bool verify = false;
  /// Of the model, which interleaved stages divide.
  int64_t layers = 0;

  const QuestionKind &kind() const;
  /// The longest step that is wanted of a problem of steps.
  std::optional<double> stepLimitUs() const;
  /// The step of the question; its batch is each of `batches`.
  const program::Workload &workload() const;
  /// Whether steps are iterations of training.
  bool trains() const {
    return std::holds_alternative<program::Iteration>(question);
  }
};

/// Where all points of a space went. They add up to `space`.
struct SearchProof {
  /// By the sizes of sets, not by counting what was visited.
  uint64_t space = 0;
  uint64_t evaluated = 0;
  /// Of those, priced with another one whose axes lie as well on the machine.
  uint64_t sharedPrices = 0;
  /// A frontier has a plan better than the bound of these, or the same plan
  /// fits without fsdp.
  uint64_t excluded = 0;
  /// Of those, plans with fsdp, whose bound is the same plan without.
  uint64_t excludedGathers = 0;
  uint64_t unfit = 0;
  /// Of those evaluated, requests beyond the limits: not of the frontier.
  uint64_t tooSlow = 0;
  /// Refused by passes, or for sizes that do not divide.
  uint64_t illegal = 0;

  uint64_t sum() const { return evaluated + excluded + unfit + illegal; }
  void add(const SearchProof &other);
};

/// A plan with a batch, and what it is worth.
struct SearchPoint {
  size_t target = 0;
  plan::Plan plan;
  int64_t batch = 1;
  /// Of a step, or of a request from its start to its last token.
  double timeUs = 0;
  /// Of training, on the device that holds most.
  double totalBytes = 0;
  /// Of the answers, where requests are searched for.
  double tokensPerS = 0;
  /// Of requests.
  double ttftUs = 0, tpotUs = 0;
  /// Of all devices; absent where the machine has no price.
  std::optional<double> dollarsPerMillionTokens = std::nullopt;
};

/// By value of a choice, the score of the best that it leads to: tokens per
/// second (of a device, or a dollar an hour, where these are the goal), or less
/// the time of a step.
struct KnobEffect {
  struct Value {
    std::string text;
    double best = 0;
    /// Whether it has a plan at most `closeness` below the best.
    bool isClose = false;
  };
  std::string name;
  std::vector<Value> values;
};

/// What of the best score is close to it.
inline constexpr double closeness = 0.05;
/// The least score that is close to `best`: those of times are below 0.
double leastClose(double best);

/// A plan of other sizes that is close to the best.
struct Rival {
  SearchPoint point;
  /// Its score, of the best's: at most 1; of times the inverse.
  double share = 1;
};

/// A plan that does not fit, and what a device would hold.
struct UnfitPoint {
  size_t target = 0;
  plan::Plan plan;
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
  /// The best few of those with other sizes or another target, best first.
  std::vector<Rival> rivals;
  /// Of the priced ones that do not fit, the one that holds least: of all where
  /// none fits.
  std::optional<UnfitPoint> closest;
  /// Of requests that are too slow, those with the shortest times.
  std::optional<SearchPoint> shortestTtft, shortestTpot;
  size_t strategies = 0;
  /// CPU time, of all threads, in which these were made or read.
  double strategySeconds = 0;
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

} // namespace autopar::search

#endif // AUTOPAR_SEARCH_SEARCH_H
