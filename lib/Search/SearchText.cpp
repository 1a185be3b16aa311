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
  given.dtype.reset();
  given.kvDtype.reset();
  given.prefillChunk.reset();
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
           rivalsText() + effectsText() + proofText();
  }

private:
  bool hasTargets() const { return problem.targets.size() > 1; }
  bool isOfRequests() const { return problem.requests.has_value(); }
  std::string targetText(const SearchTarget &target) const;
  std::string differenceText(const SearchTarget &target) const;
  bool isOfAllTargets(const GivenFlag &flag) const;
  std::string timesText(const SearchPoint &point) const;
  std::string headText() const;
  std::string bestText() const;
  std::string noneText() const;
  std::string unfitText() const;
  std::string tooSlowText() const;
  std::string whyText() const;
  std::string commandText(const SearchPoint &point) const;
  std::string frontierText() const;
  std::string plotText() const;
  std::string rivalsText() const;
  std::string callText(const CloseCall &call) const;
  std::string effectsText() const;
  std::string proofText() const;

  const SearchReport &report;
  const SearchProblem &problem;
  const SearchResult &result;
};

} // namespace

bool SearchWriter::isOfAllTargets(const GivenFlag &flag) const {
  return std::all_of(problem.targets.begin(), problem.targets.end(),
                     [&](const SearchTarget &target) {
                       return std::any_of(target.flags.begin(),
                                          target.flags.end(),
                                          [&](const GivenFlag &other) {
                                            return other.name == flag.name &&
                                                   other.value == flag.value;
                                          });
                     });
}

/// Of a target in a table of several: what others have otherwise.
std::string SearchWriter::differenceText(const SearchTarget &target) const {
  const SearchTarget &first = problem.targets.front();
  auto differs = [&](auto valueOf) {
    return std::any_of(problem.targets.begin(), problem.targets.end(),
                       [&](const SearchTarget &other) {
                         return valueOf(other) != valueOf(first);
                       });
  };
  std::vector<std::string> words;
  if (differs([](const SearchTarget &one) { return one.devices; }))
    words.push_back(formatInteger(target.devices));
  if (differs([](const SearchTarget &one) { return one.machine.name; }))
    words.push_back(target.machine.name);
  for (const GivenFlag &flag : target.flags)
    if (flag.name != "hardware" && !isOfAllTargets(flag))
      words.push_back(flag.value);
  return join(words, " ");
}

/// Devices and machine, and the flags that other targets lack.
std::string SearchWriter::targetText(const SearchTarget &target) const {
  int64_t nodes = target.machine.pools.front().nodes;
  std::string text = formatInteger(target.devices) + " devices of " +
                     target.machine.name +
                     (nodes > 1 ? " x " + formatInteger(nodes) : "");
  for (const GivenFlag &flag : target.flags)
    if (flag.name != "hardware" && !isOfAllTargets(flag))
      text += ", " + flag.name + " " + flag.value;
  return text;
}

