//===- ValidationJson.cpp -------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Validation/ValidationReport.h"

#include <nlohmann/json.hpp>

using namespace autopar;
using namespace autopar::validation;
using json = nlohmann::ordered_json;

static json figuresJson(const ErrorFigures &figures) {
  json written = {{"rows", figures.rows},
                  {"n", figures.n},
                  {"coverage_percent", figures.coverage() * 100}};
  auto add = [&](const char *key, double share) {
    written[key] = figures.n ? json(share * 100) : json();
  };
  add("mape_percent", figures.mape);
  add("median_percent", figures.median);
  add("p90_percent", figures.p90);
  add("bias_percent", figures.bias);
  add("within_10_percent", figures.within10);
  add("within_20_percent", figures.within20);
  add("within_30_percent", figures.within30);
  return written;
}

static json sectionJson(const ErrorSection &section) {
  json written = {{"name", section.name},
                  {"title", section.title},
                  {"all", figuresJson(section.all)},
                  {"tables", json::array()}};
  for (const ErrorTable &table : section.tables) {
    json groups = json::array();
    for (const ErrorTable::Group &group : table.groups) {
      groups.push_back({{"key", group.key}});
      groups.back().update(figuresJson(group.figures));
    }
    written["tables"].push_back(
        {{"by", table.by}, {"groups", std::move(groups)}});
  }
  return written;
}

static json rulesJson(const ValidationReport &report) {
  json rules = json::array();
  for (const RuleCount &rule : report.rules)
    rules.push_back({{"name", rule.name},
                     {"what", rule.what},
                     {"effect", rule.kind == Rule::Kind::repair    ? "repair"
                                : rule.kind == Rule::Kind::exclude ? "exclude"
                                                                   : "apart"},
                     {"rows", rule.rows}});
  return rules;
}

static json worstJson(const WorstRow &row) {
  return {{"id", row.id},
          {"model", row.model},
          {"system", row.system},
          {"runtime", row.runtime},
          {"concurrency", row.concurrency},
          {"measured_tpot_ms", row.measuredMs},
          {"predicted_tpot_ms", row.predictedMs},
          {"error_percent", row.error * 100},
          {"suspect", row.suspect.empty() ? json() : json(row.suspect)},
          {"suspect_ms", row.suspectMs}};
}

static json noiseJson(const NoiseFloor &noise) {
  return {{"configurations", noise.configurations},
          {"pairs", noise.pairs},
          {"median_percent", noise.median * 100},
          {"p90_percent", noise.p90 * 100}};
}

static json trainingJson(const ValidationReport &report) {
  const TrainingCounts &counts = report.training;
  json written = {{"rows", counts.rows},    {"dense", counts.dense},
                  {"moe", counts.moe},      {"peaks", counts.peaks},
                  {"apart", counts.apart},  {"excluded", counts.excluded},
                  {"order", json::array()}, {"assumed", json::array()}};
  for (const auto &[what, rows] : report.assumed)
    written["assumed"].push_back({{"what", what}, {"rows", rows}});
  for (const PlanOrder &order : report.planOrders)
    written["order"].push_back({{"kind", order.kind},
                                {"pairs", order.pairs},
                                {"predicted", order.predicted},
                                {"right", order.right}});
  return written;
}

std::string
autopar::validation::validationJson(const ValidationReport &report) {
  json written = {{"schema", "autopar.validation/1"},
                  {"files", report.files},
                  {"rows", report.rows},
                  {"aggregated", report.aggregated},
                  {"disaggregated", report.disaggregated},
                  {"counting", report.counting},
                  {"throughput_rows", report.throughputRows},
                  {"memory_rows", report.memoryRows},
                  {"other_rows", report.otherRows},
                  {"unreadable", json::array()},
                  {"rules", rulesJson(report)},
                  {"not_predicted", json::array()},
                  {"sections", json::array()}};
  for (const Error &error : report.unreadable)
    written["unreadable"].push_back(
        {{"where", error.where}, {"message", error.message}});
  for (const auto &[reason, rows] : report.notPredicted)
    written["not_predicted"].push_back({{"reason", reason}, {"rows", rows}});
  for (const ErrorSection &section : report.sections)
    written["sections"].push_back(sectionJson(section));
  written["training"] = trainingJson(report);
  const SaturationFigures &figures = report.saturation;
  written["saturation"] = {{"rows", figures.rows},
                           {"both", figures.both},
                           {"only_measured", figures.onlyMeasured},
                           {"only_predicted", figures.onlyPredicted}};
  written["worst"] = json::array();
  for (const WorstRow &row : report.worst)
    written["worst"].push_back(worstJson(row));
  written["noise"] = {{"same_version", noiseJson(report.sameVersion)},
                      {"any_version", noiseJson(report.anyVersion)}};
  // Names of files and models may be any bytes.
  return written.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}
