//===- Training.h - What a report says of an iteration ----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_REPORT_TRAINING_H
#define AUTOPAR_LIB_REPORT_TRAINING_H

#include "PipelineParts.h"

namespace autopar::report {

/// An iteration of training on stages, of a program that has backwards.
struct Iteration {
  const PipelineParts &parts;
  const cost::PipelineSteps &steps;
  const Report::Pipeline *pipeline;
  cost::IterationTimes times;
  /// Of each of `CostProgram::saved`.
  std::vector<int64_t> savedBytes;
  /// By section, of the whole model, with and without padded rows of experts.
  std::array<Checked, program::sectionCount> flops, usefulFlops;
  /// What a rank routes in a microbatch, and what an expert takes of it.
  int64_t routedTokens = 0, expertCapacityTokens = 0;
  std::optional<TrainingReport::Copies> copies = std::nullopt;
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
  std::vector<TrainingReport::SavedValue>
  savedBy(const std::vector<int64_t> &kept) const;
};

/// Whether `call` is between stages.
inline bool isTransfer(const Report::CollectiveRow &call) {
  return call.kind == "transfer";
}
/// Whether `row` has the time of `call`.
inline bool isPartOf(const Report::CollectiveRow &call,
                     const TrainingReport::Exposure &row) {
  return !isTransfer(call) && row.section == call.section &&
         row.purpose == call.purpose && row.axes == call.axes;
}
/// The peak that utilisation is stated of: that of 16 bits, as is the custom,
/// whatever is multiplied; null where the chip has none.
const hardware::Figure *peakOfTraining(const hardware::Chip &chip);

/// What of a section's time `purpose` takes.
schedule::Picoseconds timeOf(const cost::SectionTimes &section,
                             TrainingReport::Exposure::Purpose purpose);

/// Adds to `memory` of a device what it saves at the most, and what its
/// allocator loses.
void addSaved(const Iteration &iteration, int64_t device,
              Report::DeviceMemory &memory);
/// Makes the times of `report`, which are those of the heaviest stage's whole
/// work, those of the iteration.
void takeIteration(const Iteration &iteration, Report &report);
/// Fills `Report::training` of a report that has all else of its step.
void readTraining(const Iteration &iteration, Report &report);
/// The impacts of figures on the iteration, and on the memory of its fullest
/// device.
std::vector<Impact> impactsOf(const Iteration &iteration,
                              const Report::DeviceMemory &fullest);
/// What both ends of a pipeline sum of gradients; nothing where they have
/// copies of none.
Result<std::optional<TrainingReport::Copies>>
copiesOf(const PipelineParts &parts);
/// Adds that to what the heaviest stage sends, where it is one of the two.
void addCopiesRow(const Iteration &iteration, Report &report);
void explainCopies(const Iteration &iteration, Report &report);
/// What experts take and drop, where they have a capacity.
void readCapacity(const Iteration &iteration, TrainingReport &training);
void explainCapacity(const Iteration &iteration, Report &report);
/// FLOPs of the sections of a reading of the whole model.
void explainTrainingFlops(const Reading &whole, Report &report);
void explainTraining(const Iteration &iteration, Report &report);

} // namespace autopar::report

#endif // AUTOPAR_LIB_REPORT_TRAINING_H
