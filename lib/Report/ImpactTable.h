//===- ImpactTable.h - Slopes by figure -------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_REPORT_IMPACTTABLE_H
#define AUTOPAR_LIB_REPORT_IMPACTTABLE_H

#include "Reading.h"

#include "autopar/Cost/Sensitivity.h"

namespace autopar {

/// Gathers slopes by path of the figure: several uses may be of one.
class ImpactTable {
public:
  /// All arguments outlive it.
  ImpactTable(const PlanInputs &inputs, const Strategy &strategy)
      : inputs(inputs), strategy(strategy),
        sensitivity(strategy, inputs.machine, inputs.runtime,
                    inputs.plan.memoryUtilization) {}

  /// Of a step's time; of what `sensitivity` was laid for.
  void addTime(const std::vector<Slope> &picoseconds, double times = 1);
  void addMemory();
  void addCapacity();
  /// By falling impact on the step, then on memory.
  std::vector<Impact> take();

private:
  Impact &find(const std::string &path, double value, const Source &source);
  Impact *impactOf(size_t index);
  void add(const std::vector<Slope> &slopes, double unit,
           double Impact::Change::*change);

  const PlanInputs &inputs;
  const Strategy &strategy;
  std::vector<Impact> all;

public:
  Sensitivity sensitivity;
};

} // namespace autopar

#endif // AUTOPAR_LIB_REPORT_IMPACTTABLE_H
