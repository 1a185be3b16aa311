//===- Sweep.h - Estimates over ranges --------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SWEEP_SWEEP_H
#define AUTOPAR_SWEEP_SWEEP_H

#include "autopar/Report/Report.h"
#include "autopar/Support/Result.h"

#include <nlohmann/json.hpp>

#include <string_view>

namespace autopar::sweep {

/// A flag, or a figure at a path of the libraries, for which a sweep tries
/// several values.
struct SweepAxis {
  /// The flag or the path: "batch", "chips.h100-sxm.memory_bandwidth".
  std::string name;
  /// The values: all are counts, all numbers or all words. A single value is
  /// common to all rows.
  std::vector<nlohmann::ordered_json> values;

  bool varies() const { return values.size() > 1; }
  bool isNumber() const { return values.front().is_number(); }
  /// Returns value number `i` of the axis as users read it: "4,096".
  std::string text(size_t i) const;
};

/// A point of a sweep: for each axis, the index of its value.
using SweepPoint = std::vector<size_t>;

/// Returns the number of points. Error: more than `limits::maxSweepRows`.
Result<size_t> countPoints(const std::vector<SweepAxis> &axes);
/// Returns the point with this index; the first axis varies slowest.
SweepPoint pointAt(const std::vector<SweepAxis> &axes, size_t index);

/// The result of one point of a sweep.
struct SweepRow {
  SweepPoint point;
  /// The plan of the row, in the words of flags.
  std::string plan = "";
  /// The numbers of the row, in the order of `reportColumns`; empty if the
  /// estimate was refused for the reason `refusal`.
  std::vector<nlohmann::ordered_json> cells = {};
  std::string refusal = "";

  bool isRefused() const { return cells.empty(); }
  bool fits() const;
  /// Makes the row of a point from its report; if `plan` is "", the row states
  /// the mesh.
  static SweepRow of(SweepPoint point, const report::Report &report,
                     const std::string &plan = "");
};

/// The table of estimates of a sweep.
struct SweepReport {
  std::string model;
  std::vector<SweepAxis> axes;
  /// The goal by which each row's plan was searched; absent if flags set the
  /// plan.
  std::optional<std::string> goal = std::nullopt;
  std::vector<SweepRow> rows = {};
  /// Whether all points of the sweep have a row; they have none after an
  /// interruption.
  bool complete = true;
};

/// Writes text for a terminal. Values that all rows have in common are above
/// the table.
std::string writeText(const SweepReport &report);
/// Writes JSON that is valid against lib/Sweep/schema/sweep.schema.json.
std::string writeJson(const SweepReport &report);
/// Writes all columns of all rows as CSV; the first line names the columns.
std::string writeCsv(const SweepReport &report);

/// Returns the names of the columns with numbers, which can be plotted.
std::vector<std::string> plotColumns();
/// Returns why these axes cannot be plotted: no axis of numbers, or more lines
/// than `limits::maxPlotSeries`; nothing if they can.
std::optional<Error> checkPlot(const std::vector<SweepAxis> &axes);
/// Returns a script for gnuplot that plots column `key` as SVG over the first
/// axis of numbers, with a line for each combination of values of the other
/// axes. The axes must pass `checkPlot`. Error: no row has the column.
Result<std::string> plotScript(const SweepReport &report, std::string_view key);

} // namespace autopar::sweep

#endif // AUTOPAR_SWEEP_SWEEP_H
