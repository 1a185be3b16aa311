//===- SearchText.cpp - The findings of a search, on a terminal -----------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SearchWriter.h"

#include "autopar/Plan/PlanText.h"
#include "autopar/Support/Library.h"
#include "autopar/Support/Shell.h"
#include "autopar/Support/Text.h"
#include "autopar/Support/TextTables.h"
#include "autopar/Write/MoneyText.h"
#include "autopar/Write/Phrases.h"

#include <algorithm>
#include <numeric>

using namespace autopar;
using namespace autopar::placement;
using namespace autopar::plan;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::schedule;
using namespace autopar::search;
using namespace autopar::writing;

/// Returns `plan` with its axes in default order; returns `plan` itself if it
/// cannot be written in words in any order.
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

std::string autopar::search::labelOf(const SearchPoint &point) {
  // Words that every plan of the search has, and words that are implied, are
  // left out.
  Plan given = point.plan;
  PipelinePlan &pipeline = given.pipeline;
  if (pipeline.interleave == 1)
    pipeline.interleave.reset();
  if (pipeline.schedule != ScheduleKind::gpipe &&
      pipeline.schedule != ScheduleKind::zero_bubble)
    pipeline.schedule.reset();
  if (pipeline.microBatch)
    given.contextKind.reset();
  given.dtype.reset();
  given.kvDtype.reset();
  given.prefillChunk.reset();
  given.maxSequences.reset();
  given.eager = false;
  if (given.expertPlacement && given.expertPlacement->redundant > 0)
    given.expertPlacement->sources = {};
  else
    given.expertPlacement.reset();
  Plan plan = inDefaultOrder(given);
  if (plan.axes.empty())
    return planText(plan).value_or("1 device");
  std::string label = planText(plan).value_or(meshText(plan));
  if (meshText(plan) == meshText(given))
    return label;
  std::vector<std::string> names;
  for (const PlanAxis &axis : given.axes)
    names.push_back(axis.name);
  return label + " in order " + join(names, ",");
}

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

/// Returns the number of devices and the machine, with those flags in which
/// targets differ.
std::string SearchWriter::targetText(const SearchTarget &target) const {
  int64_t nodes = target.machine.pools.front().nodes;
  std::string text = countOf(target.devices, "device") + " of " +
                     target.machine.name +
                     (nodes > 1 ? " x " + formatInteger(nodes) : "");
  for (const GivenFlag &flag : target.flags)
    if (flag.name != "hardware" && !isOfAllTargets(flag))
      text += ", " + flag.name + " " + flag.value;
  return text;
}

/// Returns the source of the expert loads; "" if loads are even.
std::string SearchWriter::loadsText() const {
  const std::optional<ExpertPlan> &placed =
      problem.targets.front().base.expertPlacement;
  return placed ? placed->sources.load : "";
}

