//===- Measurements.h - Files of benchmarks and their numbers ---*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The files of runtimes/measurements say how a result file of a benchmark is
// recognised, and which JSON pointers lead to its quantities. Printed results
// are read by the regular expressions of runtimes/measurements/text first,
// which make a JSON object of them.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_CALIBRATE_MEASUREMENTS_H
#define AUTOPAR_CALIBRATE_MEASUREMENTS_H

#include "autopar/Support/Table.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace autopar::calibration {

/// A number of a result file, and the place that it was read from: a JSON
/// pointer, or a formula over other numbers.
struct ReadNumber {
  std::string name, unit, from;
  double value = 0;
};

/// One run of a benchmark: facts as texts, such as the model, and numbers.
struct MeasuredRun {
  /// The location for messages: "bench.json: /benchmarks/2".
  std::string where;
  std::map<std::string, std::string> texts;
  std::vector<ReadNumber> numbers;

  std::optional<double> number(const std::string &name) const;
};

/// What a form has read from a file.
struct MeasuredFile {
  std::string file;
  /// Name and title of the form; the kind of its runs: served, latency,
  /// collective or copy.
  std::string form, title, kind;
  std::vector<MeasuredRun> runs;
};

/// The forms of runtimes/measurements.
class MeasurementForms {
public:
  static Result<MeasurementForms> load();
  ~MeasurementForms();
  MeasurementForms(MeasurementForms &&) noexcept;

  /// Reads a result file: JSON, JSON lines, CSV, or printed text. Errors name
  /// `file` and the place: a syntax error, a value that is no finite number, a
  /// file that no form recognises.
  Result<MeasuredFile> read(const std::string &text,
                            const std::string &file) const;

private:
  struct Form;
  explicit MeasurementForms(std::vector<Form> forms);
  std::vector<Form> forms;
};

/// Facts that users state where files lack them, by the names of forms: model,
/// engine, hardware, tp, dp, ep, ...
using StatedFacts = std::map<std::string, std::string>;

/// Returns a fact of a run as text: as stated, else the number or the text of
/// the run, else "". A number is rounded if `isWhole`.
std::string factOf(const MeasuredRun &run, const StatedFacts &stated,
                   const std::string &fact, bool isWhole = false);
/// The error of a run without a fact, which `flag` states.
Error lacksFact(const MeasuredRun &run, const std::string &fact,
                const std::string &flag);

/// The served runs of `files` as a table with the columns of `autopar
/// validate`; `stated` holds over files. Returns nothing if no file has served
/// runs. Errors: a run that lacks a fact; the note says which flag states it.
Result<std::optional<DataTable>>
servingTable(const std::vector<MeasuredFile> &files, const StatedFacts &stated);

/// Lists what was read, for people.
std::string measurementsText(const std::vector<MeasuredFile> &files);

} // namespace autopar::calibration

#endif // AUTOPAR_CALIBRATE_MEASUREMENTS_H
