//===- DifferencesText.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Write/Text.h"

#include "autopar/Report/PlanDifferences.h"

#include "autopar/Support/Text.h"
#include "autopar/Support/TextTables.h"
#include "autopar/Write/MoneyText.h"
#include "autopar/Write/Phrases.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::program;
using namespace autopar::report;
using namespace autopar::writing;
using Unit = PlanDifferences::Unit;

/// The number of lines that a list has before it is cut, so that everything
/// fits on a screen.
static constexpr size_t listLines = 6;
/// The number of names that one line lists.
static constexpr size_t lineNames = 3;

static std::string cutNote(size_t cut) {
  return cut == 0 ? "" : "  ... and " + formatInteger(cut) + " more\n";
}

//===----------------------------------------------------------------------===//
// Title: the compared plans
//===----------------------------------------------------------------------===//

static std::string planLine(const char *letter, const PlanOutcome &plan) {
  std::vector<std::string> parts = meshText(plan.report);
  parts.insert(parts.begin(), machineText(plan.report));
  parts.push_back("runtime " + plan.report.machine.runtime);
  return wrapText(std::string("  ") + letter + "  ",
                  plan.name + ": " + join(parts, ", "));
}

static std::string title(const PlanDifferences &differences) {
  const Report &a = differences.a->report, &b = differences.b->report;
  std::string step = stepText(a);
  if (stepText(b) != step)
    step += "; B: " + stepText(b);
  return wrapText("", a.model.name + ": " + step) +
         planLine("A", *differences.a) + planLine("B", *differences.b);
}

//===----------------------------------------------------------------------===//
// Differences of the IR
//===----------------------------------------------------------------------===//

static std::string collectivesOfIR(const PlanDifferences &differences) {
  if (differences.collectives.empty())
    return "";
  TextTable table("lllrr");
  table.add({"collectives of a step", "in", "over", "A", "B"});
  size_t lines = std::min(differences.collectives.size(), listLines);
  for (size_t i = 0; i < lines; ++i) {
    const auto &[a, b] = differences.collectives[i];
    const PlanOutcome::Collective &one = a ? *a : *b;
    table.add({one.kind + (one.dims.empty() ? "" : " " + one.dims), one.layer,
               join(one.axes, "*"), a ? formatInteger(a->count) : "-",
               b ? formatInteger(b->count) : "-"});
  }
  return "\n" + table.str() + cutNote(differences.collectives.size() - lines);
}

static std::string layoutOf(const std::optional<PlanOutcome::Tensor> &tensor) {
  return tensor ? tensor->layout : "none";
}

/// Returns the change of a tensor: "[_ by tp, _] -> [_ by ep, _]", "[batch,
/// context] bf16 -> fp8".
static std::string changeOf(const std::optional<PlanOutcome::Tensor> &a,
                            const std::optional<PlanOutcome::Tensor> &b) {
  if (a && b && a->layout == b->layout)
    return a->layout + " " + a->format + " -> " + b->format;
  std::string text = layoutOf(a) + " -> " + layoutOf(b);
  if (a && b && a->format != b->format)
    text += ", " + a->format + " -> " + b->format;
  return text;
}

/// Writes one line for all tensors that change in the same way.
static std::string tensorsOfIR(const PlanDifferences &differences) {
  std::vector<std::pair<std::string, std::vector<std::string>>> changes;
  for (const auto &[a, b] : differences.tensors) {
    std::string change = changeOf(a, b);
    auto it = std::find_if(changes.begin(), changes.end(),
                           [&](auto &other) { return other.first == change; });
    if (it == changes.end())
      it = changes.insert(it, {change, {}});
    const PlanOutcome::Tensor &one = a ? *a : *b;
    it->second.push_back(one.layer + "/" + one.name);
  }
  std::string text = changes.empty() ? "" : "\n  weights, caches and states\n";
  size_t lines = std::min(changes.size(), listLines);
  for (size_t i = 0; i < lines; ++i) {
    auto &[change, names] = changes[i];
    size_t more = names.size() - std::min(names.size(), lineNames);
    names.resize(names.size() - more);
    text += wrapText("  ",
                     join(names, ", ") +
                         (more ? " and " + formatInteger(more) + " more" : "") +
                         ": " + change);
  }
  return text + cutNote(changes.size() - lines);
}

