//===- Calibrate.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Session/Calibrate.h"

#include "MeasuredCalls.h"
#include "RowPredictor.h"

#include "autopar/Calibrate/Parameters.h"
#include "autopar/Session/Validate.h"
#include "autopar/Support/File.h"
#include "autopar/Support/Text.h"
#include "autopar/Validation/TrainingRows.h"

#include <algorithm>
#include <map>
#include <set>

using namespace autopar;
using namespace autopar::calibration;
using namespace autopar::session;
using namespace autopar::validation;

/// The standard deviation of the logarithm of measured over predicted at first:
/// about that of rows of engines and machines that no fit has seen. It weighs
/// as few points (lib/Calibrate/Fit.cpp).
static constexpr double firstNoise = 0.1;

namespace {

/// The figures of a validation that are fitted, in a fixed order.
struct Points {
  std::vector<std::string> quantities;
  std::vector<FitPoint> points;
  std::vector<std::optional<double>> predicted;

  /// Number of groups of points so far.
  size_t groups() const {
    size_t count = 0;
    for (const FitPoint &point : points)
      count = std::max(count, point.group + 1);
    return count;
  }
};

/// What is fitted: rows of tables, which `validate` predicts, and calls of
/// collectives.
struct Measurements {
  ValidateRequest rows;
  std::vector<MeasuredCall> calls;
};

/// The points of all measurements, and the rows that `validate` predicted for
/// them.
struct Prediction {
  Points points;
  Validation rows;
};

} // namespace

/// Whether a section of errors has figures that a calibration changes: not the
/// weights, which have no parameter, nor rows that are reported separately.
static bool isFitted(const ErrorSection &section) {
  for (const char *left : {"memory_weights", "memory_temporaries", "memory_sum",
                           "tpot_apart", "throughput_old"})
    if (section.name == left)
      return false;
  return true;
}

/// Adds the figures of a validation to `all`.
static void addRows(const ValidationReport &report, Points &all) {
  std::map<std::string, size_t> groups;
  size_t first = all.groups();
  for (const ErrorSection &section : report.sections) {
    if (section.points.empty() || !isFitted(section))
      continue;
    for (const validation::MeasuredPoint &point : section.points) {
      size_t group =
          groups.emplace(point.id, first + groups.size()).first->second;
      all.points.push_back({all.quantities.size(), group, point.measured});
      bool isTime = point.predicted && *point.predicted > 0;
      all.predicted.push_back(isTime ? point.predicted : std::nullopt);
    }
    all.quantities.push_back(section.name);
  }
}