std::string SearchWriter::headText() const {
  const Workload &work = problem.workload;
  std::string step =
      isOfRequests()
          ? "requests of " + formatInteger(problem.requests->prompt) +
                " tokens and " + formatInteger(problem.requests->answer) +
                " of answer"
      : work.phase == Phase::prefill
          ? "prefill of " + formatInteger(work.query) + " tokens each"
          : "decode at context " + formatInteger(work.context);
  std::string space = spaceText(problem.space);
  std::string text = report.model + ": " + step;
  if (hasTargets()) {
    text += " on one of\n";
    for (const SearchTarget &target : problem.targets)
      text += "  " + targetText(target) + "\n";
  } else {
    const SearchTarget &target = problem.targets.front();
    text = wrap("", text + " on " + targetText(target) + ", " +
                        target.runtime.label());
  }
  return text +
         wrap("  ",
              "space: " + (space.empty() ? "all plans" : space) +
                  (problem.space.allOrders ? "" : ", default order") +
                  (isOfRequests() ? "; requests at once " : "; batches ") +
                  formatInteger(problem.batches.front()) +
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
  table.add({isOfRequests() ? "at once" : "batch", formatInteger(best.batch)});
  table.add({isOfRequests() ? "request" : "step", timesText(best)});
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

std::string SearchWriter::timesText(const SearchPoint &point) const {
  std::string text = formatTime(point.timeUs);
  if (isOfRequests())
    text += ", " + formatTime(point.ttftUs) + " to the first token and " +
            formatTime(point.tpotUs) + " for each other";
  return text;
}

/// Those of a target that an estimate needs, too, as they were given.
static std::string flagsText(const SearchTarget &target) {
  std::string text;
  for (const GivenFlag &flag : target.flags)
    if (flag.name != "hardware" && flag.name != "nodes" &&
        flag.name != "phase" && flag.name != "prompt" &&
        flag.name != "context" && flag.name != "report-output")
      text += " --" + flag.name + (flag.value.empty() ? "" : "=" + flag.value);
  return text;
}

/// What to type next; nothing of a plan that words do not say, or of requests.
std::string SearchWriter::commandText(const SearchPoint &point) const {
  std::string label = labelOf(point);
  if (isOfRequests() ||
      (label.find_first_of(" *") != label.npos && !point.plan.axes.empty()))
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
                  " --context=" + std::to_string(work.context) +
                  flagsText(target));
}

/// By how much a plan is behind.
std::string SearchWriter::whyText() const {
  if (!report.why)
    return "";
  const SearchWhy &why = *report.why;
  auto at = [&] {
    return (isOfRequests() ? " with " + formatInteger(why.batch) + " at once: "
                           : " at batch " + formatInteger(why.batch) + ": ") +
           formatTime(why.timeUs) +
           (isOfRequests() ? " a request, " : " a step, ") +
           formatRate(why.tokensPerS) + " tokens/s";
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
    text = isOfRequests() ? "is slower than is wanted"
                          : "takes longer than " +
                                formatTime(*stepLimitUs(problem)) + at();
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
          isTime ? why.timeUs / best.timeUs : best.tokensPerS / why.tokensPerS;
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
      if (point.timeUs < fastest->timeUs)
        fastest = &point;
    return "\n" +
           wrap("", "No plan takes at most " +
                        formatTime(*stepLimitUs(problem)) +
                        " a step. The fastest takes " +
                        formatTime(fastest->timeUs) + ": " + labelOf(*fastest) +
                        ", batch " + formatInteger(fastest->batch));
  }
  if (result.shortestTtft)
    return tooSlowText();
  if (!result.complete)
    return "\nNothing that fits was found so far.\n";
  if (!result.closest)
    return "\n" + wrap("", "No plan of the space is legal: free some of its "
                           "limits");
  return "\n" + wrap("", unfitText());
}

/// What of the closest plan does not fit, by how much.
std::string SearchWriter::unfitText() const {
  const UnfitPoint &closest = *result.closest;
  const SearchTarget &target = problem.targets[closest.target];
  SearchPoint point;
  point.plan = closest.plan;
  std::string text =
      "No plan fits. The closest is " + labelOf(point) +
      (isOfRequests() ? "" : " at batch " + formatInteger(closest.batch)) +
      " on " + targetText(target) + ": a device would hold " +
      formatBytes(static_cast<int64_t>(closest.totalBytes));
  if (report.closest) {
    const auto &memory = report.closest->memory.perDevice;
    text += " of " + formatBytes(memory.budgetBytes) +
            " that the runtime may use, " +
            formatBytes(memory.totalBytes - memory.budgetBytes) + " too much";
  }
  return text + ". More devices, a smaller --context, --kv-format=fp8 or "
                "--weight-format=fp8 need less";
}

/// What of requests is too slow, by how much.
std::string SearchWriter::tooSlowText() const {
  const ServiceLimits &limits = problem.limits;
  std::vector<std::string> wanted, found;
  auto add = [&](const char *name, std::optional<double> limit,
                 const SearchPoint &shortest, double us) {
    if (!limit)
      return;
    wanted.push_back(std::string(name) + " " + formatTime(*limit));
    found.push_back("the shortest " + std::string(name) + " is " +
                    formatTime(us) + ": " + labelOf(shortest) + ", " +
                    formatInteger(shortest.batch) + " at once");
  };
  add("TTFT", limits.ttftUs, *result.shortestTtft, result.shortestTtft->ttftUs);
  add("TPOT", limits.tpotUs, *result.shortestTpot, result.shortestTpot->tpotUs);
  return "\n" + wrap("", "No plan has " + join(wanted, " and ") + ": " +
                             join(found, "; "));
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
  auto stepOf = [](const SearchPoint &point) { return point.timeUs; };
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
  std::string text = std::string("\nTokens/s of a device over time of a ") +
                     (isOfRequests() ? "request" : "step") +
                     ", both as powers (@ best)\n";
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
  using Cells = std::vector<std::string>;
  auto join = [&](std::string time, Cells requests, Cells others,
                  std::string target) {
    Cells cells = {std::move(time)};
    if (isOfRequests())
      cells.insert(cells.end(), requests.begin(), requests.end());
    cells.insert(cells.end(), others.begin(), others.end());
    if (hasTargets())
      cells.push_back(std::move(target));
    return cells;
  };
  TextTable table(std::string(isOfRequests() ? 7 : 5, 'r') +
                  (hasTargets() ? "ll" : "l"));
  const char *what = isOfRequests() ? "request" : "step";
  table.add(join(what, {"TTFT", "TPOT"},
                 {"tokens/s", "a device", "$/M tokens",
                  isOfRequests() ? "at once" : "batch", "plan"},
                 "on"));
  for (const SearchPoint &point : result.frontier) {
    const SearchTarget &target = problem.targets[point.target];
    table.add(join(
        formatTime(point.timeUs),
        {formatTime(point.ttftUs), formatTime(point.tpotUs)},
        {formatRate(point.tokensPerS),
         formatRate(point.tokensPerS / static_cast<double>(target.devices)),
         point.dollarsPerMillionTokens
             ? dollarText(*point.dollarsPerMillionTokens)
             : "-",
         formatInteger(point.batch), labelOf(point)},
        differenceText(target)));
  }
  return std::string("\nPlans that no other beats in both time of a ") + what +
         " and tokens/s\n" + table.str();
}

/// "matmul.bf16 kernels 7 % slower; their fit is within 5 %".
std::string SearchWriter::callText(const CloseCall &call) const {
  bool isCurve = call.path.find(".kernels.") != call.path.npos;
  std::string text = call.path +
                     print(" %.1f %% ", 100 * std::fabs(call.change)) +
                     (isCurve           ? call.change > 0 ? "slower" : "faster"
                      : call.change > 0 ? "more"
                                        : "less");
  if (call.error)
    text += print("; its fit is within %.1f %%", 100 * *call.error);
  return text + (call.isClose() ? ": too close to call" : "");
}

/// Plans that are close to the best, and what would put them before it.
std::string SearchWriter::rivalsText() const {
  if (result.rivals.empty())
    return "";
  TextTable table("lrrlw");
  table.add(
      {"plan", "behind", "batch", hasTargets() ? "on" : "", "best where"});
  for (size_t i = 0; i < result.rivals.size(); ++i) {
    const Rival &rival = result.rivals[i];
    auto call =
        std::find_if(report.closeCalls.begin(), report.closeCalls.end(),
                     [&](const CloseCall &one) { return one.rival == i; });
    table.add({labelOf(rival.point), print("%.2f %%", 100 * (1 - rival.share)),
               formatInteger(rival.point.batch),
               hasTargets()
                   ? differenceText(problem.targets[rival.point.target])
                   : "",
               call == report.closeCalls.end() ? "" : callText(*call)});
  }
  return "\nWithin 5 % of the best\n" + table.str();
}

/// What of the choices of plans makes a difference, and how much.
std::string SearchWriter::effectsText() const {
  TextTable table("llw");
  table.add({"", "within 5 %", "best with each value"});
  for (const KnobEffect &effect : result.effects) {
    if (effect.values.size() < 2)
      continue;
    double most = -INFINITY;
    for (const KnobEffect::Value &value : effect.values)
      most = std::max(most, value.best);
    std::vector<std::string> words, close;
    for (const KnobEffect::Value &value : effect.values) {
      double loss = 100 * (value.best - most) / std::fabs(most);
      bool isTime = problem.goal == Goal::latency;
      words.push_back(value.text + " " +
                      (value.best == most ? "best"
                       : isTime           ? print("+%.1f %%", -loss)
                                          : print("%.1f %%", loss)));
      if (value.isClose)
        close.push_back(value.text);
    }
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
  if (proof.tooSlow)
    table.add({count(proof.tooSlow), "of these slower than is wanted"});
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
