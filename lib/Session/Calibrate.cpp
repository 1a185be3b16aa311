//===- Calibrate.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Session/Calibrate.h"

#include "autopar/Calibrate/Parameters.h"
#include "autopar/Hardware/Hardware.h"
#include "autopar/Session/Validate.h"
#include "autopar/Support/File.h"
#include "autopar/Support/Text.h"
#include "autopar/Validation/Names.h"
#include "autopar/Validation/TrainingRows.h"

#include <map>
#include <set>

using namespace autopar;
using namespace autopar::calibration;
using namespace autopar::hardware;
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

static Points pointsOf(const ValidationReport &report) {
  Points all;
  std::map<std::string, size_t> groups;
  for (const ErrorSection &section : report.sections) {
    if (section.points.empty() || !isFitted(section))
      continue;
    for (const validation::MeasuredPoint &point : section.points) {
      size_t group = groups.emplace(point.id, groups.size()).first->second;
      all.points.push_back({all.quantities.size(), group, point.measured});
      bool isTime = point.predicted && *point.predicted > 0;
      all.predicted.push_back(isTime ? point.predicted : std::nullopt);
    }
    all.quantities.push_back(section.name);
  }
  return all;
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
static Result<std::vector<DataTable>>
readFiles(const CalibrateRequest &request, std::vector<MeasuredFile> &read) {
  Result<MeasurementForms> forms = MeasurementForms::load();
  if (!forms)
    return forms.error();
  std::vector<DataTable> tables;
  for (const std::string &file : request.files) {
    Result<std::string> text = readFile(file);
    if (!text)
      return text.error();
    if (auto table = validationTable(*text, file)) {
      tables.push_back(std::move(*table));
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
    tables.push_back(std::move(**served));
  return tables;
}

/// Returns the machines and runtimes of the rows that are predicted:
/// "systems.h100-sxm-8", "runtimes.vllm".
static Result<std::set<std::string>> ownersOf(const Validation &all) {
  Result<NameRules> rules =
      readNameRules(dataDirectory("hardware") + "/names.json");
  if (!rules)
    return rules.error();
  SystemNames systems(std::move(*rules), HardwareLibrary().systemNames());
  std::set<std::string> owners;
  auto add = [&](const std::string &system, const std::string &runtime) {
    if (ResolvedName found = systems.find(system))
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

static std::string setTo(const Parameter &parameter, double value) {
  return parameter.path + "=" + formatNumber(value);
}

Result<session::Calibration>
session::calibrate(const CalibrateRequest &request) {
  Calibration made;
  made.files = request.files;
  Result<std::vector<DataTable>> tables = readFiles(request, made.read);
  if (!tables)
    return tables.error();
  if (tables->empty())
    return made;
  ValidateRequest question;
  question.tables = std::move(*tables);
  question.configs = request.configs;
  question.overrides = request.overrides;
  Result<Validation> today = validate(question);
  if (!today)
    return today.error();
  Points points = pointsOf(today->report);
  made.quantities = points.quantities;
  made.points = points.points.size();
  if (points.points.empty())
    return made;
  Result<std::set<std::string>> owners = ownersOf(*today);
  if (!owners)
    return owners.error();
  Result<std::vector<Parameter>> parameters = parametersOf(*owners);
  if (!parameters)
    return parameters.error();
  made.parameters = std::move(*parameters);
  auto predict = [&](const std::vector<double> &values)
      -> Result<std::vector<std::optional<double>>> {
    ValidateRequest moved = question;
    for (size_t i = 0; i < values.size(); ++i)
      if (values[i] != made.parameters[i].today)
        moved.overrides.push_back(setTo(made.parameters[i], values[i]));
    Result<Validation> result = validate(moved);
    if (!result)
      return result.error();
    Points all = pointsOf(result->report);
    // Which rows count does not depend on figures that are fitted.
    all.predicted.resize(points.points.size());
    return std::move(all.predicted);
  };
  std::vector<double> noise(points.quantities.size(), firstNoise);
  Result<Fit> fitted = fit(made.parameters, points.points, noise, predict);
  if (!fitted)
    return fitted.error();
  made.fit = std::move(*fitted);
  return made;
}
