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

/// A collective that spans devices and moves bytes.
struct CollectiveCall {
  const program::Collective *record = nullptr;
  const cost::CollectiveNodes *nodes = nullptr;
  const cost::Route *route = nullptr;
  cost::GroupLayout layout;
  int64_t groupSize = 1;
  /// Calls per step.
  int64_t count = 0;
  Checked bytes;
  double timeUs = 0;

  /// The measured curve nearest to the group's size; null if none was used.
  const hardware::CollectiveCurve *curve() const;
};

/// All collectives of a step.
struct CollectiveCalls {
  std::vector<CollectiveCall> all;
  report::Report::Communication communication;
  /// For each row of `communication`, indices into `all`.
  std::vector<std::vector<size_t>> membersOfRow;
};

/// The time of a step, and its work in tables.
struct StepBreakdown {
  std::vector<report::BreakdownRow> byOp, byLayer;
  /// Time of one launch of each kernel, with its share of the floor, in us.
  std::vector<double> kernelTimeUs;
};

/// The work of a step, or the sum over the steps of a prefill.
struct StepWork {
  report::Report::Flops flops;
  CollectiveCalls calls;
  report::Report::Latency latency;
  StepBreakdown breakdown;
};

// Parts of the work, as functions of the values of a step. Errors: numbers that
// do not fit in the integers of a report.
Result<report::Report::Flops> flopsOf(const PricedStep &step);
Result<CollectiveCalls> callsOf(const PricedStep &step);
Result<report::Report::Latency>
latencyOf(const PricedStep &step, const std::vector<CollectiveCall> &calls);
Result<StepBreakdown> breakdownOf(const PricedStep &step,
                                  const std::vector<CollectiveCall> &calls);
/// Returns all four parts.
Result<StepWork> workOf(const PricedStep &step);

/// The name of the largest part of the step's work, such as "compute".
const char *largestPart(const report::Report::Latency &latency);

/// The share of one kernel in a launch: the FLOPs and bytes of all `count`
/// launches; the kernel's roofline time in one launch, and an equal share of
/// the floor.
struct LaunchShare {
  uint32_t kernel = 0;
  Checked count, flops, bytes;
  double roofUs = 0, floorUs = 0;
};
/// The shares of all kernels that have work.
std::vector<LaunchShare> sharesOf(const PricedStep &step,
                                  const cost::LaunchNodes &launch);

/// Whether both are the same calls, however often they come.
bool areSameCalls(const report::Report::CollectiveRow &a,
                  const report::Report::CollectiveRow &b);

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_STEPWORK_H
