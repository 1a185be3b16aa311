//===- Validate.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Session/Validate.h"

#include "RowPredictor.h"
#include "autopar/Import/LoadModel.h"
#include "autopar/Support/File.h"
#include "autopar/Support/Text.h"
#include "autopar/Validation/ColumnMapping.h"
#include "autopar/Validation/PredictionsCsv.h"
#include "autopar/Validation/ServingRows.h"
#include "autopar/Validation/TrainingRows.h"
#include "autopar/Validation/TrainingRules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace autopar;
using namespace autopar::hardware;
using namespace autopar::importer;
using namespace autopar::plan;
using namespace autopar::runtime;
using namespace autopar::session;
using namespace autopar::validation;

namespace {

/// The rows of all tables that are validated.
struct Tables {
  std::vector<ServingRow> rows;
  std::vector<ThroughputRow> throughput;
  std::vector<MemoryRow> memory;
  std::vector<TrainingRow> training;
  size_t others = 0;
  /// The errors of rows about served requests (`unreadable`), and of other
  /// rows.
  std::vector<Error> unreadable, otherUnreadable;
};

} // namespace

template <typename Row>
static void append(std::vector<Row> &all, std::vector<Row> more) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
}

static std::optional<Error> addServing(const DataTable &table, Tables &tables) {
  Result<ServingRows> read = readServingRows(table);
  if (!read)
    return read.error();
  append(tables.rows, std::move(read->rows));
  append(tables.unreadable, std::move(read->unreadable));
  return std::nullopt;
}

/// Adds the rows of measurements that are not about requests.
template <typename Rows, typename Row>
static std::optional<Error> addOther(Result<Rows> read, std::vector<Row> &all,
                                     Tables &tables) {
  if (!read)
    return read.error();
  append(all, std::move(read->rows));
  append(tables.otherUnreadable, std::move(read->unreadable));
  return std::nullopt;
}

static std::optional<Error> addThroughput(const DataTable &table,
                                          Tables &tables) {
  Result<ThroughputRows> read = readThroughputRows(table);
  if (read)
    tables.others += read->others;
  return addOther(std::move(read), tables.throughput, tables);
}

/// Adds rows about memory, which may belong to engines and to training.
static std::optional<Error> addRows(const DataTable &table, Tables &tables) {
  bool isOfEngines = hasEngineMemory(table);
  if (isOfEngines)
    if (auto error = addOther(readMemoryRows(table), tables.memory, tables))
      return error;
  if (isOfEngines || hasTraining(table))
    return addOther(readTrainingRows(table), tables.training, tables);
  return hasThroughput(table) ? addThroughput(table, tables)
                              : addServing(table, tables);
}

/// Checks the overrides of runtimes before any row is read, because their
/// errors concern the command line.
static std::optional<Error>
checkRuntimes(const std::vector<Override> &overrides) {
  std::vector<bool> used(overrides.size());
  for (const std::string &name : runtimeNames())
    if (Result<Runtime> read = readRuntime(name, overrides, used); !read)
      return read.error();
  return std::nullopt;
}

/// Returns the columns that tables of any kind may have.
static std::vector<std::string> knownColumns() {
  std::vector<std::string> known;
  for (const auto *columns : {&servingColumns(), &throughputColumns(),
                              &memoryColumns(), &trainingColumns()})
    for (const std::string &column : *columns)
      if (!llvm::is_contained(known, column))
        known.push_back(column);
  return known;
}

static Result<Tables> readTables(const ValidateRequest &options) {
  std::optional<ColumnMapping> mapping;
  if (!options.columns.empty()) {
    Result<ColumnMapping> read = readColumnMapping(options.columns);
    if (!read)
      return read.error();
    mapping = std::move(*read);
  }
  Tables tables;
  for (const DataTable &table : options.tables)
    if (auto failed = addRows(table, tables))
      return *failed;
  for (const std::string &file : options.files) {
    Result<DataTable> table = readTable(file);
    if (!table)
      return table.error();
    if (mapping)
      if (Result<bool> applied = applyMapping(*table, *mapping, knownColumns());
          !applied)
        return applied.error();
    if (auto failed = addRows(*table, tables))
      return *failed;
  }
  return tables;
}

static bool isSameFile(const std::string &a, const std::string &b) {
  return !a.empty() && (a == b || llvm::sys::fs::equivalent(a, b));
}

/// Refuses to overwrite input files, or to write the same file twice.
static std::optional<Error> checkOutputs(const ValidateOptions &options) {
  std::vector<std::string> read = options.files;
  read.insert(read.end(), {options.rules, options.columns});
  for (const std::string &output : {options.predictions, options.output})
    for (const std::string &file : read)
      if (isSameFile(output, file))
        return Error{output, "is a file that is read: it would be written over",
                     "give another name"};
  if (isSameFile(options.output, options.predictions))
    return Error{options.output, "cannot have both the report and predictions",
                 "give two names"};
  return std::nullopt;
}

static Result<RuleSet> readRules(const std::string &given) {
  if (given.empty())
    return defaultRules();
  return given == "none" ? noRules() : readRuleSet(given);
}

