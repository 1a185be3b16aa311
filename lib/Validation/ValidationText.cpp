//===- ValidationText.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Columns.h"
#include "ReportCells.h"

#include "autopar/Support/Text.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::validation;

static AlignedColumns errorColumns() {
  AlignedColumns columns("lrrrrrrrrr");
  columns.add(errorHead());
  return columns;
}

/// `rows` under a title.
static std::string table(const std::string &title, AlignedColumns columns,
                         std::vector<Cells> rows) {
  for (Cells &row : rows)
    columns.add(std::move(row));
  return "\n" + title + "\n" + columns.str();
}

static std::string headText(const ValidationReport &report) {
  std::string text =
      join(report.files, ", ") + ": " + join(countLines(report), "\n") + "\n";
  constexpr size_t shown = 10;
  for (size_t i = 0; i < std::min(shown, report.unreadable.size()); ++i)
    text += "  ! " + report.unreadable[i].str() + "\n";
  if (report.unreadable.size() > shown)
    text += "  ! and " + formatInteger(report.unreadable.size() - shown) +
            " more\n";
  return text;
}

static std::string rulesText(const ValidationReport &report) {
  bool hasJudged = report.rows || report.training.rows || !report.hasOthers();
  if (!hasJudged)
    return "";
  if (report.rules.empty())
    return "\nNo rules: every row counts\n";
  return table("Rules", AlignedColumns("lrl"), ruleRows(report));
}

/// Lists `texts` with their numbers of rows.
static std::string
countedText(const std::string &title,
            const std::vector<std::pair<std::string, size_t>> &texts) {
  if (texts.empty())
    return "";
  std::string text = "\n" + title + "\n";
  constexpr size_t shown = 20;
  for (size_t i = 0; i < std::min(shown, texts.size()); ++i)
    text +=
        "  " + countOf(texts[i].second, "row") + ": " + texts[i].first + "\n";
  if (texts.size() > shown)
    text += "  and for " + countOf(texts.size() - shown, "reason") + " more\n";
  return text;
}

static std::string sectionsText(const ValidationReport &report) {
  std::string text;
  std::vector<Cells> apart;
  for (const ErrorSection &section : report.sections)
    switch (placeOf(section, report)) {
    case SectionPlace::own:
      text += table(section.title, errorColumns(), errorRows(section));
      break;
    case SectionPlace::apart:
      apart.push_back(errorCells(section.title, section.all));
      break;
    case SectionPlace::hidden:
      break;
    }
  if (!apart.empty())
    text += table("Reported apart", errorColumns(), std::move(apart));
  return text;
}

static std::string worstText(const ValidationReport &report) {
  if (report.worst.empty())
    return "";
  AlignedColumns columns("llllrrrrl");
  columns.add(worstHead());
  return table("Worst rows", std::move(columns), worstRows(report));
}

static std::string noiseText(const ValidationReport &report) {
  return "\nRepeats of one configuration\n  " +
         join(noiseLines(report), "\n  ") + "\n";
}

static std::string orderText(const ValidationReport &report) {
  std::vector<std::string> lines = orderLines(report);
  return lines.empty() ? ""
                       : "\nOrder of plans\n  " + join(lines, "\n  ") + "\n";
}

std::string
autopar::validation::validationText(const ValidationReport &report) {
  bool hasServed = report.rows || !report.hasOthers();
  std::string queues = saturationLine(report);
  return headText(report) + rulesText(report) +
         countedText("Not predicted", report.notPredicted) +
         countedText("Taken where rows do not say", report.assumed) +
         sectionsText(report) + orderText(report) +
         (queues.empty() ? "" : "\nQueues: " + queues + "\n") +
         worstText(report) + (hasServed ? noiseText(report) : "");
}
