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
  /// Returns the compiled program of the strategy of `plan`, whatever sizes the
  /// plan has, for a model in the formats of `plan`; null if a pass refuses the
  /// strategy. The program must outlive the search.
  virtual cost::CompiledProgram *find(const plan::Plan &plan) = 0;
};

/// A command-line flag and its value, to be shown to users.
struct GivenFlag {
  std::string name, value;
};

/// A machine for which plans are searched, and the settings that all plans on
/// it share.
struct SearchTarget {
  /// The machine; it must have at least the nodes that `devices` need.
  hardware::Machine machine;
  /// The runtime, with the variants for the chip of `machine` applied.
  runtime::Runtime runtime;
  int64_t devices = 1;
  std::optional<double> memoryUtilization = std::nullopt;
  ProgramSource *programs = nullptr;
  /// The plan on which all plans of the search build: it has number formats,
  /// but no axes.
  plan::Plan base = {};
  /// The command-line flags that yield this target, if they are known.
  std::vector<GivenFlag> flags = {};
};

/// The objective by which the best plan is chosen: tokens per second of all
/// devices, tokens per second per device, step time, dollars per token, or
/// number of devices.
enum class Goal : uint8_t {
  throughput,
  throughput_per_device,
  latency,
  cost,
  devices
};
std::string_view nameOf(Goal goal);
std::optional<Goal> parseGoal(std::string_view text);

/// Number of prompt tokens and output tokens of one request.
struct RequestTokens {
  int64_t prompt = 1, answer = 1;
};

/// Requests of a closed loop: when one ends, the next one begins (`Server`).
/// `step` is the step that decodes them.
struct FollowingRequests : RequestTokens {
  program::Workload step;
};

/// What plans are searched for: a step, a training iteration, or a closed loop
/// of requests. A batch counts sequences of a step or an iteration, or
/// concurrent requests.
using SearchQuestion =
    std::variant<program::Step, program::Iteration, FollowingRequests>;
/// What a search is given: the targets, the space of plans, and the question.
class QuestionKind;

struct SearchProblem {
  std::vector<SearchTarget> targets;
  SearchSpace space;
  bool hasExperts = false;
  SearchQuestion question;
  std::vector<int64_t> batches;
  Goal goal = Goal::throughput;
  program::ServiceLimits limits;
  /// Whether to price plans that a bound excludes, too, in order to test the
  /// bound.
  bool verify = false;
  /// Number of layers of the model; interleaved stages must divide it.
  int64_t layers = 0;

  const QuestionKind &kind() const;
  /// Returns the longest step that the user allows, in us; nothing for
  /// questions without such a limit.
  std::optional<double> stepLimitUs() const;
  /// Returns the step of the question; its batch is replaced by each of
  /// `batches`.
  const program::Workload &workload() const;
  /// Whether the steps are training iterations.
  bool trains() const {
    return std::holds_alternative<program::Iteration>(question);
  }
};

/// How many points of the space the search priced or excluded, and why. The
/// counts add up to `space`.
struct SearchProof {
  /// Number of points of the space, computed from the sizes of sets instead of
  /// by counting visited points.
  uint64_t space = 0;
  uint64_t evaluated = 0;
  /// Number of evaluated points with the price of another point, because their
  /// axes lie equally well on the machine.
  uint64_t sharedPrices = 0;
  /// Number of points that were not priced, because a plan of the frontier
  /// beats their bound, or because the same plan without fsdp fits.
  uint64_t excluded = 0;
  /// Number of excluded points with fsdp, which the price of the same plan
  /// without fsdp bounds.
  uint64_t excludedGathers = 0;
  uint64_t unfit = 0;
  /// Number of evaluated points whose requests miss the latency limits; they
  /// are not on the frontier.
  uint64_t tooSlow = 0;
  /// Number of points that a pass refuses, or whose sizes do not divide.
  uint64_t illegal = 0;

  uint64_t sum() const { return evaluated + excluded + unfit + illegal; }
  void add(const SearchProof &other);
};

/// A plan with a batch, and its price.
struct SearchPoint {
  size_t target = 0;
  plan::Plan plan;
  int64_t batch = 1;
  /// Time in us of a step, or of a request from its start to its last token.
  double timeUs = 0;
  /// Bytes on the device that needs the most memory; only in training.
  double totalBytes = 0;
  /// Output tokens per second of all devices, in a search for requests.
  double tokensPerS = 0;
  /// Times of requests in us; 0 for steps and iterations.
  double ttftUs = 0, tpotUs = 0;
  /// Dollars per million tokens, over all devices; absent if the machine has no
  /// price.
  std::optional<double> dollarsPerMillionTokens = std::nullopt;
};

/// The effect of one choice on the result: for each of its values, the best
/// score among plans with that value. The score is tokens per second (per
/// device, or per dollar an hour, by the goal), or the negated step time.
struct KnobEffect {
  struct Value {
    std::string text;
    double best = 0;
    /// Whether the best plan with this value is at most `closeness` below the
    /// best of all.
    bool isClose = false;
  };
  std::string name;
  std::vector<Value> values;
};

/// Relative distance from the best score within which a plan counts as close: 5
/// %, below the error of most estimates.
inline constexpr double closeness = 0.05;
/// Returns the lowest score that is close to the score `best`. Scores of times
/// are negative.
double leastClose(double best);

/// A plan with other sizes than the best plan whose score is close to the best.
struct Rival {
  SearchPoint point;
  /// The rival's score over the best score, or the inverse for times: at most
  /// 1.
  double share = 1;
};

/// A plan that does not fit, and the bytes that it needs on the device with the
/// most.
struct UnfitPoint {
  size_t target = 0;
  plan::Plan plan;
  int64_t batch = 1;
  double totalBytes = 0;
};

struct SearchResult {
  /// The Pareto frontier of each target, sorted by target, then by time.
  std::vector<SearchPoint> frontier;
  /// The best plan for the goal, as an index into `frontier`; absent if no plan
  /// fits.
  std::optional<size_t> best;
  SearchProof proof;
  /// Whether the search ended by itself; false after an interrupt.
  bool complete = true;
  std::vector<KnobEffect> effects;
  /// A few plans with other sizes or on another target whose scores are close
  /// to the best, best first.
  std::vector<Rival> rivals;
  /// Of the priced plans that do not fit, the one that needs the least memory.
  /// It is the minimum over all plans only if no plan fits.
  std::optional<UnfitPoint> closest;
  /// Of the requests that miss the latency limits, the plans with the shortest
  /// time to first token and time per token.
  std::optional<SearchPoint> shortestTtft, shortestTpot;
  size_t strategies = 0;
  /// CPU time, in s, that all threads took to compile strategies or to load
  /// them.
  double strategySeconds = 0;
};

struct SearchControl {
  /// Number of threads; 0 means one per core.
  unsigned threads = 0;
  /// A function that is called regularly; the search stops when it returns
  /// false.
  Progress progress = nullptr;
};

/// Runs a search. Returns an error for an inconsistent problem. That no plan
/// fits is a result, not an error.
Result<SearchResult> search(const SearchProblem &problem,
                            const SearchControl &control = {});

} // namespace autopar::search

#endif // AUTOPAR_SEARCH_SEARCH_H
