//===- SearchTables.cpp - Tables and plots of searches --------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SearchWriter.h"

#include "autopar/Support/Text.h"
#include "autopar/Support/TextTables.h"
#include "autopar/Write/MoneyText.h"
#include "autopar/Write/Phrases.h"

#include <algorithm>
#include <cmath>

using namespace autopar;
using namespace autopar::search;
using namespace autopar::writing;

std::string SearchWriter::plotText() const {
  if (result.frontier.size() < 3 || kind.comparesMemory())
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
  std::string text = "\nTokens/s per device over time of " + kind.oneTimed() +
                     ", both axes logarithmic (@ = best)\n";
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
  auto join = [&](std::string time, Cells requests, std::string memory,
                  Cells others, std::string target) {
    Cells cells = {std::move(time)};
    if (kind.hasTokenTimes())
      cells.insert(cells.end(), requests.begin(), requests.end());
    if (kind.comparesMemory())
      cells.push_back(std::move(memory));
    cells.insert(cells.end(), others.begin(), others.end());
    if (hasTargets())
      cells.push_back(std::move(target));
    return cells;
  };
  TextTable table(std::string(kind.hasTokenTimes()    ? 7
                              : kind.comparesMemory() ? 6
                                                      : 5,
                              'r') +
                  (hasTargets() ? "ll" : "l"));
  table.add(
      join(kind.timed(), {"TTFT", "TPOT"}, "memory",
           {"tokens/s", "per device", "$/M tokens", kind.batchWord(), "plan"},
           "on"));
  for (const SearchPoint &point : result.frontier) {
    const SearchTarget &target = problem.targets[point.target];
    table.add(join(
        formatTime(point.timeUs),
        {formatTime(point.ttftUs), formatTime(point.tpotUs)},
        formatBytes(static_cast<int64_t>(point.totalBytes)),
        {formatRate(point.tokensPerS),
         formatRate(point.tokensPerS / static_cast<double>(target.devices)),
         point.dollarsPerMillionTokens
             ? dollarText(*point.dollarsPerMillionTokens)
             : "-",
         formatInteger(point.batch), labelOf(point)},
        differenceText(target)));
  }
  std::string takes = kind.comparesMemory() ? "memory per device"
                                            : "time of " + kind.oneTimed();
  return "\nPareto frontier: " + takes + " against tokens/s\n" + table.str();
}

/// Returns a text about a close call: "matmul.bf16 kernels 7 % slower; their
/// fit is within 5 %".
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

/// Writes the table of plans that are close to the best plan, each with the
/// figure that would put it first.
std::string SearchWriter::rivalsText() const {
  if (result.rivals.empty())
    return "";
  TextTable table("lrrlw");
  table.add({"plan", "behind", "batch", hasTargets() ? "on" : "", "best if"});
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

/// Writes the table of the choices that make a difference, and how large the
/// difference is.
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
  return "\nEffect of each choice\n" + table.str();
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
    table.add(
        {count(proof.sharedPrices), "of these by an equivalent order of axes"});
  if (proof.tooSlow)
    table.add({count(proof.tooSlow), "of these miss the latency limit"});
  if (proof.excluded)
    table.add({count(proof.excluded), "pruned by a bound"});
  if (proof.excludedGathers)
    table.add({count(proof.excludedGathers),
               "of these by the step of the same plan without fsdp"});
  table.add({count(proof.unfit), "do not fit"});
  table.add({count(proof.illegal), "illegal"});
  return std::string("\n") +
         (result.complete ? "Proof" : "Interrupted: no proof") + "\n" +
         table.str();
}

/// Describes a target by those properties in which the targets of the search
/// differ.
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