/// Predicts rows. Returns nothing if `progress` stops it.
static std::optional<std::vector<PredictedRow>>
predictAll(std::vector<ServingRow> rows, const RuleSet &rules,
           RowPredictor &predictor, const Progress &progress) {
  bool stopped = false;
  auto goesOn = [&](const char *what, size_t done) {
    stopped = stopped || (progress && !progress(what, done, rows.size()));
    return !stopped;
  };
  size_t asked = 0;
  auto capacityOf = [&](const ServingRow &row) {
    return goesOn("judging", asked++) ? predictor.capacityOf(row)
                                      : std::nullopt;
  };
  std::vector<RowJudgement> judgements = judgeRows(rows, rules, capacityOf);
  std::vector<PredictedRow> predicted(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!goesOn("predicting", i))
      return std::nullopt;
    predicted[i].judgement = std::move(judgements[i]);
    predicted[i].row = rows[i];
    predictor.predict(predicted[i], rules);
  }
  return predicted;
}

/// Counts the reasons why rows were not predicted.
template <typename Row>
static void addReasons(const std::vector<Row> &rows, ValidationReport &report) {
  for (const Row &row : rows)
    if (!row.predicted)
      report.addNotPredicted(row.notPredicted);
}

/// Adds the errors of rows that are not about requests.
static void addOtherErrors(const Tables &tables, const RuleSet &rules,
                           Validation &all) {
  ValidationReport &report = all.report;
  report.throughputRows = all.throughput.size();
  report.memoryRows = all.memory.size();
  report.otherRows = tables.others + tables.otherUnreadable.size();
  append(report.unreadable, tables.otherUnreadable);
  append(report.sections, throughputSections(all.throughput));
  append(report.sections, memorySections(all.memory));
  addReasons(all.throughput, report);
  addReasons(all.memory, report);
  addTraining(report, all.trained, rules);
}

static std::vector<TrainedRow> predictRuns(std::vector<TrainingRow> rows,
                                           const RuleSet &rules,
                                           RowPredictor &predictor) {
  std::vector<RowJudgement> judgements = judgeTraining(rows, rules);
  std::vector<TrainedRow> trained(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    trained[i].row = std::move(rows[i]);
    trained[i].judgement = std::move(judgements[i]);
    predictor.predict(trained[i]);
  }
  return trained;
}

Result<Validation> autopar::session::validate(const ValidateRequest &request,
                                              const Progress &progress) {
  Result<RuleSet> rules = readRules(request.rules);
  if (!rules)
    return rules.error();
  Result<std::vector<Override>> overrides = parseOverrides(request.overrides);
  if (!overrides)
    return overrides.error();
  if (auto error = checkRuntimes(*overrides))
    return *error;
  Result<std::unique_ptr<RowPredictor>> predictor =
      RowPredictor::create(request.configs, *overrides);
  if (!predictor)
    return predictor.error();
  Result<Tables> tables = readTables(request);
  if (!tables)
    return tables.error();
  auto served =
      predictAll(std::move(tables->rows), *rules, **predictor, progress);
  if (!served)
    return Error{"", "stopped before all rows were predicted", ""};
  Validation all{std::move(*served), std::move(tables->throughput),
                 std::move(tables->memory),
                 predictRuns(std::move(tables->training), *rules, **predictor),
                 ValidationReport()};
  for (ThroughputRow &row : all.throughput)
    (*predictor)->predict(row);
  for (MemoryRow &row : all.memory)
    (*predictor)->predict(row);
  if (auto unused = (*predictor)->unusedOverride())
    return *unused;
  all.report = makeValidationReport(request.files, all.served,
                                    std::move(tables->unreadable), *rules);
  addOtherErrors(*tables, *rules, all);
  return all;
}

//===----------------------------------------------------------------------===//
// Running the command
//===----------------------------------------------------------------------===//

static Result<std::string> textOf(const ValidationReport &report,
                                  const std::string &format) {
  if (format == "html")
    return validationHtml(report);
  return format == "json" ? validationJson(report) : validationText(report);
}

static bool show(std::string_view what, size_t done, size_t all) {
  if (done % 50 == 0)
    showProgress(std::string(what) + " " + std::to_string(done) + " of " +
                 std::to_string(all) + " rows");
  return true;
}

Result<std::string>
autopar::session::runValidation(const ValidateOptions &options) {
  if (options.printRules) {
    Result<RuleSet> rules = readRules(options.rules);
    return rules ? Result<std::string>(ruleSetJson(*rules)) : rules.error();
  }
  if (auto error = checkOutputs(options))
    return *error;
  Result<Validation> all = validate(options, show);
  showProgress("");
  if (!all)
    return all.error();
  if (!options.predictions.empty())
    if (Result<bool> written = writeFile(
            options.predictions, predictionsCsv(all->served, all->throughput,
                                                all->memory, all->trained));
        !written)
      return written.error();
  Result<std::string> text = textOf(all->report, options.format);
  if (!text || options.output.empty())
    return text;
  Result<bool> written = writeFile(options.output, *text);
  return written ? Result<std::string>(std::string()) : written.error();
}
