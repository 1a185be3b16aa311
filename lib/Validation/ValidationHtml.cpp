//===- ValidationHtml.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReportCells.h"

#include "autopar/Page/Page.h"
#include "autopar/Support/Text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

using namespace autopar;
using namespace autopar::page;
using namespace autopar::validation;
using json = nlohmann::ordered_json;

/// The data of a section's chart: points by model, largest models first.
static json chartOf(const ErrorSection &section) {
  std::map<std::string, json> byModel;
  for (const MeasuredPoint &point : section.points)
    if (signedError(point))
      byModel[point.model].push_back(
          {point.id, point.measured, *point.predicted});
  json series = json::array();
  for (auto &[model, points] : byModel)
    series.push_back({{"name", model}, {"points", std::move(points)}});
  auto key = [](const json &one) {
    return std::pair(-static_cast<int64_t>(one["points"].size()), one["name"]);
  };
  std::sort(series.begin(), series.end(),
            [&](const json &a, const json &b) { return key(a) < key(b); });
  return {{"unit", section.unit}, {"series", std::move(series)}};
}

static void addHead(const ValidationReport &report, HtmlBody &body) {
  body.heading(1, "Predicted and measured");
  body.paragraph(join(report.files, ", "), "quiet");
  for (const std::string &line : countLines(report))
    body.paragraph(line);
  std::vector<Cells> all;
  for (const ErrorSection &section : report.sections)
    if (placeOf(section, report) != SectionPlace::hidden)
      all.push_back(errorCells(section.title, section.all));
  body.table(errorHead(), all);
}

static void addSection(const ErrorSection &section, HtmlBody &body,
                       json &data) {
  body.heading(2, section.title);
  json chart = chartOf(section);
  if (!chart["series"].empty()) {
    data[section.name] = std::move(chart);
    body.chart("parity", section.name,
               section.title + ": measured against predicted; dashed lines are "
                               "20 % apart");
  }
  body.beginDetails("Errors by group");
  body.table(errorHead(), errorRows(section));
  body.endDetails();
}

/// Adds a table of `texts` with their numbers of rows.
static void addCounted(const char *title, const char *column,
                       const std::vector<std::pair<std::string, size_t>> &texts,
                       HtmlBody &body) {
  std::vector<Cells> rows;
  for (const auto &[text, count] : texts)
    rows.push_back({countOf(count, "row"), text});
  if (!rows.empty())
    body.heading(2, title).table({"", column}, rows, false);
}

static void addRows(const ValidationReport &report, HtmlBody &body) {
  if (!report.worst.empty())
    body.heading(2, "Worst rows").table(worstHead(), worstRows(report));
  bool hasServed = report.rows || !report.hasOthers();
  bool hasJudged = hasServed || report.training.rows;
  if (hasJudged && report.rules.empty())
    body.heading(2, "Rules").paragraph("No rules: every row counts");
  else if (hasJudged)
    body.heading(2, "Rules").table({"rule", "rows", ""}, ruleRows(report));
  addCounted("Not predicted", "why", report.notPredicted, body);
  addCounted("Taken where rows do not say", "what", report.assumed, body);
  std::vector<Cells> unreadable;
  for (const Error &error : report.unreadable)
    unreadable.push_back({error.where, error.message});
  if (!unreadable.empty())
    body.heading(2, "Unreadable").table({"where", "why"}, unreadable, false);
  if (hasServed) {
    body.heading(2, "Repeats of one configuration");
    for (const std::string &line : noiseLines(report))
      body.paragraph(line);
  }
}

Result<std::string>
autopar::validation::validationHtml(const ValidationReport &report) {
  HtmlBody body;
  json data = json::object();
  addHead(report, body);
  for (const ErrorSection &section : report.sections)
    if (placeOf(section, report) == SectionPlace::own)
      addSection(section, body, data);
  if (std::vector<std::string> lines = orderLines(report); !lines.empty()) {
    body.heading(2, "Order of plans");
    for (const std::string &line : lines)
      body.paragraph(line);
  }
  if (std::string queues = saturationLine(report); !queues.empty())
    body.heading(2, "Queues").paragraph(queues);
  addRows(report, body);
  return makePage("autopar: predicted and measured", body,
                  data.dump(-1, ' ', false, json::error_handler_t::replace));
}
