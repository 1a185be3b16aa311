//===- Search.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Search/Search.h"

#include "TargetSearch.h"

#include "autopar/Report/Money.h"
#include "autopar/Support/Text.h"

#include <algorithm>
#include <cmath>

using namespace autopar;

static constexpr std::pair<Goal, std::string_view> goalNames[] = {
    {Goal::throughput, "throughput"},
    {Goal::latency, "latency"},
    {Goal::cost, "cost"},
    {Goal::devices, "devices"}};

std::string_view autopar::nameOf(Goal goal) {
  return goalNames[static_cast<size_t>(goal)].second;
}

std::optional<Goal> autopar::parseGoal(std::string_view text) {
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
  unfit += other.unfit;
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
    return std::move(result);
  }

private:
  void search(size_t index);
  void keepClosest(size_t index, const TargetSearch &own);
  void addEffects();
  void dropBeaten();
  void chooseBest();
  std::optional<double> costOf(const SearchPoint &point) const;

  const SearchProblem &problem;
  const SearchControl &control;
  SearchResult result;
  EffectMap effects;
  /// Kept until the best of all is known.
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
  for (const Candidate &candidate : own.frontier().all()) {
    SearchPoint point;
    point.target = index;
    point.plan = own.planOf(candidate);
    point.batch = candidate.batch;
    point.stepUs = candidate.stepUs;
    point.tokensPerS = candidate.tokensPerS;
    point.dollarsPerMillionTokens = costOf(point);
    result.frontier.push_back(std::move(point));
  }
  own.addEffects(effects);
  keepClosest(index, own);
}

void Searcher::keepClosest(size_t index, const TargetSearch &own) {
  const Findings &found = own.findings();
  if (!std::isfinite(found.closestBytes) ||
      (result.closest && result.closest->totalBytes <= found.closestBytes))
    return;
  result.closest = UnfitPoint{index, own.planOf(found.closest),
                              found.closest.batch, found.closestBytes};
}

/// Scores of time are below 0: what is close is so by its size.
void Searcher::addEffects() {
  constexpr double closeness = 0.05;
  double best = -INFINITY;
  for (const auto &one : searches)
    best = std::max(best, one->bestScore());
  CloseMap close;
  for (const auto &one : searches)
    one->addClose(best - closeness * std::fabs(best), close);
  for (auto &[name, scores] : effects)
    result.effects.push_back(
        {name, std::move(scores), {close[name].begin(), close[name].end()}});
}

/// Whether `a` is as good as `b` in all that is compared, and better in one or
/// before it.
static bool beats(const SearchProblem &problem, const SearchPoint &a,
                  const SearchPoint &b) {
  int64_t devicesOfA = problem.targets[a.target].devices;
  int64_t devicesOfB = problem.targets[b.target].devices;
  constexpr double free = 0;
  double costOfA = a.dollarsPerMillionTokens.value_or(free);
  double costOfB = b.dollarsPerMillionTokens.value_or(free);
  bool isAsGood = a.stepUs <= b.stepUs && a.tokensPerS >= b.tokensPerS &&
                  devicesOfA <= devicesOfB && costOfA <= costOfB;
  bool isBetter = a.stepUs < b.stepUs || a.tokensPerS > b.tokensPerS ||
                  devicesOfA < devicesOfB || costOfA < costOfB;
  return isAsGood && (isBetter || a.target < b.target);
}

/// Points of one target do not beat each other: others of other targets may.
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
  switch (problem.goal) {
  case Goal::latency:
    return a.stepUs < b.stepUs;
  case Goal::devices:
    if (devicesOf(a) != devicesOf(b))
      return devicesOf(a) < devicesOf(b);
    break;
  case Goal::cost:
    if (a.dollarsPerMillionTokens && b.dollarsPerMillionTokens)
      return *a.dollarsPerMillionTokens < *b.dollarsPerMillionTokens;
    break;
  case Goal::throughput:
    break;
  }
  return a.tokensPerS > b.tokensPerS;
}

void Searcher::chooseBest() {
  auto isWanted = [&](const SearchPoint &point) {
    return !problem.maxStepUs || point.stepUs <= *problem.maxStepUs;
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

/// Sizes that the degrees of plans may have, of each machine.
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

Result<SearchResult> autopar::search(const SearchProblem &problem,
                                     const SearchControl &control) {
  if (problem.targets.empty() || problem.batches.empty())
    return Error{"", "a search needs devices and batches", ""};
  for (const SearchTarget &target : problem.targets)
    if (std::optional<Error> error = checkSize(problem, target))
      return *error;
  return Searcher(problem, control).run();
}
