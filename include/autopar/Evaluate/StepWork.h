//===- StepWork.h - Computation and communication of a step -----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_EVALUATE_STEPWORK_H
#define AUTOPAR_EVALUATE_STEPWORK_H

#include "autopar/Evaluate/PricedStep.h"
#include "autopar/Report/Report.h"

namespace autopar::evaluation {

/// A collective that spans several devices and moves bytes.
struct CollectiveCall {
  const program::Collective *record = nullptr;
  const cost::CollectiveNodes *nodes = nullptr;
  const cost::Route *route = nullptr;
  cost::GroupLayout layout;
  int64_t groupSize = 1;
  /// How often the collective is called in a step.
  int64_t count = 0;
  Checked bytes;
  double timeUs = 0;

  /// Returns the measured curve with the group size nearest to the call's; null
  /// if no curve was used.
  const hardware::CollectiveCurve *curve() const;
};

/// All collectives of a step, and their rows in the report.
struct CollectiveCalls {
  std::vector<CollectiveCall> all;
  report::Report::Communication communication;
  /// For each row of `communication`, the indices of its calls in `all`.
  std::vector<std::vector<size_t>> membersOfRow;
};

/// The step's time and work, divided by op and by layer kind.
struct StepBreakdown {
  std::vector<report::BreakdownRow> byOp, byLayer;
  /// Time in us of one launch of each kernel, with the kernel's share of the
  /// launch floor.
  std::vector<double> kernelTimeUs;
};

/// The work of one step, or the sum over the steps of a prefill.
struct StepWork {
  report::Report::Flops flops;
  CollectiveCalls calls;
  report::Report::Latency latency;
  StepBreakdown breakdown;
};

// These functions return the four parts of a step's work, computed from the
// values of its formulas. Error: a number does not fit in the integers of a
// report.
Result<report::Report::Flops> flopsOf(const PricedStep &step);
Result<CollectiveCalls> callsOf(const PricedStep &step);
Result<report::Report::Latency>
latencyOf(const PricedStep &step, const std::vector<CollectiveCall> &calls);
Result<StepBreakdown> breakdownOf(const PricedStep &step,
                                  const std::vector<CollectiveCall> &calls);
/// Returns all four parts of a step's work.
Result<StepWork> workOf(const PricedStep &step);

/// Returns the name of the largest part of the step's time, such as "compute".
const char *largestPart(const report::Report::Latency &latency);

/// The share of one kernel in a launch: the FLOPs and bytes of all `count`
/// launches, the kernel's roofline time in one launch, and its part of the
/// launch floor, which all kernels share equally.
struct LaunchShare {
  uint32_t kernel = 0;
  Checked count, flops, bytes;
  double roofUs = 0, floorUs = 0;
};
/// Returns the shares of the kernels in `launch` that have work.
std::vector<LaunchShare> sharesOf(const PricedStep &step,
                                  const cost::LaunchNodes &launch);

/// Whether two rows describe the same kind of call; their numbers of calls may
/// differ.
bool areSameCalls(const report::Report::CollectiveRow &a,
                  const report::Report::CollectiveRow &b);

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_STEPWORK_H
