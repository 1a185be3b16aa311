//===- Staging.h - Layers on pipeline stages --------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SCHEDULE_STAGING_H
#define AUTOPAR_SCHEDULE_STAGING_H

#include "autopar/Schedule/Time.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopar::schedule {

/// The load of one layer on its device.
struct LayerCost {
  Picoseconds timePs = 0;
  int64_t memoryBytes = 0;
  /// Bytes per microbatch in flight, in addition to `memoryBytes`: see
  /// `StagingProblem::inFlight`.
  int64_t savedBytes = 0;
};

/// Layers `begin` to `end - 1`; empty on a virtual stage with the embedding or
/// the head only.
struct LayerRange {
  int64_t begin = 0, end = 0;

  bool isEmpty() const { return end == begin; }
  bool operator==(const LayerRange &other) const {
    return begin == other.begin && end == other.end;
  }
};

/// Divides layers into stages in equal numbers; the first stages get one more
/// if that is uneven.
std::vector<LayerRange> equalRanges(int64_t layers, int64_t stages);
/// Parses "0-19,20-40": the first and the last layer of each range, in order
/// and without gaps, from 0. "embedding" stands for a first and "head" for a
/// last range without layers. `rangesText` writes the same form.
Result<std::vector<LayerRange>> parseRanges(std::string_view text);
std::string rangesText(const std::vector<LayerRange> &ranges);
/// Writes one range: "0-19", "4", "embedding", "head".
std::string rangeText(const LayerRange &range);

/// A stack of layers to be divided among `stages` devices. Device d has the
/// virtual stages d, d + stages, d + 2*stages, ... of stages*interleave
/// (arXiv:2104.04473, section 2.2). Each has a range of at least one layer,
/// except ends that may be alone.
struct StagingProblem {
  std::vector<LayerCost> layers;
  /// The load before the first layer, on the first virtual stage, and after the
  /// last layer, on the last one.
  LayerCost embedding, head;
  int64_t stages = 1, interleave = 1;
  /// Whether, if there are fewer layers than virtual stages, the first may have
  /// the embedding only, and the last the head only (Llama 3, arXiv:2407.21783,
  /// section 3.3.2; Megatron's --account-for-embedding-in-pipeline-split). Not
  /// with `folded`.
  bool endsMayBeAlone = false;
  /// Whether device d also has stage stages - 1 - d, each for half of the
  /// microbatches (`ScheduleKind::dual_pipe`); without interleaving.
  bool folded = false;
  /// Microbatches of 1F1B, of which device d keeps the values of `keptOn(d)`;
  /// 0: none. Without interleaving and not with `folded`.
  int64_t inFlight = 0;
  /// Limit per device; absent: none.
  std::optional<int64_t> memoryLimitBytes;

  int64_t keptOn(int64_t device) const {
    return std::min(stages - device, inFlight);
  }
};

struct StagePartition {
  int64_t stages = 1, interleave = 1;
  bool folded = false;
  /// By virtual stage.
  std::vector<LayerRange> ranges;
  /// By device: sums over its ranges, embedding and head; memory includes
  /// values of microbatches. With `folded`, half of the time.
  std::vector<LayerCost> devices;
  /// The device with the largest time; the first one wins a tie.
  int64_t heaviest = 0;
  /// Time of the heaviest device above the second (0 with one device), and
  /// above the mean of all.
  Picoseconds aboveSecondPs = 0;
  double aboveMeanPs = 0;
  /// Lower bound of the time of the heaviest device in any split.
  Picoseconds lowerBoundPs = 0;
  /// Choices that the search visited.
  int64_t searched = 0;

  Picoseconds heaviestPs() const { return devices[heaviest].timePs; }
  /// The virtual stages of a device, sorted.
  std::vector<int64_t> stagesOf(int64_t device) const;
  /// Whether it is proved that no split is better.
  bool optimal() const { return heaviestPs() == lowerBoundPs; }
  /// Time of the heaviest device above the lower bound, over that bound.
  double gap() const;
};

/// Finds the split whose heaviest device takes the least time, with no device
/// above the memory limit. Ties prefer a fullest device with less memory; then
/// layers move from longer to shorter devices, and between ranges of a device,
/// while that evens them out.
///
/// The least time is bisected, and a time limit is tried device by device.
/// Without interleaving each device takes all layers that fit, which is
/// optimal. With interleaving that holds, nearly, for the last range of a
/// device; the ends of the other ranges are found by branch and bound, in which
/// failed states (device, ends) are not tried again. If the search exceeds
/// `limits::maxStageSearch` choices, a gap remains. With `folded`, the split
/// without it is improved step by step, and the lower bound is the mean.
///
/// Fails if layers, and ends that may be alone, are fewer than virtual stages,
/// or if the memory limit cannot be met: the error names the excess and a
/// number of stages that would fit.
Result<StagePartition> partitionStages(const StagingProblem &problem);

/// Finds a split within the memory limit if possible, else without the limit.
Result<StagePartition> layOutStages(StagingProblem problem);

/// Returns an error if the fullest device exceeds the memory limit.
std::optional<Error> exceedsMemory(const StagingProblem &problem,
                                   const StagePartition &partition);

/// Sums the loads of `ranges`, one per virtual stage, in order and without
/// gaps, ignoring the memory limit and without a lower bound.
Result<StagePartition> describeStages(const StagingProblem &problem,
                                      std::vector<LayerRange> ranges);

/// The same, with the lower bound over all splits. Fails if a device is above
/// the memory limit.
Result<StagePartition> evaluateStages(const StagingProblem &problem,
                                      std::vector<LayerRange> ranges);

/// Time of the heaviest device if ranges have equal numbers of layers, or one
/// more: the best such split or, with interleaving or folded, the one whose
/// first ranges are the longer ones. For solved problems.
Picoseconds equalCountsTime(const StagingProblem &problem);

/// Draws a split in lines of at most 80 columns: per device its layers, time,
/// memory, and a bar for its time; then the heaviest device and the proof.
std::string drawStages(const StagePartition &partition);

} // namespace autopar::schedule

#endif // AUTOPAR_SCHEDULE_STAGING_H
