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

/// An iteration of training on stages, for a program with backwards.
struct EvaluatedIteration {
  const PipelineParts &parts;
  const cost::PipelineSteps &steps;
  const report::Report::Pipeline *pipeline;
  cost::IterationTimes times;
  /// Bytes by index into `CostProgram::saved`.
  std::vector<int64_t> savedBytes;
  /// FLOPs of the whole model by section, with and without rows that pad
  /// experts.
  std::array<Checked, program::sectionCount> flops = {}, usefulFlops = {};
  /// Tokens that a rank routes per microbatch, and the capacity of an expert.
  int64_t routedTokens = 0, expertCapacityTokens = 0;
  std::optional<report::TrainingReport::Copies> copies = std::nullopt;
  /// The device that holds most.
  int64_t fullest = 0;

  int64_t heaviest() const { return pipeline->partition.heaviest; }
  /// Time of one microbatch on a device, times its number of microbatches.
  double allPassesUs(schedule::Picoseconds time) const {
    return schedule::toMicroseconds(time * steps.shape.passes());
  }
  /// Times of `device`, and their exposed part.
  cost::TrainingTimes allOf(int64_t device) const {
    return deviceTimes(parts.pricer, steps, device);
  }
  cost::TrainingTimes exposedOf(int64_t device) const {
    return parts.pricer.exposed(allOf(device));
  }
  /// Time that the heaviest stage communicates in one direction while it
  /// computes the other, if the schedule has both (`ScheduleKind::dual_pipe`).
  double overlapUs() const;
  /// Number of values `saved` that virtual stage `stage` keeps per microbatch.
  int64_t savedOf(size_t stage, const program::Saved &saved) const;
  /// The values saved by `kept` microbatches of each virtual stage.
  std::vector<report::TrainingReport::SavedValue>
  savedBy(const std::vector<int64_t> &kept) const;
};

/// Whether `call` is between stages.
inline bool isTransfer(const report::Report::CollectiveRow &call) {
  return call.kind == "transfer";
}
/// Whether `row` has the time of `call`.
inline bool isPartOf(const report::Report::CollectiveRow &call,
                     const report::TrainingReport::Exposure &row) {
  return !isTransfer(call) && row.section == call.section &&
         row.purpose == call.purpose && row.axes == call.axes;
}
/// The peak that utilisation refers to: by custom that of 16-bit formats,
/// whatever the format of matmuls; null if the chip has none.
const hardware::Figure *peakOfTraining(const hardware::Chip &chip);

/// Time of collectives with `purpose` in a section.
schedule::Picoseconds timeOf(const cost::SectionTimes &section,
                             report::TrainingReport::Exposure::Purpose purpose);

/// Adds the most that a device saves, and its allocator's losses, to `memory`.
void addSaved(const EvaluatedIteration &iteration, int64_t device,
              report::Report::DeviceMemory &memory);
/// Replaces the times of `report`, which are those of all work of the heaviest
/// stage, by those of the iteration.
void takeIteration(const EvaluatedIteration &iteration, report::Report &report);
/// Makes the part of the report about training; `report` is complete otherwise.
report::TrainingReport trainingOf(const EvaluatedIteration &iteration,
                                  const report::Report &report);
/// The sum of gradients over both ends of a pipeline; nothing if no gradient
/// has two copies.
Result<std::optional<report::TrainingReport::Copies>>
copiesOf(const PipelineParts &parts);
/// Adds that sum to the collectives of the heaviest stage, if it is one of the
/// two ends.
void addCopiesRow(const EvaluatedIteration &iteration, report::Report &report);
/// Share of the routed tokens that experts drop: one per layer with known
/// loads, else one for all layers, whose loads are even.
std::vector<double> droppedShares(const EvaluatedIteration &iteration);
/// The tokens that experts accept and drop; nothing if they have no capacity.
std::optional<report::TrainingReport::Capacity>
expertCapacityOf(const EvaluatedIteration &iteration);

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_EVALUATEDITERATION_H
