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

/// What one layer asks of the device that has it.
struct LayerCost {
  Picoseconds timePs = 0;
  int64_t memoryBytes = 0;
  /// Of each microbatch in flight, beside those: `StagingProblem::inFlight`.
  int64_t savedBytes = 0;
};

/// Layers `begin` to `end - 1`; none on a virtual stage that has the embedding
/// alone, or the head.
struct LayerRange {
  int64_t begin = 0, end = 0;

  bool isEmpty() const { return end == begin; }
  bool operator==(const LayerRange &other) const {
    return begin == other.begin && end == other.end;
  }
};

/// So many layers on so many stages in equal numbers; the first ones have one
/// more where that is not even.
std::vector<LayerRange> equalRanges(int64_t layers, int64_t stages);
/// "0-19,20-40": the first and the last layer of each, in order and without
/// gaps, from 0; "embedding" of a first and "head" of a last one without
/// layers. Writes what it reads.
Result<std::vector<LayerRange>> parseRanges(std::string_view text);
std::string rangesText(const std::vector<LayerRange> &ranges);
/// That of one: "0-19", "4", "embedding", "head".
std::string rangeText(const LayerRange &range);

/// A stack of layers to be laid over `stages` devices. Device d has the
/// virtual stages d, d + stages, d + 2*stages, ... of stages*interleave
/// (arXiv:2104.04473, section 2.2); each is a range of one layer at least, but
/// for ends that may be alone.
struct StagingProblem {
  std::vector<LayerCost> layers;
  /// What lies before the first layer, on the first virtual stage, and after
  /// the last layer, on the last.
  LayerCost embedding, head;
  int64_t stages = 1, interleave = 1;
  /// Where there are fewer layers than virtual stages, the first may have the
  /// embedding alone, and the last one the head (Llama 3, arXiv:2407.21783,
  /// section 3.3.2; Megatron's --account-for-embedding-in-pipeline-split).
  /// Not folded.
  bool endsMayBeAlone = false;
  /// Device d has stage stages - 1 - d, too, and each for half of the
  /// microbatches (`ScheduleKind::dual_pipe`); without interleaving.
  bool folded = false;
  /// Microbatches of 1F1B, of which device d keeps the values of `keptOn(d)`;
  /// 0: none. Without interleaving, and not folded.
  int64_t inFlight = 0;
  /// Of each device; no limit where absent.
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
  /// By device: the sums over its ranges, embedding and head, values of
  /// microbatches in its memory; folded, half of the time.
  std::vector<LayerCost> devices;
  /// The device whose time is the largest, the first of equals.
  int64_t heaviest = 0;
  /// How far the heaviest device lies above the next one (0 where there is
  /// one device), and above the mean of all.
  Picoseconds aboveSecondPs = 0;
  double aboveMeanPs = 0;
  /// No split has a heaviest device below this.
  Picoseconds lowerBoundPs = 0;
  /// Choices that the search looked at.
  int64_t searched = 0;

  Picoseconds heaviestPs() const { return devices[heaviest].timePs; }
  /// The virtual stages of a device, rising.
  std::vector<int64_t> stagesOf(int64_t device) const;
  /// Whether it is proved that no split is better.
  bool optimal() const { return heaviestPs() == lowerBoundPs; }
  /// What the heaviest device takes above the lower bound, in parts of it.
  double gap() const;
};

/// The split whose heaviest device takes the least time, no device above the
/// memory limit. Of equals it prefers one whose fullest device holds less, and
/// then moves layers from longer to shorter devices, and ranges of a device,
/// while that evens them out.
///
/// The least time is bisected. A time limit is tried device by device. Without
/// interleaving each takes all layers that fit, and the result is optimal. With
/// interleaving that holds, nearly, for the last range of a device; the ends of
/// the others are a branch and bound, where a state (device, ends) that failed
/// is not tried again. What is not decided in `limits::maxStageSearch` choices
/// is left as a gap. Folded, the split without is improved step by step, and
/// the lower bound is the mean.
///
/// Fails where layers, and ends that may be alone, are fewer than virtual
/// stages, and where the memory limit cannot be met: the error says by how much
/// and how many stages would do.
Result<StagePartition> partitionStages(const StagingProblem &problem);

/// Within the memory limit where that can be met, else without it.
Result<StagePartition> layOutStages(StagingProblem problem);

/// By how much the fullest device is above the memory limit, if it is.
std::optional<Error> exceedsMemory(const StagingProblem &problem,
                                   const StagePartition &partition);

/// Sums over `ranges`, one per virtual stage, in order, without gaps; whatever
/// the memory limit. No lower bound is looked for.
Result<StagePartition> describeStages(const StagingProblem &problem,
                                      std::vector<LayerRange> ranges);

/// The same, with the lower bound of all splits. Fails where a device is above
/// the memory limit.
Result<StagePartition> evaluateStages(const StagingProblem &problem,
                                      std::vector<LayerRange> ranges);

/// The heaviest device's time where ranges have equal numbers of layers, or one
/// more: of all such splits the best or, with interleaving or folded, that
/// whose first ranges are the longer ones. For problems that were solved.
Picoseconds equalCountsTime(const StagingProblem &problem);

/// Lines of at most 80 columns: per device its layers, time, memory, and a bar
/// as long as its time; then the heaviest device and what is proved.
std::string drawStages(const StagePartition &partition);

} // namespace autopar::schedule

#endif // AUTOPAR_SCHEDULE_STAGING_H
