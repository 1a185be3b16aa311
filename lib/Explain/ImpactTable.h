//===- ImpactTable.h - Slopes by figure -------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_EXPLAIN_IMPACTTABLE_H
#define AUTOPAR_LIB_EXPLAIN_IMPACTTABLE_H

#include "autopar/Explain/Impacts.h"

#include "autopar/Cost/Sensitivity.h"

namespace autopar::explanation {

/// Collects slopes by the path of the figure. Several uses may share one
/// figure.
class ImpactTable {
public:
  /// All arguments must outlive the table.
  ImpactTable(const evaluation::PlanInputs &inputs,
              const cost::Strategy &strategy)
      : inputs(inputs), strategy(strategy),
        sensitivity(strategy, inputs.machine, inputs.runtime,
                    inputs.plan.memoryUtilization) {}

  /// Adds the slopes of a step's time for the layout and the point of
  /// `sensitivity`; each slope counts `times` times.
  void addTime(const std::vector<cost::Slope> &picoseconds, double times = 1);
  void addMemory();
  void addMemory(const std::vector<cost::Slope> &bytes);
  void addCapacity();
  /// Adds the slopes of a figure that the formulas do not contain.
  void addFigure(const hardware::Figure &figure, const cost::Slope &picoseconds,
                 const cost::Slope &bytes);
  /// Returns whether the figure with this index has slopes. The figures of the
  /// strategy come first, then those of links.
  bool has(size_t index) const { return nameOf(index).has_value(); }
  /// Returns the impacts in the order of their effect on the step, then of
  /// their effect on memory; the largest comes first.
  std::vector<report::Impact> take();

private:
  /// A figure under the name that users know.
  struct Named {
    std::string path;
    double value;
    hardware::Source source;
  };
  std::optional<Named> nameOf(size_t index) const;
  report::Impact &find(const Named &figure);
  static void addTo(report::Impact &impact, const cost::Slope &slope,
                    double unit, double report::Impact::Change::*change);
  void add(const std::vector<cost::Slope> &slopes, double unit,
           double report::Impact::Change::*change);

  const evaluation::PlanInputs &inputs;
  const cost::Strategy &strategy;
  std::vector<report::Impact> all;

public:
  cost::Sensitivity sensitivity;
};

/// Returns the impacts of figures on an iteration and on the memory of its
/// fullest device.
std::vector<report::Impact>
impactsOf(const evaluation::EvaluatedIteration &iteration,
          const report::Report::DeviceMemory &fullest);

} // namespace autopar::explanation

#endif // AUTOPAR_LIB_EXPLAIN_IMPACTTABLE_H
