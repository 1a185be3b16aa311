//===- Reading.h - Prices as reports have them ------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_REPORT_READING_H
#define AUTOPAR_LIB_REPORT_READING_H

#include "autopar/Cost/Exact.h"
#include "autopar/Report/Evaluate.h"

#include <memory>

namespace autopar::report {

/// What a plan is priced with.
struct PlanInputs {
  const program::CostProgram &program;
  const plan::Plan &plan;
  const hardware::Machine &machine;
  const runtime::Runtime &runtime;
  const program::Workload &workload;

  const hardware::Pool &pool() const { return machine.pools.front(); }
};

/// Tokens of the throughput: of the output in decode, else all.
Checked tokensOf(const program::Workload &workload);
/// Groups of devices that have sequences of their own.
int64_t replicasOf(const plan::Plan &plan);
/// `runtime` with the chunks of prompts that the plan asks for.
runtime::Runtime runtimeOf(const plan::Plan &plan,
                           const runtime::Runtime &runtime,
                           const program::Workload &workload);
/// The steps that `inputs.workload` takes where it takes several; else none.
/// Errors: too many of them.
Result<std::vector<program::PrefillChunk>> chunksOf(const PlanInputs &inputs,
                                                    int64_t replicas);
/// Where the devices of the plan lie. Stages and parts are those of the whole.
cost::Layout layoutOf(const PlanInputs &inputs);
/// The error of the first thing that keeps the inputs from being priced.
std::optional<Error> checkInputs(const PlanInputs &inputs);
/// Says why a plan was refused.
Error explainRefusal(const PlanInputs &inputs, const cost::Strategy &strategy,
                     const cost::ExactValues &values, cost::Refusal refusal);

/// A collective that spans devices and moves something.
struct CollectiveReading {
  const program::Collective *record = nullptr;
  const cost::CollectiveNodes *nodes = nullptr;
  const cost::Route *route = nullptr;
  cost::GroupLayout layout;
  int64_t groupSize = 1;
  /// In a step.
  int64_t count = 0;
  Checked bytes;
  double timeUs = 0;

  /// The measured curve nearest to the group's size; null where none served.
  const hardware::CollectiveCurve *curve() const;
};

/// A step on the devices of one stage, priced, and what is read off it.
struct Reading : PlanInputs {
  /// All arguments outlive it.
  Reading(const PlanInputs &inputs, const cost::Strategy &strategy);

  /// Prices `layout` and fills the report; nothing but the error where it is
  /// refused. A prefill of more tokens than the runtime computes at once is the
  /// sum of its steps.
  std::optional<Error> read(const cost::Layout &layout, ReportDetail detail);

  /// Prices one step, and fills what the report says of its work.
  std::optional<Error> readStep(const cost::Layout &layout);

  Checked whole(cost::NodeId node) const { return values.whole(node); }
  double real(cost::NodeId node) const { return values.real(node); }
  double microseconds(cost::NodeId ps) const;
  /// An integer of the report; an error where it does not fit in 63 bits.
  int64_t narrow(Checked value, const char *what);
  int64_t narrow(cost::NodeId node, const char *what) {
    return narrow(whole(node), what);
  }
  int64_t count(cost::NodeId node) const {
    return whole(node).int64().value_or(0);
  }
  void fail(std::string message, std::string note = "");

  /// What the FLOPs of a launch, and the bytes that it moves, take at peak.
  struct LaunchPeak {
    double computeUs = 0, memoryUs = 0, movedBytes = 0;
  };
  LaunchPeak peakOf(const cost::LaunchNodes &launch) const;

  /// What a launch that begins with `kernel` runs on; null where the chip has
  /// no such curve.
  program::KernelKind curveKindOf(const program::Kernel &kernel) const {
    return strategy.launching.curveKindOf(kernel);
  }
  const hardware::KernelCurve *curveOf(const program::Kernel &kernel) const {
    return pool().chip.curve(curveKindOf(kernel), kernel.compute,
                             kernel.storage);
  }

