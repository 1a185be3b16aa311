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
#include <numeric>

using namespace autopar;

/// `plan` with its axes in the order in which flags lay them; itself where
/// words do not say it.
static Plan inDefaultOrder(const Plan &plan) {
  AxisOrder order(plan.axes.size());
  std::iota(order.begin(), order.end(), 0);
  do {
    Plan other = withOrder(plan, order);
    if (planText(other))
      return other;
  } while (std::next_permutation(order.begin(), order.end()));
  return plan;
}

std::string autopar::labelOf(const SearchPoint &point) {
  // The words of every plan of a search.
  Plan given = point.plan;
  given.pipeline.schedule.reset();
  given.pipeline.interleave.reset();
  Plan plan = inDefaultOrder(given);
  if (plan.axes.empty())
    return "1 device";
  std::string label = planText(plan).value_or(meshText(plan));
  if (meshText(plan) == meshText(given))
    return label;
  std::vector<std::string> names;
  for (const PlanAxis &axis : given.axes)
    names.push_back(axis.name);
  return label + " in order " + join(names, ",");
}

namespace {

class SearchWriter {
public:
  explicit SearchWriter(const SearchReport &report)
      : report(report), problem(report.problem), result(report.result) {}

  std::string write() const {
    return headText() + bestText() + whyText() + frontierText() + plotText() +
           effectsText() + proofText();
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
  std::string noneText() const;
  std::string whyText() const;
  std::string commandText(const SearchPoint &point) const;
  std::string frontierText() const;
  std::string plotText() const;
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
    return noneText();
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
  if (report.best) {
    const auto &memory = report.best->memory.perDevice;
    table.add({"bound by", report.best->latency.bound});
    table.add({"memory", formatBytes(memory.totalBytes) + " of " +
                             formatBytes(memory.capacityBytes) +
                             " on a device; room for " +
                             formatInteger(report.best->capacity.sequences) +
                             " sequences"});
  }
  return "\nBest in " + std::string(nameOf(problem.goal)) + "\n" + table.str() +
         commandText(best);
}

/// What to type next; nothing of a plan that words do not say.
std::string SearchWriter::commandText(const SearchPoint &point) const {
  std::string label = labelOf(point);
  if (label.find_first_of(" *") != label.npos && !point.plan.axes.empty())
    return "";
  const Workload &work = problem.workload;
  const SearchTarget &target = problem.targets[point.target];
  bool isPrefill = work.phase == Phase::prefill;
  int64_t nodes = target.machine.pools.front().nodes;
  return wrap("  ",
              "autopar estimate " + report.model +
                  (point.plan.axes.empty() ? "" : " --plan=" + label) +
                  " --hardware=" + target.machine.name +
                  (nodes > 1 ? " --nodes=" + std::to_string(nodes) : "") +
                  " --phase=" + std::string(nameOf(work.phase)) +
                  " --batch=" + std::to_string(point.batch) +
                  (isPrefill ? " --prompt=" + std::to_string(work.query) : "") +
                  " --context=" + std::to_string(work.context));
}

/// By how much a plan is behind.
std::string SearchWriter::whyText() const {
  if (!report.why)
    return "";
  const SearchWhy &why = *report.why;
  auto at = [&] {
    return " at batch " + formatInteger(why.batch) + ": " +
           formatTime(why.stepUs) + " a step, " + formatRate(why.tokensPerS) +
           " tokens/s";
  };
  std::string text;
  switch (why.answer) {
  case SearchWhy::Answer::illegal:
    text = "is illegal" + (why.refusal.empty() ? "" : ": " + why.refusal);
    break;
  case SearchWhy::Answer::unfit:
    text = "does not fit";
    if (why.batch)
      text += ": at batch " + formatInteger(why.batch) +
              " a device would hold " +
              formatBytes(static_cast<int64_t>(why.totalBytes));
    break;
  case SearchWhy::Answer::too_slow:
    text = "takes longer than " + formatTime(*problem.maxStepUs) + at();
    break;
  case SearchWhy::Answer::best:
    text = "is the best" + at();
    break;
  case SearchWhy::Answer::beaten:
    text = "is best" + at();
    if (result.best) {
      const SearchPoint &best = result.frontier[*result.best];
      bool isTime = problem.goal == Goal::latency;
      double behind =
          isTime ? why.stepUs / best.stepUs : best.tokensPerS / why.tokensPerS;
      text += "; " + labelOf(best) + print(" is %.2fx as ", behind) +
              (isTime ? "fast" : "good in tokens/s");
    }
    break;
  }
  return "\n" + wrap("", why.plan + " " + text);
}

/// Why there is no plan, and what would be one.
std::string SearchWriter::noneText() const {
  if (!result.frontier.empty()) {
    const SearchPoint *fastest = &result.frontier.front();
    for (const SearchPoint &point : result.frontier)
      if (point.stepUs < fastest->stepUs)
        fastest = &point;
    return "\n" +
           wrap("", "No plan takes at most " + formatTime(*problem.maxStepUs) +
                        " a step. The fastest takes " +
                        formatTime(fastest->stepUs) + ": " + labelOf(*fastest) +
                        ", batch " + formatInteger(fastest->batch));
  }
  if (!result.complete)
    return "\nNothing that fits was found so far.\n";
  if (!result.closest)
    return "\n" + wrap("", "No plan of the space is legal: free some of its "
                           "limits");
  const UnfitPoint &closest = *result.closest;
  const SearchTarget &target = problem.targets[closest.target];
  double usable = target.machine.pools.front().chip.memoryUsable.value;
  SearchPoint point;
  point.plan = closest.plan;
  return "\n" +
         wrap("", "No plan fits. The closest is " + labelOf(point) +
                      " at batch " + formatInteger(closest.batch) + " on " +
                      targetText(target) + ": a device would hold " +
                      formatBytes(static_cast<int64_t>(closest.totalBytes)) +
                      ", of " + formatBytes(static_cast<int64_t>(usable)) +
                      " that it has. More devices, a smaller --context, "
                      "--kv-format=fp8 or --weight-format=fp8 need less");
}

std::string SearchWriter::plotText() const {
  if (result.frontier.size() < 3)
    return "";
  constexpr int rows = 10;
  int columns = static_cast<int>(std::min<size_t>(textWidth(), 78)) - 14;
  auto range = [&](auto value) {
    double low = INFINITY, high = -INFINITY;
    for (const SearchPoint &point : result.frontier) {
      low = std::min(low, std::log(value(point)));
      high = std::max(high, std::log(value(point)));
    }
    return std::pair(low, std::max(high, low + 1e-9));
  };
  auto stepOf = [](const SearchPoint &point) { return point.stepUs; };
  auto rateOf = [&](const SearchPoint &point) {
    return point.tokensPerS /
           static_cast<double>(problem.targets[point.target].devices);
  };
  auto [left, right] = range(stepOf);
  auto [bottom, top] = range(rateOf);
  std::vector<std::string> lines(rows, std::string(columns, ' '));
  for (size_t i = 0; i < result.frontier.size(); ++i) {
    const SearchPoint &point = result.frontier[i];
    double x = (std::log(stepOf(point)) - left) / (right - left);
    double y = (std::log(rateOf(point)) - bottom) / (top - bottom);
    char &cell = lines[rows - 1 - std::lround(y * (rows - 1))]
                      [std::lround(x * (columns - 1))];
    cell = result.best == i ? '@' : cell == '@' ? '@' : '*';
  }
  std::string text = "\nTokens/s of a device over time of a step, both as "
                     "powers (@ best)\n";
  for (int row = 0; row < rows; ++row) {
    std::string label = row == 0          ? formatRate(std::exp(top))
                        : row == rows - 1 ? formatRate(std::exp(bottom))
                                          : "";
    text += "  " + std::string(9 - std::min<size_t>(9, label.size()), ' ') +
            label + " |" + lines[row];
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  std::string first = formatTime(std::exp(left)),
              last = formatTime(std::exp(right));
  int gap = columns - static_cast<int>(first.size() + last.size());
  return text + std::string(12, ' ') + first +
         std::string(std::max(1, gap), ' ') + last + "\n";
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

/// What of the choices of plans makes a difference, and how much.
std::string SearchWriter::effectsText() const {
  TextTable table("llw");
  table.add({"", "within 5 %", "best with each value"});
  for (const KnobEffect &effect : result.effects) {
    if (effect.best.size() < 2)
      continue;
    double most = -INFINITY;
    for (auto [value, score] : effect.best)
      most = std::max(most, score);
    std::vector<std::string> words, close;
    for (auto [value, score] : effect.best) {
      double loss = 100 * (score - most) / std::fabs(most);
      bool isTime = problem.goal == Goal::latency;
      words.push_back(std::to_string(value) + " " +
                      (score == most ? "best"
                       : isTime      ? print("+%.1f %%", -loss)
                                     : print("%.1f %%", loss)));
    }
    for (int64_t value : effect.close)
      close.push_back(std::to_string(value));
    table.add({effect.name, join(close, " "), join(words, ", ")});
  }
  if (table.isHeadOnly())
    return "";
  return "\nWhat matters\n" + table.str();
}

std::string SearchWriter::proofText() const {
  const SearchProof &proof = result.proof;
  auto count = [](uint64_t value) {
    return formatInteger(static_cast<int64_t>(value));
  };
  TextTable table("rl");
  table.add({count(proof.space),
             "plans and batches in the space, of " +
                 formatInteger(static_cast<int64_t>(result.strategies)) +
                 " strategies"});
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
