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

/// A swept flag, or a swept figure at a path of the libraries.
struct SweepAxis {
  /// The flag or path: "batch", "chips.h100-sxm.memory_bandwidth".
  std::string name;
  /// The values: all counts, all numbers or all words; a single value is common
  /// to all rows.
  std::vector<nlohmann::ordered_json> values;

  bool varies() const { return values.size() > 1; }
  bool isNumber() const { return values.front().is_number(); }
  /// Value `i` for readers: "4,096".
  std::string text(size_t i) const;
};

/// The index of each axis' value.
using SweepPoint = std::vector<size_t>;

/// Number of points. Errors: more than `limits::maxSweepRows`.
Result<size_t> countPoints(const std::vector<SweepAxis> &axes);
/// The point at `index`; the first axis is the slowest.
SweepPoint pointAt(const std::vector<SweepAxis> &axes, size_t index);

/// The result of a point.
struct SweepRow {
  SweepPoint point;
  /// The plan in words.
  std::string plan = "";
  /// Values by `reportColumns`; empty if the point was refused, for the reason
  /// `refusal`.
  std::vector<nlohmann::ordered_json> cells = {};
  std::string refusal = "";

  bool isRefused() const { return cells.empty(); }
  bool fits() const;
  /// Makes the row of `report`; an empty `plan` is replaced by the mesh.
  static SweepRow of(SweepPoint point, const report::Report &report,
                     const std::string &plan = "");
};

/// A table of estimates.
struct SweepReport {
  std::string model;
  std::vector<SweepAxis> axes;
  /// The goal of the plan of each row; absent if flags set the plan.
  std::optional<std::string> goal = std::nullopt;
  std::vector<SweepRow> rows = {};
  /// Whether all points have a row.
  bool complete = true;
};

/// Writes text for a terminal. Values common to all rows are above the table.
std::string writeText(const SweepReport &report);
/// Writes JSON text, valid against lib/Sweep/schema/sweep.schema.json.
std::string writeJson(const SweepReport &report);
/// Writes all columns of all rows, with a head.
std::string writeCsv(const SweepReport &report);

/// The columns of numbers that can be plotted.
std::vector<std::string> plotColumns();
/// Returns the reason why these axes cannot be plotted: no axis of numbers, or
/// more lines than `limits::maxPlotSeries`.
std::optional<Error> checkPlot(const std::vector<SweepAxis> &axes);
/// Writes a script for gnuplot that plots column `key` as SVG over the first
/// axis of numbers, with a line for each point of the others. The axes must
/// pass `checkPlot`. Errors: no row has the column.
Result<std::string> plotScript(const SweepReport &report, std::string_view key);

} // namespace autopar::sweep

#endif // AUTOPAR_SWEEP_SWEEP_H
