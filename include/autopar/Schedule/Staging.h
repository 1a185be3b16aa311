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

/// The load that one layer puts on its device: time and bytes.
struct LayerCost {
  Picoseconds timePs = 0;
  int64_t memoryBytes = 0;
  /// Bytes per microbatch in flight, in addition to `memoryBytes`: see
  /// `StagingProblem::inFlight`.
  int64_t savedBytes = 0;
};

/// The layers `begin` to `end - 1`. The range is empty on a virtual stage that
/// has only the embedding or only the head.
struct LayerRange {
  int64_t begin = 0, end = 0;

  bool isEmpty() const { return end == begin; }
  bool operator==(const LayerRange &other) const {
    return begin == other.begin && end == other.end;
  }
};

/// Divides layers into stages with equal numbers of layers; if that is uneven,
/// the first stages get one more.
std::vector<LayerRange> equalRanges(int64_t layers, int64_t stages);
/// Parses "0-19,20-40": the first and the last layer of each range, in order
/// and without gaps, from 0. "embedding" is a first range and "head" a last
/// range without layers. `rangesText` writes the same syntax.
Result<std::vector<LayerRange>> parseRanges(std::string_view text);
std::string rangesText(const std::vector<LayerRange> &ranges);
/// Writes one range: "0-19", "4", "embedding", "head".
std::string rangeText(const LayerRange &range);

/// A stack of layers to be divided among `stages` devices. Device d has the
/// virtual stages d, d + stages, d + 2*stages, ... of stages*interleave
/// (arXiv:2104.04473, section 2.2). Each virtual stage has at least one layer,
/// unless `endsMayBeAlone`.
struct StagingProblem {
  std::vector<LayerCost> layers;
  /// The load before the first layer, on the first virtual stage, and the load
  /// after the last layer, on the last one.
  LayerCost embedding, head;
  int64_t stages = 1, interleave = 1;
  /// Whether, if there are fewer layers than virtual stages, the first virtual
  /// stage may have only the embedding, and the last only the head (Llama 3,
  /// arXiv:2407.21783, section 3.3.2; Megatron's
  /// --account-for-embedding-in-pipeline-split). Not with `folded`.
  bool endsMayBeAlone = false;
  /// Whether device d also has stage stages - 1 - d, each for half of the
  /// microbatches (`ScheduleKind::dual_pipe`); without interleaving.
  bool folded = false;
  /// Number of microbatches of 1F1B; device d keeps the saved values of
  /// `keptOn(d)` of them. 0: no values are kept. Without interleaving, and not
  /// with `folded`.
  int64_t inFlight = 0;
  /// Largest number of bytes per device; absent: no limit.
  std::optional<int64_t> memoryLimitBytes;

  int64_t keptOn(int64_t device) const {
    return std::min(stages - device, inFlight);
  }
};

struct StagePartition {
  int64_t stages = 1, interleave = 1;
  bool folded = false;
  /// The range of layers of each virtual stage.
  std::vector<LayerRange> ranges;
  /// The load of each device: the sum over its ranges, embedding and head.
  /// Memory includes the saved values of microbatches. With `folded`, the time
  /// is halved.
  std::vector<LayerCost> devices;
  /// Index of the slowest device; of equally slow ones, the first.
  int64_t heaviest = 0;
  /// Time of the slowest device minus that of the second slowest (0 with one
  /// device), and minus the mean of all.
  Picoseconds aboveSecondPs = 0;
  double aboveMeanPs = 0;
  /// Lower bound, over all splits, of the slowest device's time.
  Picoseconds lowerBoundPs = 0;
  /// Number of choices that the search visited.
  int64_t searched = 0;

  Picoseconds heaviestPs() const { return devices[heaviest].timePs; }
  /// Returns the virtual stages of a device, sorted.
  std::vector<int64_t> stagesOf(int64_t device) const;
  /// Whether it is proved that no split is better.
  bool optimal() const { return heaviestPs() == lowerBoundPs; }
  /// Returns by how much, relatively, the slowest device's time exceeds the
  /// lower bound.
  double gap() const;
};

/// Finds the split whose slowest device takes the least time, with no device
/// above the memory limit. Among equal splits, one is preferred whose largest
/// memory is smaller; then layers move from slower to faster devices, and
/// between ranges of a device, as long as that evens them out.
///
/// The least time is found by bisection: a time limit is tried by filling
/// device after device. Without interleaving each device takes all layers that
/// fit, which is optimal. With interleaving that holds, nearly, for the last
/// range of a device; the ends of the other ranges are found by branch and
/// bound, in which failed states (device, ends) are not tried again. If the
/// search exceeds `limits::maxStageSearch` choices, a gap to the lower bound
/// remains. With `folded`, the split that is best without it is improved step
/// by step, and the lower bound is the mean.
///
/// Fails if there are fewer layers (and ends that may be alone) than virtual
/// stages, or if the memory limit cannot be met: the error states the excess
/// and a number of stages that would fit.
Result<StagePartition> partitionStages(const StagingProblem &problem);

/// Finds a split within the memory limit if there is one, else a split without
/// the limit.
Result<StagePartition> layOutStages(StagingProblem problem);

/// Returns an error if the device that needs the most memory exceeds the limit;
/// nothing if it does not.
std::optional<Error> exceedsMemory(const StagingProblem &problem,
                                   const StagePartition &partition);

/// Returns the loads of a given split. `ranges` has one range per virtual
/// stage, in order and without gaps. The memory limit is ignored, and no lower
/// bound is computed.
Result<StagePartition> describeStages(const StagingProblem &problem,
                                      std::vector<LayerRange> ranges);

/// Returns the loads of a given split, with the lower bound over all splits.
/// Fails if a device is above the memory limit.
Result<StagePartition> evaluateStages(const StagingProblem &problem,
                                      std::vector<LayerRange> ranges);

/// Returns the slowest device's time if ranges have equal numbers of layers, or
/// one more: in the best such split or, with interleaving or folded, in the one
/// whose first ranges are the longer ones. The problem must have a solution.
Picoseconds equalCountsTime(const StagingProblem &problem);

/// Draws a split in lines of at most 80 columns: per device its layers, time,
/// memory, and a bar for its time; then the slowest device and the proof.
std::string drawStages(const StagePartition &partition);

} // namespace autopar::schedule

#endif // AUTOPAR_SCHEDULE_STAGING_H