/// Adds the times of calls to `all`. Each call is a group of its own: sizes
/// that are held out are predicted from the other sizes.
static void addCalls(const std::vector<MeasuredCall> &calls,
                     const std::vector<std::optional<double>> &times,
                     Points &all) {
  size_t group = all.groups();
  for (size_t i = 0; i < calls.size(); ++i) {
    all.points.push_back({all.quantities.size(), group++, calls[i].timeUs});
    all.predicted.push_back(times[i]);
  }
  all.quantities.emplace_back("collective");
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Returns `text` as a table of `autopar validate`, if it is one.
static std::optional<DataTable> validationTable(const std::string &text,
                                                const std::string &file) {
  Result<DataTable> table = parseTable(text, file);
  if (!table)
    return std::nullopt;
  bool isServed =
      table->has("silicon_tpot_ms") || table->has("silicon_ttft_ms");
  if (isServed || hasThroughput(*table) || hasEngineMemory(*table) ||
      hasTraining(*table))
    return std::move(*table);
  return std::nullopt;
}

/// Reads all files: tables of `autopar validate`, and files of benchmarks, of
/// which the served runs become such a table.
static Result<Measurements> readFiles(const CalibrateRequest &request,
                                      std::vector<MeasuredFile> &read) {
  Result<MeasurementForms> forms = MeasurementForms::load();
  if (!forms)
    return forms.error();
  Measurements all;
  all.rows.configs = request.configs;
  for (const std::string &file : request.files) {
    Result<std::string> text = readFile(file);
    if (!text)
      return text.error();
    if (auto table = validationTable(*text, file)) {
      all.rows.tables.push_back(std::move(*table));
      continue;
    }
    Result<MeasuredFile> measured = forms->read(*text, file);
    if (!measured)
      return measured.error();
    read.push_back(std::move(*measured));
  }
  Result<std::optional<DataTable>> served = servingTable(read, request.stated);
  if (!served)
    return served.error();
  if (*served)
    all.rows.tables.push_back(std::move(**served));
  Result<std::vector<MeasuredCall>> calls = measuredCalls(read, request.stated);
  if (!calls)
    return calls.error();
  all.calls = std::move(*calls);
  return all;
}

/// Returns the machines and runtimes of the calls and of the rows that are
/// predicted: "systems.h100-sxm-8", "runtimes.vllm".
static Result<std::set<std::string>>
ownersOf(const std::vector<MeasuredCall> &calls, const Validation &all) {
  Result<SystemNames> systems = readSystemNames();
  if (!systems)
    return systems.error();
  std::set<std::string> owners;
  for (const MeasuredCall &call : calls)
    owners.insert("systems." + call.system);
  auto add = [&](const std::string &system, const std::string &runtime) {
    if (ResolvedName found = systems->find(system))
      owners.insert("systems." + found.name);
    if (RuntimeName found = resolveRuntime(runtime); !found.name.empty())
      owners.insert("runtimes." + found.name);
  };
  for (const PredictedRow &row : all.served)
    if (row.prediction)
      add(row.row.system, row.row.runtime);
  for (const ThroughputRow &row : all.throughput)
    if (row.predicted)
      add(row.row.system, row.row.runtime);
  for (const MemoryRow &row : all.memory)
    if (row.predicted)
      add(row.row.system, row.row.runtime);
  for (const TrainedRow &row : all.trained)
    if (row.prediction)
      add(row.system, "");
  return owners;
}

//===----------------------------------------------------------------------===//
// Fitting
//===----------------------------------------------------------------------===//

/// Predicts all measurements with `overrides`.
static Result<Prediction> predictAll(const Measurements &measured,
                                     std::vector<std::string> overrides) {
  Prediction all;
  if (!measured.calls.empty()) {
    auto times = predictCalls(measured.calls, overrides);
    if (!times)
      return times.error();
    addCalls(measured.calls, *times, all.points);
  }
  if (measured.rows.tables.empty())
    return all;
  ValidateRequest request = measured.rows;
  request.overrides = std::move(overrides);
  Result<Validation> rows = validate(request);
  if (!rows)
    return rows.error();
  addRows(rows->report, all.points);
  all.rows = std::move(*rows);
  return all;
}

static std::string setTo(const Parameter &parameter, double value) {
  return parameter.path + "=" + formatNumber(value);
}

Result<session::Calibration>
session::calibrate(const CalibrateRequest &request) {
  Calibration made;
  made.files = request.files;
  Result<Measurements> measured = readFiles(request, made.read);
  if (!measured)
    return measured.error();
  Result<Prediction> today = predictAll(*measured, request.overrides);
  if (!today)
    return today.error();
  const Points &points = today->points;
  made.quantities = points.quantities;
  made.points = points.points.size();
  if (points.points.empty())
    return made;
  Result<std::set<std::string>> owners = ownersOf(measured->calls, today->rows);
  if (!owners)
    return owners.error();
  Result<std::vector<Parameter>> parameters = parametersOf(*owners);
  if (!parameters)
    return parameters.error();
  made.parameters = std::move(*parameters);
  auto predict = [&](const std::vector<double> &values)
      -> Result<std::vector<std::optional<double>>> {
    std::vector<std::string> overrides = request.overrides;
    for (size_t i = 0; i < values.size(); ++i)
      if (values[i] != made.parameters[i].today)
        overrides.push_back(setTo(made.parameters[i], values[i]));
    Result<Prediction> moved = predictAll(*measured, std::move(overrides));
    if (!moved)
      return moved.error();
    // Which rows count does not depend on figures that are fitted.
    moved->points.predicted.resize(points.points.size());
    return std::move(moved->points.predicted);
  };
  std::vector<double> noise(points.quantities.size(), firstNoise);
  Result<Fit> fitted = fit(made.parameters, points.points, noise, predict);
  if (!fitted)
    return fitted.error();
  made.fit = std::move(*fitted);
  return made;
}