//===----------------------------------------------------------------------===//
// Differences of the report
//===----------------------------------------------------------------------===//

namespace {
/// Writes a value of a row as text in the row's unit.
struct ValueText {
  Unit unit;

  std::string operator()(std::monostate) const { return "-"; }
  std::string operator()(bool value) const { return value ? "yes" : "NO"; }
  std::string operator()(const std::string &value) const { return value; }
  std::string operator()(int64_t value) const {
    return unit == Unit::bytes ? formatBytes(value) : formatInteger(value);
  }
  std::string operator()(Checked value) const { return formatFlops(value); }
  std::string operator()(double value) const {
    if (unit == Unit::dollars)
      return dollarText(value);
    if (unit == Unit::joules)
      return energyText(value);
    return unit == Unit::microseconds ? formatTime(value) : formatRate(value);
  }
};
} // namespace

static std::string ratioText(std::optional<double> ratio) {
  return ratio ? print(*ratio < 10 ? "%.2fx" : "%.1fx", *ratio) : "";
}

static std::string numbers(const PlanDifferences &differences) {
  if (differences.rows.empty())
    return "";
  TextTable table("lrrr");
  table.add({"", "A", "B", "B / A"});
  for (const PlanDifferences::Row &row : differences.rows)
    table.add({row.name, std::visit(ValueText{row.unit}, row.a),
               std::visit(ValueText{row.unit}, row.b), ratioText(row.ratio())});
  return "\n" + table.str();
}

static double timeOf(const std::optional<Report::CollectiveRow> &row) {
  return row ? static_cast<double>(row->count) * row->timeUs : 0;
}

static std::string bytesOf(const std::optional<Report::CollectiveRow> &row) {
  return row ? formatBytes(Checked(row->count) * row->wireBytesPerDevice) : "-";
}

static std::string collectiveTimes(const PlanDifferences &differences) {
  if (differences.times.empty())
    return "";
  TextTable table("llrrrrr");
  table.add({"sent in a step", "for", "A", "B", "time in A", "in B", "B / A"});
  size_t lines = std::min(differences.times.size(), listLines);
  for (size_t i = 0; i < lines; ++i) {
    const auto &[a, b] = differences.times[i];
    const Report::CollectiveRow &one = a ? *a : *b;
    std::optional<double> ratio;
    if (timeOf(a) > 0 && timeOf(b) > 0)
      ratio = timeOf(b) / timeOf(a);
    table.add({one.kind + " " + join(one.axes, "*"), one.name, bytesOf(a),
               bytesOf(b), a ? formatTime(timeOf(a)) : "-",
               b ? formatTime(timeOf(b)) : "-", ratioText(ratio)});
  }
  return "\n" + table.str() + cutNote(differences.times.size() - lines);
}

static std::string warnings(const char *heading,
                            const std::vector<std::string> &all) {
  std::string text;
  for (const std::string &warning : all)
    text += wrapText("  ! ", warning);
  return text.empty() ? "" : std::string("\n") + heading + "\n" + text;
}

/// Writes how many items are equal; these have no line of their own.
static std::string equalText(const PlanDifferences &differences) {
  const auto &equal = differences.equal;
  return "\n" + wrapText("", "equal: " + countOf(equal.collectives, "kind") +
                                 " of collectives, " +
                                 countOf(equal.tensors, "tensor") + ", " +
                                 countOf(equal.rows, "number") + ", " +
                                 countOf(equal.times, "collective time") +
                                 ", " + countOf(equal.warnings, "warning"));
}

std::string autopar::writing::writeText(const PlanDifferences &differences) {
  std::string head = title(differences);
  if (differences.empty())
    return head + "\nno difference\n";
  return head + collectivesOfIR(differences) + tensorsOfIR(differences) +
         numbers(differences) + collectiveTimes(differences) +
         warnings("Warnings of A alone", differences.warningsOfA) +
         warnings("Warnings of B alone", differences.warningsOfB) +
         equalText(differences);
}
