//===- Estimate.h - Reports of a cost program on a machine ------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_ESTIMATE_ESTIMATE_H
#define AUTOPAR_ESTIMATE_ESTIMATE_H

#include "autopar/Hardware/Hardware.h"
#include "autopar/Plan/Plan.h"
#include "autopar/Program/CostProgram.h"
#include "autopar/Program/Question.h"
#include "autopar/Report/Report.h"
#include "autopar/Runtime/Runtime.h"

namespace autopar::estimation {

/// Which optional parts a report gets: `Report::derivations` and
/// `Report::impacts`.
struct ReportDetail {
  bool explain = false, impact = false;
  /// The requests to simulate, for a service; null for no simulation.
  const report::SimulationChoice *simulation = nullptr;
  /// Whether to compute a bound of how much better other splits of layers over
  /// stages could be, which takes longer than the rest of an estimate.
  bool boundsStages = true;
};

struct Estimate {
  report::Report report;
  /// The step or iteration that the report describes.
  program::Workload step;
};

/// Estimates `program` under `plan`: memory, FLOPs, communication, latency, and
/// for a service its steady state. Pure and re-entrant; never prints. Errors:
/// an axis without a size, more devices than the machine has, a split that its
/// rule forbids, bytes above 63 bits or FLOPs above 127. Further errors of a
/// service: those of a step with one request per replica, stages, and a
/// simulated request that no KV cache holds. A mean request that no KV cache
/// holds is not an error.
Result<Estimate>
estimate(const program::CostProgram &program, const plan::Plan &plan,
         const hardware::Machine &machine, const runtime::Runtime &runtime,
         const program::Question &question, ReportDetail detail = {});

/// Estimates one step or iteration of `workload`, without a service around it.
Result<report::Report>
estimate(const program::CostProgram &program, const plan::Plan &plan,
         const hardware::Machine &machine, const runtime::Runtime &runtime,
         const program::Workload &workload, ReportDetail detail = {});

} // namespace autopar::estimation

#endif // AUTOPAR_ESTIMATE_ESTIMATE_H