std::string SearchWriter::headText() const {
  std::string space = spaceText(problem.space);
  std::string loads = loadsText();
  std::string text = report.model + ": " + kind.text(problem);
  if (hasTargets()) {
    text += " on one of\n";
    for (const SearchTarget &target : problem.targets)
      text += "  " + targetText(target) + "\n";
  } else {
    const SearchTarget &target = problem.targets.front();
    text = wrapText("", text + " on " + targetText(target) + ", " +
                            target.runtime.label());
  }
  return text +
         wrapText("  ",
                  "space: " + (space.empty() ? "all plans" : space) +
                      (problem.space.allOrders ? "" : ", default order") +
                      (loads.empty() ? "" : ", loads " + loads) + "; " +
                      kind.batchesWord() + " " +
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
  table.add({kind.batchWord(), formatInteger(best.batch)});
  table.add({kind.timed(), timesText(best)});
  table.add({"tokens/s", formatRate(best.tokensPerS) + ", " +
                             formatRate(best.tokensPerS /
                                        static_cast<double>(target.devices)) +
                             " per device"});
  if (best.dollarsPerMillionTokens)
    table.add({"$/M tokens", dollarText(*best.dollarsPerMillionTokens)});
  if (report.best && report.best->training) {
    addTraining(table);
  } else if (report.best) {
    const auto &memory = report.best->memory.perDevice;
    table.add({"bound by", report.best->latency.bound});
    table.add({"memory", formatBytes(memory.totalBytes) + " of " +
                             formatBytes(memory.capacityBytes) +
                             " per device; room for " +
                             formatInteger(report.best->capacity.sequences) +
                             " sequences"});
  }
  return "\nBest in " + std::string(nameOf(problem.goal)) + "\n" + table.str() +
         commandText(best);
}

void SearchWriter::addTraining(TextTable &table) const {
  const Report &best = *report.best;
  const TrainingReport &training = *best.training;
  auto percent = [](double share) { return print("%.1f %%", 100 * share); };
  table.add({"utilisation", percent(training.modelUtilization) + " MFU, " +
                                percent(training.hardwareUtilization) +
                                " HFU (with recomputation)"});
  table.add(
      {"bubble", formatTime(training.bubbleTimeUs) + ", " +
                     percent(training.bubbleTimeUs / best.latency.stepTimeUs)});
  table.add({"bound by", best.latency.bound});
  const auto &memory = best.memory.perDevice;
  table.add({"memory", formatBytes(memory.totalBytes) + " of a budget of " +
                           formatBytes(memory.budgetBytes) + " per device"});
}

std::string SearchWriter::timesText(const SearchPoint &point) const {
  std::string text = formatTime(point.timeUs);
  if (kind.hasTokenTimes())
    text += ", TTFT " + formatTime(point.ttftUs) + ", TPOT " +
            formatTime(point.tpotUs);
  return text;
}

/// Returns a word of a command in quotes if it needs them; control characters
/// are made visible.
static std::string shownWord(const std::string &text) {
  return visible(shellWord(text));
}

/// Adds those flags of a target that an estimate of `plan` needs too, as the
/// user gave them. A plan without an expert placement needs no expert loads.
static void addFlags(const SearchTarget &target, const Plan &plan,
                     std::vector<std::string> &words) {
  for (const GivenFlag &flag : target.flags)
    if (flag.name != "hardware" && flag.name != "nodes" &&
        flag.name != "phase" && flag.name != "prompt" &&
        flag.name != "context" && flag.name != "report-output" &&
        (flag.name != "expert-load" || plan.expertPlacement))
      words.push_back("--" + flag.name +
                      (flag.value.empty() ? "" : "=" + shownWord(flag.value)));
}

/// Returns the name of the hardware, or the path that the user gave, because a
/// name would not find the file.
static std::string hardwareOf(const SearchTarget &target) {
  for (const GivenFlag &flag : target.flags)
    if (flag.name == "hardware" && isPath(flag.value))
      return flag.value;
  return target.machine.name;
}

/// Returns the command that estimates this plan; empty for requests, and for
/// plans that flags cannot express.
std::string SearchWriter::commandText(const SearchPoint &point) const {
  std::string label = labelOf(point);
  if (kind.hasTokenTimes() ||
      (label.find_first_of(" *") != label.npos && !point.plan.axes.empty()))
    return "";
  const Workload &work = problem.workload();
  const SearchTarget &target = problem.targets[point.target];
  int64_t nodes = target.machine.pools.front().nodes;
  std::vector<std::string> words = {"autopar", "estimate",
                                    shownWord(report.model)};
  auto add = [&](const char *flag, const std::string &value) {
    words.push_back(flag + shownWord(value));
  };
  if (!point.plan.axes.empty())
    add("--plan=", label);
  add("--hardware=", hardwareOf(target));
  if (nodes > 1)
    add("--nodes=", std::to_string(nodes));
  add("--phase=", std::string(nameOf(work.phase)));
  add("--batch=", std::to_string(point.batch));
  if (work.phase == Phase::prefill)
    add("--prompt=", std::to_string(work.query));
  add("--context=", std::to_string(work.context));
  addFlags(target, point.plan, words);
  return commandLines("  ", words, textWidth());
}

/// Answers `--why`: says by how much the user's plan is behind the best plan.
std::string SearchWriter::whyText() const {
  if (!report.why)
    return "";
  const SearchWhy &why = *report.why;
  auto at = [&] {
    return kind.atBatch(why.batch) + ": " + formatTime(why.timeUs) + " " +
           kind.oneTimed() + ", " + formatRate(why.tokensPerS) + " tokens/s";
  };
  std::string text;
  switch (why.answer) {
  case SearchWhy::Answer::illegal:
    text = "is illegal" + (why.refusal.empty() ? "" : ": " + why.refusal);
    break;
  case SearchWhy::Answer::unfit:
    text = "does not fit";
    if (why.batch)
      text += ": at batch " + formatInteger(why.batch) + " it needs " +
              formatBytes(static_cast<int64_t>(why.totalBytes)) + " per device";
    break;
  case SearchWhy::Answer::too_slow:
    text = kind.hasTokenTimes() ? "misses the latency limits"
                                : "takes longer than " +
                                      formatTime(*problem.stepLimitUs()) + at();
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
  return "\n" + wrapText("", why.plan + " " + text);
}

/// Says why there is no plan, and with which limit there would be one.
std::string SearchWriter::noneText() const {
  if (!result.frontier.empty()) {
    const SearchPoint *fastest = &result.frontier.front();
    for (const SearchPoint &point : result.frontier)
      if (point.timeUs < fastest->timeUs)
        fastest = &point;
    return "\n" + wrapText("", "No plan takes at most " +
                                   formatTime(*problem.stepLimitUs()) +
                                   " a step. The fastest takes " +
                                   formatTime(fastest->timeUs) + ": " +
                                   labelOf(*fastest) + ", batch " +
                                   formatInteger(fastest->batch));
  }
  if (result.shortestTtft)
    return tooSlowText();
  if (!result.complete)
    return "\n" + interruptedText();
  if (result.proof.space == 0)
    return "\n" + wrapText("", "The space has no plan for this number of "
                               "devices: relax some of its limits");
  if (!result.closest)
    return "\n" +
           wrapText(
               "", "No plan of the space is legal: relax some of its limits. " +
                       report.refusal);
  return "\n" + wrapText("", unfitText());
}

/// Says how far an interrupted search has come.
std::string SearchWriter::interruptedText() const {
  const SearchProof &proof = result.proof;
  uint64_t seen =
      proof.evaluated + proof.excluded + proof.unfit + proof.illegal;
  auto count = [](uint64_t value) {
    return formatInteger(static_cast<int64_t>(value));
  };
  return wrapText("", "Interrupted after " + count(seen) + " of " +
                          count(proof.space) + " plans; none of them fits");
}

std::string SearchWriter::unfitText() const {
  const UnfitPoint &closest = *result.closest;
  const SearchTarget &target = problem.targets[closest.target];
  SearchPoint point;
  point.plan = closest.plan;
  std::string text =
      "No plan fits. The closest is " + labelOf(point) +
      (kind.hasTokenTimes() ? ""
                            : " at batch " + formatInteger(closest.batch)) +
      " on " + targetText(target) + ": needs " +
      formatBytes(static_cast<int64_t>(closest.totalBytes)) + " per device";
  if (report.closest) {
    const auto &memory = report.closest->memory.perDevice;
    text += ", " + formatBytes(memory.budgetBytes) + " are usable, short by " +
            formatBytes(memory.totalBytes - memory.budgetBytes);
  }
  return text + ". More devices, a smaller --context, --kv-format=fp8 or "
                "--weight-format=fp8 would help";
}

/// Says which latency limits no plan meets, and by how much.
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
  return "\n" + wrapText("", "No plan meets " + join(wanted, " and ") + ": " +
                                 join(found, "; "));
}

std::string autopar::search::writeText(const SearchReport &report) {
  return SearchWriter(report).write();
}
