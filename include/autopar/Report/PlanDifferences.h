//===- PlanDifferences.h - Two plans of a model: autopar.diff/1 -*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_REPORT_PLANDIFFERENCES_H
#define AUTOPAR_REPORT_PLANDIFFERENCES_H

#include "autopar/Report/Report.h"

#include <variant>

namespace autopar::report {

/// The outcome of a plan for a model: facts of its IR, and the estimate.
struct PlanOutcome {
  /// Equal collectives of a step, in one kind of layer.
  struct Collective {
    /// `dims` describes the dimensions that change, such as "dim 2"; may be "".
    std::string layer, kind, dims;
    std::vector<std::string> axes;
    int64_t count = 0;
  };
  /// A weight, cache or state, with its layout in words: "[_ by tp, _]".
  struct Tensor {
    std::string layer, name, layout, format;
  };

  /// The plan's name.
  std::string name;
  std::vector<Collective> collectives;
  std::vector<Tensor> tensors;
  Report report;
};

/// The differences of two outcomes. If only one of them has an item, the other
/// side is absent.
struct PlanDifferences {
  enum class Unit {
    none,
    bytes,
    microseconds,
    count,
    flops,
    perSecond,
    dollars,
    joules
  };
  /// A value: none, a flag, a word, or a number.
  using Value =
      std::variant<std::monostate, bool, std::string, int64_t, double, Checked>;
  /// One number of the report, with its path there.
  struct Row {
    std::string name, path;
    Unit unit = Unit::none;
    Value a, b;
    /// b / a, if both are numbers and `a` is not 0.
    std::optional<double> ratio() const;
  };
  template <typename T>
  struct Pair {
    std::optional<T> a, b;
  };

  const PlanOutcome *a = nullptr, *b = nullptr;
  std::vector<Pair<PlanOutcome::Collective>> collectives;
  std::vector<Pair<PlanOutcome::Tensor>> tensors;
  std::vector<Row> rows;
  std::vector<Pair<Report::CollectiveRow>> times;
  /// Warnings that the other side does not have, whatever their numbers.
  std::vector<std::string> warningsOfA, warningsOfB;
  /// Number of equal items; for warnings, of those on both sides.
  struct {
    size_t collectives = 0, tensors = 0, rows = 0, times = 0, warnings = 0;
  } equal;

  bool empty() const {
    return collectives.empty() && tensors.empty() && rows.empty() &&
           times.empty() && warningsOfA.empty() && warningsOfB.empty();
  }
};

} // namespace autopar::report

#endif // AUTOPAR_REPORT_PLANDIFFERENCES_H
