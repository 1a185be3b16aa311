//===- Search.h - The best plans of a model on machines ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A search prices every plan of a space by the tapes that price estimates, or
// excludes it by a lower bound that is a part of such a price. The result is
// the Pareto frontier: plans that no other beats in both step time and tokens
// per second or, for training, in both bytes per device and tokens per second.
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

/// Provides the compiled programs of a model.
class ProgramSource {
public:
  virtual ~ProgramSource() = default;
  /// Returns the program of the strategy of `plan`, whatever its sizes, for a
  /// model in the formats of `plan`; null if a pass refuses it. The program
  /// outlives the search.
  virtual cost::CompiledProgram *find(const plan::Plan &plan) = 0;
};

/// A flag of the command line, to be shown to users.
struct GivenFlag {
  std::string name, value;
};

/// A machine to search plans for, and the settings that all plans on it share.
struct SearchTarget {
  /// Has at least the nodes that `devices` need.
  hardware::Machine machine;
  /// The runtime, adapted to the chip of `machine`.
  runtime::Runtime runtime;
  int64_t devices = 1;
  std::optional<double> memoryUtilization = std::nullopt;
  ProgramSource *programs = nullptr;
  /// Has the formats, but no axes.
  plan::Plan base = {};
  /// Flags of the command line that give this target, where they are known.
  std::vector<GivenFlag> flags = {};
};

/// The objective by which the best plan is chosen: tokens per second of all
/// devices or per device, step time, dollars per token, or number of devices.
enum class Goal : uint8_t {
  throughput,
  throughput_per_device,
  latency,
  cost,
  devices
};
std::string_view nameOf(Goal goal);
std::optional<Goal> parseGoal(std::string_view text);

/// Tokens of one request.
struct RequestTokens {
  int64_t prompt = 1, answer = 1;
};

/// A closed loop of requests: each is followed by another (`Server`). `step` is
/// the step that decodes them.
struct FollowingRequests : RequestTokens {
  program::Workload step;
};

/// The workload that plans are searched for. A batch counts sequences of a step
/// or an iteration, or concurrent requests.
using SearchQuestion =
    std::variant<program::Step, program::Iteration, FollowingRequests>;
/// The part of a search that differs by the kind of its question.
class QuestionKind;

struct SearchProblem {
  std::vector<SearchTarget> targets;
  SearchSpace space;
  bool hasExperts = false;
  SearchQuestion question;
  std::vector<int64_t> batches;
  Goal goal = Goal::throughput;
  program::ServiceLimits limits;
  /// Whether plans that a bound excludes are priced too, to test the bound.
  bool verify = false;
  /// Number of layers of the model; interleaved stages divide it.
  int64_t layers = 0;

  const QuestionKind &kind() const;
  /// The longest step that the user allows; absent for other questions.
  std::optional<double> stepLimitUs() const;
  /// The step of the question; its batch is each of `batches`.
  const program::Workload &workload() const;
  /// Whether steps are iterations of training.
  bool trains() const {
    return std::holds_alternative<program::Iteration>(question);
  }
};

/// Counts of points of a space by what the search did with them. They add up to
/// `space`.
struct SearchProof {
  /// Computed from the sizes of sets, not by counting visited points.
  uint64_t space = 0;
  uint64_t evaluated = 0;
  /// Evaluated points that share the price of another point, because their axes
  /// lie equally well on the machine.
  uint64_t sharedPrices = 0;
  /// Points that were not priced, because a plan on the frontier beats their
  /// bound or because the same plan fits without fsdp.
  uint64_t excluded = 0;
  /// Excluded points with fsdp: the same plan without fsdp bounds them.
  uint64_t excludedGathers = 0;
  uint64_t unfit = 0;
  /// Evaluated requests that miss the latency limits; they are not on the
  /// frontier.
  uint64_t tooSlow = 0;
  /// Points that a pass refuses, or whose sizes do not divide.
  uint64_t illegal = 0;

  uint64_t sum() const { return evaluated + excluded + unfit + illegal; }
  void add(const SearchProof &other);
};

/// A plan with a batch, and its price.
struct SearchPoint {
  size_t target = 0;
  plan::Plan plan;
  int64_t batch = 1;
  /// Time of a step, or of a request from its start to its last token.
  double timeUs = 0;
  /// Bytes of the device that holds most; training only.
  double totalBytes = 0;
  /// Rate of generated tokens where requests are searched for.
  double tokensPerS = 0;
  /// Times of requests; 0 for steps and iterations.
  double ttftUs = 0, tpotUs = 0;
  /// Cost over all devices; absent where the machine has no price.
  std::optional<double> dollarsPerMillionTokens = std::nullopt;
};

/// For each value of a choice, the best score among plans with that value:
/// tokens per second (per device, or per dollar an hour, by the goal), or the
/// negated step time.
struct KnobEffect {
  struct Value {
    std::string text;
    double best = 0;
    /// Whether some plan with this value is at most `closeness` below the best.
    bool isClose = false;
  };
  std::string name;
  std::vector<Value> values;
};

/// Relative distance from the best score within which a plan is close to it: 5
/// %, below the error of most estimates.
inline constexpr double closeness = 0.05;
/// The lowest score that is close to `best`. Scores of times are negative.
double leastClose(double best);

/// A plan with other sizes that is close to the best.
struct Rival {
  SearchPoint point;
  /// Its score over the best score, or the inverse for times: at most 1.
  double share = 1;
};

/// A plan that does not fit, and the bytes that its fullest device would hold.
struct UnfitPoint {
  size_t target = 0;
  plan::Plan plan;
  int64_t batch = 1;
  double totalBytes = 0;
};

struct SearchResult {
  /// Sorted by target, then by time.
  std::vector<SearchPoint> frontier;
  /// Index into `frontier` of the best plan for the goal; absent if no plan
  /// fits.
  std::optional<size_t> best;
  SearchProof proof;
  /// Whether the search ended by itself, not by an interrupt.
  bool complete = true;
  std::vector<KnobEffect> effects;
  /// The best few plans with other sizes or on another target, best first.
  std::vector<Rival> rivals;
  /// The priced plan that needs the least memory among those that do not fit.
  /// It is the minimum over all plans only where none fits.
  std::optional<UnfitPoint> closest;
  /// The shortest times among requests that miss the latency limits.
  std::optional<SearchPoint> shortestTtft, shortestTpot;
  size_t strategies = 0;
  /// CPU time of all threads for compiling strategies or loading them, in s.
  double strategySeconds = 0;
};

struct SearchControl {
  /// Number of threads; 0 means one per core.
  unsigned threads = 0;
  /// Called regularly; stops the search when it returns false.
  Progress progress = nullptr;
};

/// Runs a search. Errors: inconsistent problems. A space in which no plan fits
/// is a result, not an error.
Result<SearchResult> search(const SearchProblem &problem,
                            const SearchControl &control = {});

} // namespace autopar::search

#endif // AUTOPAR_SEARCH_SEARCH_H
