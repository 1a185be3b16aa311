//===- SearchText.cpp - What a search found, on a terminal ----------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Search/SearchReport.h"

#include "autopar/Plan/PlanText.h"
#include "autopar/Report/MoneyText.h"
#include "autopar/Report/ReportText.h"
#include "autopar/Report/TextTables.h"
#include "autopar/Support/Text.h"

#include <algorithm>
#include <cmath>

using namespace autopar;

/// The order in which flags lay the axes of `plan`.
static Plan inDefaultOrder(const Plan &plan) {
  std::optional<std::string> words = planText(plan);
  if (words)
    return plan;
  Plan sorted = plan;
  std::sort(
      sorted.axes.begin(), sorted.axes.end(),
      [](const PlanAxis &a, const PlanAxis &b) { return a.name < b.name; });
  do {
    if (planText(sorted))
      return sorted;
  } while (std::next_permutation(
      sorted.axes.begin(), sorted.axes.end(),
      [](const PlanAxis &a, const PlanAxis &b) { return a.name < b.name; }));
  return plan;
}

std::string autopar::labelOf(const SearchPoint &point) {
  Plan plan = inDefaultOrder(point.plan);
  bool isDefault = meshText(plan) == meshText(point.plan);
  std::string label = planText(plan).value_or(meshText(point.plan));
  if (point.plan.axes.empty())
    label = "1 device";
  if (isDefault)
    return label;
  std::vector<std::string> names;
  for (const PlanAxis &axis : point.plan.axes)
    names.push_back(axis.name);
  return label + " in order " + join(names, ",");
}

namespace {

class SearchWriter {
public:
  explicit SearchWriter(const SearchReport &report)
      : report(report), problem(report.problem), result(report.result) {}

  std::string write() const {
    return headText() + bestText() + frontierText() + effectsText() +
           proofText();
  }

private:
  bool hasTargets() const { return problem.targets.size() > 1; }
  std::string targetText(const SearchTarget &target) const {
    return formatInteger(target.devices) + " devices of " +
           target.machine.name +
           (target.machine.pools.front().nodes > 1
                ? " x " + formatInteger(target.machine.pools.front().nodes)
                : "");
  }
  std::string headText() const;
  std::string bestText() const;
  std::string frontierText() const;
  std::string effectsText() const;
  std::string proofText() const;

  const SearchReport &report;
  const SearchProblem &problem;
  const SearchResult &result;
};

} // namespace

std::string SearchWriter::headText() const {
  const Workload &work = problem.workload;
  std::string step =
      work.phase == Phase::prefill
          ? "prefill of " + formatInteger(work.query) + " tokens each"
          : "decode at context " + formatInteger(work.context);
  std::vector<std::string> targets;
  for (const SearchTarget &target : problem.targets)
    targets.push_back(targetText(target));
  std::string space = spaceText(problem.space);
  std::string text = report.model + ": " + step + " on " + join(targets, ", ") +
                     ", " + problem.targets.front().runtime.label();
  return wrap("", text) +
         wrap("  ", "space: " + (space.empty() ? "all plans" : space) +
                        (problem.space.allOrders ? "" : ", default order") +
                        "; batches " + formatInteger(problem.batches.front()) +
                        (problem.batches.size() > 1
                             ? " to " + formatInteger(problem.batches.back())
                             : ""));
}

std::string SearchWriter::bestText() const {
  if (!result.best)
    return "\nNo plan is fit.\n";
  const SearchPoint &best = result.frontier[*result.best];
  const SearchTarget &target = problem.targets[best.target];
  TextTable table("ll");
  table.add({"plan", labelOf(best)});
  if (hasTargets())
    table.add({"machine", targetText(target)});
  table.add({"batch", formatInteger(best.batch)});
  table.add({"step", formatTime(best.stepUs)});
  table.add({"tokens/s", formatRate(best.tokensPerS) + ", " +
                             formatRate(best.tokensPerS /
                                        static_cast<double>(target.devices)) +
                             " a device"});
  if (best.dollarsPerMillionTokens)
    table.add({"$/M tokens", dollarText(*best.dollarsPerMillionTokens)});
  return "\nBest in " + std::string(nameOf(problem.goal)) + "\n" + table.str();
}

std::string SearchWriter::frontierText() const {
  if (result.frontier.empty())
    return "";
  TextTable table(hasTargets() ? "rrrrrll" : "rrrrrl");
  std::vector<std::string> head = {"step",       "tokens/s", "a device",
                                   "$/M tokens", "batch",    "plan"};
  if (hasTargets())
    head.emplace_back("machine");
  table.add(head);
  for (const SearchPoint &point : result.frontier) {
    const SearchTarget &target = problem.targets[point.target];
    std::vector<std::string> cells = {
        formatTime(point.stepUs),
        formatRate(point.tokensPerS),
        formatRate(point.tokensPerS / static_cast<double>(target.devices)),
        point.dollarsPerMillionTokens
            ? dollarText(*point.dollarsPerMillionTokens)
            : "-",
        formatInteger(point.batch),
        labelOf(point)};
    if (hasTargets())
      cells.push_back(targetText(target));
    table.add(std::move(cells));
  }
  return "\nPlans that no other beats in both time of a step and tokens/s\n" +
         table.str();
}

std::string SearchWriter::effectsText() const {
  bool isLatency = problem.goal == Goal::latency;
  TextTable table("lw");
  for (const KnobEffect &effect : result.effects) {
    if (effect.best.size() < 2)
      continue;
    double most = -INFINITY;
    for (auto [value, score] : effect.best)
      most = std::max(most, score);
    std::vector<std::string> words;
    for (auto [value, score] : effect.best) {
      double loss = isLatency ? score / most - 1 : 1 - score / most;
      words.push_back(std::to_string(value) + " " +
                      (score == most ? "best" : print("-%.1f %%", 100 * loss)));
    }
    table.add({effect.name, join(words, ", ")});
  }
  if (table.empty())
    return "";
  return "\nWhat matters: the best with each choice, below the best of all\n" +
         table.str();
}

std::string SearchWriter::proofText() const {
  const SearchProof &proof = result.proof;
  auto count = [](uint64_t value) {
    return formatInteger(static_cast<int64_t>(value));
  };
  TextTable table("rl");
  table.add({count(proof.space), "plans and batches in the space, of " +
                                     countOf(result.strategies, "strategy")});
  table.add({count(proof.evaluated), "priced"});
  if (proof.sharedPrices)
    table.add({count(proof.sharedPrices),
               "of these as others whose axes lie as well on the machine"});
  if (proof.excluded)
    table.add({count(proof.excluded), "excluded by a bound"});
  table.add({count(proof.unfit), "do not fit"});
  table.add({count(proof.illegal), "illegal"});
  return std::string("\n") +
         (result.complete ? "Proof" : "Interrupted: not proved") + "\n" +
         table.str();
}

std::string autopar::writeText(const SearchReport &report) {
  return SearchWriter(report).write();
}
