//===- Sweep.h - What a step costs over ranges ------------------*- C++ -*-===//
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

/// What is swept: a flag, or the figure at a path of the libraries.
struct SweepAxis {
  /// "batch", "chips.h100-sxm.memory_bandwidth".
  std::string name;
  /// All of them counts, numbers or words; one alone says what all rows have.
  std::vector<nlohmann::ordered_json> values;

  bool varies() const { return values.size() > 1; }
  bool isNumber() const { return values.front().is_number(); }
  /// Value `i` to read: "4,096".
  std::string text(size_t i) const;
};

/// Which value each axis has.
using SweepPoint = std::vector<size_t>;

/// How many points there are. Errors: more than `limits::maxSweepRows`.
Result<size_t> countPoints(const std::vector<SweepAxis> &axes);
/// The one at `index`: the first axis is the slowest.
SweepPoint pointAt(const std::vector<SweepAxis> &axes, size_t index);

/// What came of a point.
struct SweepRow {
  SweepPoint point;
  /// In words.
  std::string plan = "";
  /// By `reportColumns`; none where it was refused, for `refusal`.
  std::vector<nlohmann::ordered_json> cells = {};
  std::string refusal = "";

  bool isRefused() const { return cells.empty(); }
  bool fits() const;
  /// What `report` says; its plan as the mesh where `plan` is empty.
  static SweepRow of(SweepPoint point, const report::Report &report,
                     const std::string &plan = "");
};

/// A table of estimates.
struct SweepReport {
  std::string model;
  std::vector<SweepAxis> axes;
  /// What the plan of each row is the best in; absent where flags say it.
  std::optional<std::string> goal = std::nullopt;
  std::vector<SweepRow> rows = {};
  /// Whether all points have a row.
  bool complete = true;
};

/// For a terminal. What all rows have stands above the table.
std::string writeText(const SweepReport &report);
/// As JSON text, valid against lib/Sweep/schema/sweep.schema.json.
std::string writeJson(const SweepReport &report);
/// All columns of all rows, with a head.
std::string writeCsv(const SweepReport &report);

/// The columns of numbers that can be drawn.
std::vector<std::string> plotColumns();
/// Why these axes cannot be drawn: none is of numbers, or there are more lines
/// than `limits::maxPlotSeries`.
std::optional<Error> checkPlot(const std::vector<SweepAxis> &axes);
/// A script for gnuplot that prints column `key` as SVG, over the first axis of
/// numbers, with a line for each point of the others. The axes must be such
/// that `checkPlot` has nothing against them. Errors: no row has the column.
Result<std::string> plotScript(const SweepReport &report, std::string_view key);

} // namespace autopar::sweep

#endif // AUTOPAR_SWEEP_SWEEP_H
