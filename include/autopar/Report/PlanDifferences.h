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

/// What a plan made of a model: what its IR says, and what that costs.
struct PlanOutcome {
  /// Collectives of a step that are alike, in one kind of layer.
  struct Collective {
    /// `dims`: what happens to the dimensions, "dim 2"; "" where nothing does.
    std::string layer, kind, dims;
    std::vector<std::string> axes;
    int64_t count = 0;
  };
  /// A weight, cache or state, as `layout` has it: "[_ by tp, _]".
  struct Tensor {
    std::string layer, name, layout, format;
  };

  /// What the plan is called.
  std::string name;
  std::vector<Collective> collectives;
  std::vector<Tensor> tensors;
  Report report;
};

/// In what two outcomes differ. Where only one of them has something, the other
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
  /// Nothing, yes or no, a word, or a number.
  using Value =
      std::variant<std::monostate, bool, std::string, int64_t, double, Checked>;
  /// One number of the report, by its path there.
  struct Row {
    std::string name, path;
    Unit unit = Unit::none;
    Value a, b;
    /// b / a, where both are numbers and `a` is not 0.
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
  /// Warnings of which the other side has none, whatever their numbers.
  std::vector<std::string> warningsOfA, warningsOfB;
  /// How many of each are equal; of warnings: are of both sides.
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
