//===- Search.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Search/Search.h"

#include "QuestionKind.h"
#include "TargetSearch.h"

#include "autopar/Evaluate/Costs.h"
#include "autopar/Support/Text.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::evaluation;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::schedule;
using namespace autopar::search;

static constexpr std::pair<Goal, std::string_view> goalNames[] = {
    {Goal::throughput, "throughput"},
    {Goal::throughput_per_device, "throughput-per-device"},
    {Goal::latency, "latency"},
    {Goal::cost, "cost"},
    {Goal::devices, "devices"}};

std::string_view autopar::search::nameOf(Goal goal) {
  return goalNames[static_cast<size_t>(goal)].second;
}

std::optional<Goal> autopar::search::parseGoal(std::string_view text) {
  for (auto [goal, name] : goalNames)
    if (name == text)
      return goal;
  return std::nullopt;
}

void SearchProof::add(const SearchProof &other) {
  space += other.space;
  evaluated += other.evaluated;
  sharedPrices += other.sharedPrices;
  excluded += other.excluded;
  excludedGathers += other.excludedGathers;
  unfit += other.unfit;
  tooSlow += other.tooSlow;
  illegal += other.illegal;
}

namespace {

class Searcher {
public:
  Searcher(const SearchProblem &problem, const SearchControl &control)
      : problem(problem), control(control) {}

  SearchResult run() {
    for (size_t i = 0; i < problem.targets.size() && result.complete; ++i)
      search(i);
    dropBeaten();
    chooseBest();
    addEffects();
    addRivals();
    return std::move(result);
  }

private:
  void search(size_t index);
  SearchPoint pointOf(size_t target, const Candidate &candidate) const;
  void keepShortest(size_t target, const Findings &found);
  void keepClosest(size_t index, const TargetSearch &own);
  double bestScore() const;
  void addEffects();
  void addFlagEffects(double least);
  void addRivals();
  void dropBeaten();
  void chooseBest();
  std::optional<double> costOf(const SearchPoint &point) const;

  const SearchProblem &problem;
  const SearchControl &control;
  SearchResult result;
  EffectMap effects;
  /// The search of each target. They are kept until the best plan of all
  /// targets is known.
  std::vector<std::unique_ptr<TargetSearch>> searches;
};

} // namespace

std::optional<double> Searcher::costOf(const SearchPoint &point) const {
  const SearchTarget &target = problem.targets[point.target];
  if (!target.machine.price || point.tokensPerS <= 0)
    return std::nullopt;
  return dollarsPerMillionTokens(target.machine.price->value, target.devices,
                                 point.tokensPerS);
}

void Searcher::search(size_t index) {
  searches.push_back(
      std::make_unique<TargetSearch>(problem, problem.targets[index], control));
  TargetSearch &own = *searches.back();
  result.complete = own.run();
  result.proof.add(own.proof());
  result.strategies += own.strategies();
  result.strategySeconds += own.strategySeconds();
  for (const Candidate &candidate : own.frontier().all())
    result.frontier.push_back(pointOf(index, candidate));
  own.addEffects(effects);
  keepClosest(index, own);
  keepShortest(index, own.findings());
}

SearchPoint Searcher::pointOf(size_t target, const Candidate &candidate) const {
  SearchPoint point;
  point.target = target;
  point.plan = searches[target]->planOf(candidate);
  point.batch = candidate.batch;
  point.timeUs = candidate.timeUs;
  if (problem.kind().comparesMemory())
    point.totalBytes = candidate.cost;
  point.tokensPerS = candidate.tokensPerS;
  point.ttftUs = candidate.ttftUs;
  point.tpotUs = candidate.tpotUs;
  point.dollarsPerMillionTokens = costOf(point);
  return point;
}

void Searcher::keepShortest(size_t target, const Findings &found) {
  if (!found.shortestTtft)
    return;
  if (!result.shortestTtft ||
      found.shortestTtft->ttftUs < result.shortestTtft->ttftUs)
    result.shortestTtft = pointOf(target, *found.shortestTtft);
  if (!result.shortestTpot ||
      found.shortestTpot->tpotUs < result.shortestTpot->tpotUs)
    result.shortestTpot = pointOf(target, *found.shortestTpot);
}

