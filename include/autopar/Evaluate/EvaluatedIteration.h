//===- EvaluatedIteration.h - An iteration of training ----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_EVALUATE_EVALUATEDITERATION_H
#define AUTOPAR_EVALUATE_EVALUATEDITERATION_H

#include "autopar/Evaluate/PipelineParts.h"

#include <array>

namespace autopar::evaluation {

/// An evaluated training iteration of a pipeline, for a program with backwards.
struct EvaluatedIteration {
  const PipelineParts &parts;
  const cost::PipelineSteps &steps;
  const report::Report::Pipeline *pipeline;
  cost::IterationTimes times;
  /// Bytes of each saved value on a device, by index into `CostProgram::saved`.
  std::vector<int64_t> savedBytes;
  /// FLOPs of the whole model by section (forward, backward, optimizer):
  /// `flops` with the rows that pad experts, `usefulFlops` without them.
  std::array<Checked, program::sectionCount> flops = {}, usefulFlops = {};
  /// Number of tokens that a rank routes per microbatch, and the most tokens
  /// that an expert takes.
  int64_t routedTokens = 0, expertCapacityTokens = 0;
  std::optional<report::TrainingReport::Copies> copies = std::nullopt;
  /// Index of the device that needs the most memory.
  int64_t fullest = 0;

  int64_t heaviest() const { return pipeline->partition.heaviest; }
  /// Converts the time of one microbatch on a device to the time of all its
  /// microbatches, in us.
  double allPassesUs(schedule::Picoseconds time) const {
    return schedule::toMicroseconds(time * steps.shape.passes());
  }
  /// `allOf` returns all times of `device`; `exposedOf` returns those without
  /// the communication that is hidden behind computation.
  cost::TrainingTimes allOf(int64_t device) const {
    return deviceTimes(parts.pricer, steps, device);
  }
  cost::TrainingTimes exposedOf(int64_t device) const {
    return parts.pricer.exposed(allOf(device));
  }
  /// Returns the time, in us, that the slowest stage communicates in one
  /// direction (forward or backward) while it computes in the other, if the
  /// schedule has both (`ScheduleKind::dual_pipe`).
  double overlapUs() const;
  /// Returns how many copies of the value `saved` virtual stage `stage` keeps
  /// per microbatch.
  int64_t savedOf(size_t stage, const program::Saved &saved) const;
  /// Returns the saved values on a device, if each of its virtual stages keeps
  /// those of `kept[i]` microbatches.
  std::vector<report::TrainingReport::SavedValue>
  savedBy(const std::vector<int64_t> &kept) const;
};

/// Whether `call` is a message between pipeline stages.
inline bool isTransfer(const report::Report::CollectiveRow &call) {
  return call.kind == "transfer";
}
/// Whether the time of `call` is included in the exposure row `row`.
inline bool isPartOf(const report::Report::CollectiveRow &call,
                     const report::TrainingReport::Exposure &row) {
  return !isTransfer(call) && row.section == call.section &&
         row.purpose == call.purpose && row.axes == call.axes;
}
/// Returns the peak rate to which utilisation (MFU, HFU) refers: by custom that
/// of 16-bit formats, whatever the format of the matmuls. Null if the chip has
/// none.
const hardware::Figure *peakOfTraining(const hardware::Chip &chip);

/// Returns the time of the section's collectives that have `purpose`.
schedule::Picoseconds timeOf(const cost::SectionTimes &section,
                             report::TrainingReport::Exposure::Purpose purpose);

/// Adds to `memory` the bytes that `device` saves for backwards at their peak,
/// and the bytes that its allocator wastes.
void addSaved(const EvaluatedIteration &iteration, int64_t device,
              report::Report::DeviceMemory &memory);
/// Replaces the times of `report`, which sum all work of the slowest stage, by
/// those of the iteration.
void takeIteration(const EvaluatedIteration &iteration, report::Report &report);
/// Returns the training part of the report; `report` must be complete
/// otherwise.
report::TrainingReport trainingOf(const EvaluatedIteration &iteration,
                                  const report::Report &report);
/// Evaluates the collective that sums the gradients of tied weights over both
/// ends of a pipeline; nothing if no gradient has two copies.
Result<std::optional<report::TrainingReport::Copies>>
copiesOf(const PipelineParts &parts);
/// Adds the collective of `copiesOf` to the report's table of collectives, if
/// the slowest stage is one of the two ends.
void addCopiesRow(const EvaluatedIteration &iteration, report::Report &report);
/// Returns the shares of routed tokens that experts drop: one share per layer
/// if loads are known, else one share for all layers, whose loads are even.
std::vector<double> droppedShares(const EvaluatedIteration &iteration);
/// Returns how many tokens experts accept and drop; nothing if experts have no
/// capacity limit.
std::optional<report::TrainingReport::Capacity>
expertCapacityOf(const EvaluatedIteration &iteration);

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_EVALUATEDITERATION_H
