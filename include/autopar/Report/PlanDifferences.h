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

/// The outcome of a plan for a model: facts of its IR, and the report of its
/// estimate.
struct PlanOutcome {
  /// Equal collectives of a step in one kind of layer.
  struct Collective {
    /// `dims` names the dimensions that the collective changes, such as "dim
    /// 2"; it may be "".
    std::string layer, kind, dims;
    std::vector<std::string> axes;
    int64_t count = 0;
  };
  /// A weight, KV cache or state, with its layout as text: "[_ by tp, _]".
  struct Tensor {
    std::string layer, name, layout, format;
  };

  /// The name of the plan.
  std::string name;
  std::vector<Collective> collectives;
  std::vector<Tensor> tensors;
  Report report;
};

/// The differences between two outcomes. If only one of them has an item, the
/// item of the other is absent.
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
  /// The value of a row: none, a flag, a word, or a number.
  using Value =
      std::variant<std::monostate, bool, std::string, int64_t, double, Checked>;
  /// One number of the report that differs, with its path in the report.
  struct Row {
    std::string name, path;
    Unit unit = Unit::none;
    Value a, b;
    /// Returns b / a, if both are numbers and `a` is not 0.
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
  /// Warnings that only one of the two has; their numbers are ignored in the
  /// comparison.
  std::vector<std::string> warningsOfA, warningsOfB;
  /// How many items are equal in both outcomes, by kind of item.
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