void Searcher::keepClosest(size_t index, const TargetSearch &own) {
  const Findings &found = own.findings();
  if (!std::isfinite(found.closestBytes) ||
      (result.closest && result.closest->totalBytes <= found.closestBytes))
    return;
  result.closest = UnfitPoint{index, own.planOf(found.closest),
                              found.closest.batch, found.closestBytes};
}

double autopar::search::leastClose(double best) {
  return best - closeness * std::fabs(best);
}

double Searcher::bestScore() const {
  double best = -INFINITY;
  for (const auto &one : searches)
    best = std::max(best, one->bestScore());
  return best;
}

void Searcher::addEffects() {
  double least = leastClose(bestScore());
  CloseMap close;
  for (const auto &one : searches)
    one->addClose(least, close);
  for (const auto &[name, scores] : effects) {
    if (!problem.hasExperts &&
        (name == nameOf(Knob::ep) || name == nameOf(Knob::etp)))
      continue;
    // Attention uses all of tp, and sharded parameters are split over all
    // copies, so that this knob has only one value.
    if (name == nameOf(problem.kind().silentKnob()))
      continue;
    KnobEffect effect{name, {}};
    for (auto [value, score] : scores)
      effect.values.push_back(
          {std::to_string(value), score, close[name].count(value) != 0});
    result.effects.push_back(std::move(effect));
  }
  addFlagEffects(least);
}

/// Adds the effects of machines, formats and runtimes, by the flags that set
/// them, and the effect of the number of devices.
void Searcher::addFlagEffects(double least) {
  auto add = [&](const std::string &name, const std::string &text,
                 double score) {
    auto effect = std::find_if(
        result.effects.begin(), result.effects.end(),
        [&](const KnobEffect &other) { return other.name == name; });
    if (effect == result.effects.end())
      effect = result.effects.insert(effect, {name, {}});
    auto value = std::find_if(
        effect->values.begin(), effect->values.end(),
        [&](const KnobEffect::Value &other) { return other.text == text; });
    if (value == effect->values.end())
      value = effect->values.insert(value, {text, score});
    value->best = std::max(value->best, score);
    value->isClose |= score >= least;
  };
  for (size_t i = 0; i < searches.size(); ++i) {
    double score = searches[i]->bestScore();
    if (score == -INFINITY)
      continue;
    add("devices", std::to_string(problem.targets[i].devices), score);
    for (const GivenFlag &flag : problem.targets[i].flags)
      add(flag.name, flag.value, score);
  }
}

static bool isSame(const SearchPoint &a, const SearchPoint &b) {
  return a.target == b.target && a.batch == b.batch && a.timeUs == b.timeUs &&
         meshText(a.plan) == meshText(b.plan);
}

/// If the goal is to use few devices, plans on more devices are no rivals.
void Searcher::addRivals() {
  constexpr size_t most = 6;
  if (!result.best)
    return;
  const SearchPoint &best = result.frontier[*result.best];
  auto isRival = [&](size_t target) {
    return problem.goal != Goal::devices ||
           problem.targets[target].devices ==
               problem.targets[best.target].devices;
  };
  double highest = -INFINITY;
  for (size_t i = 0; i < searches.size(); ++i)
    if (isRival(i))
      highest = std::max(highest, searches[i]->bestScore());
  std::vector<Rival> rivals;
  for (size_t i = 0; i < searches.size(); ++i) {
    if (!isRival(i))
      continue;
    std::vector<Scored> close = searches[i]->bestFrom(leastClose(highest));
    close.resize(std::min(close.size(), most + 1));
    for (const Scored &one : close) {
      double share = one.score / highest;
      SearchPoint point = pointOf(i, one.candidate);
      if (!isSame(point, best))
        rivals.push_back({std::move(point), share > 1 ? 1 / share : share});
    }
  }
  std::sort(rivals.begin(), rivals.end(), [](const Rival &a, const Rival &b) {
    if (a.share != b.share)
      return a.share > b.share;
    return a.point.target < b.point.target;
  });
  rivals.resize(std::min(rivals.size(), most));
  result.rivals = std::move(rivals);
}