  /// How often a step passes through layer kind `layer`.
  int64_t passesOf(uint32_t layer) const;
  /// How often a step runs kernel `kernel`, and `launch`.
  Checked countOf(uint32_t kernel) const;
  Checked countOf(const cost::LaunchNodes &launch) const;

  int64_t axisSize(program::AxisId axis) const {
    return layout.axes[axis].size;
  }
  Checked groupSize(const std::vector<program::AxisId> &axes) const;
  cost::GroupLayout groupOf(const std::vector<program::AxisId> &axes) const;
  /// Of the whole model.
  Checked logical(const program::Extent &extent) const;
  Checked logicalOf(const program::Dims &dims) const {
    Checked product = 1;
    for (const program::Dim &dim : dims)
      product *= logical(dim.extent);
    return product;
  }
  /// Whether any collective of the program, or a pipeline, spans devices.
  bool communicates() const;
  /// The step that takes longest: this one, or of a prefill one of its steps.
  const Reading &longestStep() const;

  const cost::Strategy &strategy;
  cost::ExactValues values;
  cost::Layout layout;
  Report report;
  std::optional<Error> error;

  std::vector<CollectiveReading> collectives;
  /// For each row of the report, which of `collectives` are in it.
  std::vector<std::vector<size_t>> rowMembers;
  /// Of one launch of each kernel, with its share of the floor.
  std::vector<double> kernelTimeUs;

  /// Of a prefill that takes several steps, each kind of them.
  std::vector<program::PrefillChunk> chunks;
  std::vector<std::unique_ptr<Reading>> steps;

  /// Figures and curves that a number of the report rests on.
  std::vector<const hardware::Figure *> figures;
  std::vector<std::pair<program::KernelKind, const hardware::KernelCurve *>>
      curves;
  std::vector<program::KernelKind> kindsWithoutCurve;
  /// Launches larger than any that their curve was fitted to.
  std::vector<std::string> beyondFit;
};

/// What of a launch is one of its kernels': of all `count` of them its FLOPs
/// and bytes; of one, the roofline's time as each would take alone, and an even
/// part of the floor.
struct LaunchShare {
  uint32_t kernel = 0;
  Checked count, flops, bytes;
  double roofUs = 0, floorUs = 0;
};
/// Of the kernels that have work.
std::vector<LaunchShare> sharesOf(const Reading &reading,
                                  const cost::LaunchNodes &launch);

/// Whether both are the same calls, however often they come.
bool areSameCalls(const Report::CollectiveRow &a,
                  const Report::CollectiveRow &b);

/// `evaluate` where `inputs.plan` has stages.
Result<Report> evaluatePipeline(const PlanInputs &inputs, ReportDetail detail);

// Each fills its part of the report, in this order.
void readInputs(Reading &reading);
void readExpertLoads(Reading &reading);
void readModel(Reading &reading);
void readMemory(Reading &reading);
void readFlops(Reading &reading);
void readCollectives(Reading &reading);
void readLatency(Reading &reading);
void readBreakdown(Reading &reading);
/// Which part of the step's work is the largest: "compute".
const char *largestPart(const Report &report);
/// What follows from the times of a step: its bound, and tokens per second.
void finishLatency(Reading &reading);
/// The four before that, of a step or as the sum of the steps of a prefill.
void readSteps(Reading &reading);
void readSources(Reading &reading);
void readAssumptions(Reading &reading);
void readWarnings(Reading &reading);
/// The kernels of a step, one by one.
std::vector<KernelRow> readKernels(const Reading &step);
void readDerivations(Reading &reading);
/// Of what is summed over the steps of a prefill.
void explainSteps(Reading &reading);
void readImpacts(Reading &reading);
/// What its tokens cost and draw on `machine`, and, where asked for, why.
void addCost(Report &report, const hardware::Machine &machine, bool explain);
/// The time of the report's step as a sum, which has no backwards.
void addWaterfall(Report &report);

/// What is taken for granted of the loads of placed experts.
void addLoadAssumptions(const Reading &reading,
                        std::vector<Assumption> &assumptions);

} // namespace autopar::report

#endif // AUTOPAR_LIB_REPORT_READING_H
