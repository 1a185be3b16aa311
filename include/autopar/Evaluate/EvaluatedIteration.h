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

/// An iteration of training on stages, of a program that has backwards.
struct EvaluatedIteration {
  const PipelineParts &parts;
  const cost::PipelineSteps &steps;
  const report::Report::Pipeline *pipeline;
  cost::IterationTimes times;
  /// Of each of `CostProgram::saved`.
  std::vector<int64_t> savedBytes;
  /// By section, of the whole model, with and without padded rows of experts.
  std::array<Checked, program::sectionCount> flops = {}, usefulFlops = {};
  /// What a rank routes in a microbatch, and what an expert takes of it.
  int64_t routedTokens = 0, expertCapacityTokens = 0;
  std::optional<report::TrainingReport::Copies> copies = std::nullopt;
  /// The device that holds most.
  int64_t fullest = 0;

  int64_t heaviest() const { return pipeline->partition.heaviest; }
  /// A time of one microbatch on a device, for all of them.
  double allPassesUs(schedule::Picoseconds time) const {
    return schedule::toMicroseconds(time * steps.shape.passes());
  }
  /// What `device` takes, and what of it is exposed.
  cost::TrainingTimes allOf(int64_t device) const {
    return deviceTimes(parts.pricer, steps, device);
  }
  cost::TrainingTimes exposedOf(int64_t device) const {
    return parts.pricer.exposed(allOf(device));
  }
  /// What the heaviest stage sends of one direction while it computes the
  /// other, where it has both (`ScheduleKind::dual_pipe`).
  double overlapUs() const;
  /// How many of value `saved` virtual stage `stage` has of one microbatch.
  int64_t savedOf(size_t stage, const program::Saved &saved) const;
  /// All that `kept` microbatches of each virtual stage have saved.
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
/// The peak that utilisation is stated of: that of 16 bits, as is the custom,
/// whatever is multiplied; null where the chip has none.
const hardware::Figure *peakOfTraining(const hardware::Chip &chip);

/// What of a section's time `purpose` takes.
schedule::Picoseconds timeOf(const cost::SectionTimes &section,
                             report::TrainingReport::Exposure::Purpose purpose);

/// Adds to `memory` of a device what it saves at the most, and what its
/// allocator loses.
void addSaved(const EvaluatedIteration &iteration, int64_t device,
              report::Report::DeviceMemory &memory);
/// Makes the times of `report`, which are those of the heaviest stage's whole
/// work, those of the iteration.
void takeIteration(const EvaluatedIteration &iteration, report::Report &report);
/// What `report`, which has all else of its step, says of the iteration.
report::TrainingReport trainingOf(const EvaluatedIteration &iteration,
                                  const report::Report &report);
/// What both ends of a pipeline sum of gradients; nothing where they have
/// copies of none.
Result<std::optional<report::TrainingReport::Copies>>
copiesOf(const PipelineParts &parts);
/// Adds that to what the heaviest stage sends, where it is one of the two.
void addCopiesRow(const EvaluatedIteration &iteration, report::Report &report);
/// Which share of what is routed to the experts of a layer they drop: of each
/// layer whose loads are known, else of all, whose loads are even.
std::vector<double> droppedShares(const EvaluatedIteration &iteration);
/// What experts take and drop, where they have a capacity.
std::optional<report::TrainingReport::Capacity>
expertCapacityOf(const EvaluatedIteration &iteration);

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_EVALUATEDITERATION_H