/// Returns whether `a` is at least as good as `b` in every objective, and is
/// better in one of them or was listed before `b`.
static bool beats(const SearchProblem &problem, const SearchPoint &a,
                  const SearchPoint &b) {
  int64_t devicesOfA = problem.targets[a.target].devices;
  int64_t devicesOfB = problem.targets[b.target].devices;
  // A machine without a price may be cheaper or dearer than the other, so that
  // neither point beats the other.
  if (a.dollarsPerMillionTokens.has_value() !=
      b.dollarsPerMillionTokens.has_value())
    return false;
  double costOfA = a.dollarsPerMillionTokens.value_or(0);
  double costOfB = b.dollarsPerMillionTokens.value_or(0);
  auto takes = [&](const SearchPoint &point) {
    return problem.kind().comparesMemory() ? point.totalBytes : point.timeUs;
  };
  bool isAsGood = takes(a) <= takes(b) && a.tokensPerS >= b.tokensPerS &&
                  devicesOfA <= devicesOfB && costOfA <= costOfB;
  bool isBetter = takes(a) < takes(b) || a.tokensPerS > b.tokensPerS ||
                  devicesOfA < devicesOfB || costOfA < costOfB;
  return isAsGood && (isBetter || a.target < b.target);
}

/// Drops points that a point of another target beats. The points of one target
/// do not beat each other.
void Searcher::dropBeaten() {
  std::vector<SearchPoint> kept;
  for (const SearchPoint &point : result.frontier)
    if (std::none_of(result.frontier.begin(), result.frontier.end(),
                     [&](const SearchPoint &other) {
                       return beats(problem, other, point);
                     }))
      kept.push_back(point);
  result.frontier = std::move(kept);
}

static bool isBetterFor(const SearchProblem &problem, const SearchPoint &a,
                        const SearchPoint &b) {
  auto devicesOf = [&](const SearchPoint &point) {
    return problem.targets[point.target].devices;
  };
  auto perDevice = [&](const SearchPoint &point) {
    return point.tokensPerS / static_cast<double>(devicesOf(point));
  };
  switch (problem.goal) {
  case Goal::latency:
    return a.timeUs < b.timeUs;
  case Goal::devices:
    if (devicesOf(a) != devicesOf(b))
      return devicesOf(a) < devicesOf(b);
    break;
  case Goal::cost:
    return a.dollarsPerMillionTokens &&
           (!b.dollarsPerMillionTokens ||
            *a.dollarsPerMillionTokens < *b.dollarsPerMillionTokens);
  case Goal::throughput_per_device:
    return perDevice(a) > perDevice(b);
  case Goal::throughput:
    break;
  }
  return a.tokensPerS > b.tokensPerS;
}

void Searcher::chooseBest() {
  auto isWanted = [&](const SearchPoint &point) {
    std::optional<double> limit = problem.stepLimitUs();
    bool hasPrice = problem.goal != Goal::cost || point.dollarsPerMillionTokens;
    return hasPrice && (!limit || point.timeUs <= *limit);
  };
  auto isBetter = [&](const SearchPoint &a, const SearchPoint &b) {
    return isBetterFor(problem, a, b);
  };
  for (size_t i = 0; i < result.frontier.size(); ++i)
    if (isWanted(result.frontier[i]) &&
        (!result.best ||
         isBetter(result.frontier[i], result.frontier[*result.best])))
      result.best = i;
}

/// The largest number of sizes per machine; a search of a larger space would
/// run for days.
static constexpr size_t maxSizes = 1'000'000;

static std::optional<Error> checkSize(const SearchProblem &problem,
                                      const SearchTarget &target) {
  size_t count = 0;
  if (forEachSizes(problem.space, target.devices, problem.hasExperts,
                   [&](const PlanSizes &) { return ++count <= maxSizes; }))
    return std::nullopt;
  return Error{
      "",
      "plans of " + formatInteger(target.devices) + " devices have more than " +
          formatInteger(int64_t(maxSizes)) + " combinations of degrees",
      "leave some out, as with --space=cp=1,dcp=1,pp=1,attention_tp=1"};
}

Result<SearchResult> autopar::search::search(const SearchProblem &problem,
                                             const SearchControl &control) {
  if (problem.targets.empty() || problem.batches.empty())
    return Error{"", "a search needs devices and batches", ""};
  for (const SearchTarget &target : problem.targets)
    if (std::optional<Error> error = checkSize(problem, target))
      return *error;
  return Searcher(problem, control).run();
}
