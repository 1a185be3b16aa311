//===- TrainingReport.h - An iteration of training --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_REPORT_TRAININGREPORT_H
#define AUTOPAR_REPORT_TRAININGREPORT_H

#include "autopar/Program/CostProgram.h"
#include "autopar/Support/Checked.h"

#include <optional>
#include <string>
#include <vector>

namespace autopar::report {

/// The section `training` of a report whose step is a training iteration. Times
/// are those of the slowest stage over all its microbatches. Exposed
/// communication is the part for which its kernels wait.
struct TrainingReport {
  /// Times in which exposed communication is included; the forward also
  /// includes the host's time. With `bubbleTimeUs` and `stragglerTimeUs` they
  /// add up to the iteration.
  double forwardTimeUs = 0, backwardTimeUs = 0, optimizerTimeUs = 0;
  /// `bubbleTimeUs`: time that the stage waits for other stages.
  /// `stragglerTimeUs`: time that slower devices add.
  double bubbleTimeUs = 0, stragglerTimeUs = 0;
  /// Time of kernels that compute gradients of weights; a part of
  /// `backwardTimeUs`.
  double weightGradientTimeUs = 0;

  /// The collectives of one section with one purpose over the same axes.
  struct Exposure {
    enum class Purpose : uint8_t {
      activations,
      dispatch,
      inputs,
      gather,
      reduction,
      copies
    };
    program::Section section = program::Section::forward;
    Purpose purpose = Purpose::activations;
    std::vector<std::string> axes;
    double timeUs = 0, exposedTimeUs = 0;
    /// Exposed share of the time of all collectives with this purpose, whatever
    /// their axes.
    double exposedShare = 0;
  };
  std::vector<Exposure> exposure;

  /// FLOPs of the whole model. `backward` includes recomputation; `padding` is
  /// the part of `forward` for rows that pad experts to their capacity.
  struct Flops {
    Checked forward, backward, padding;
  };
  Flops flops;
  /// Peak rate of a device in the number format to which utilisation refers.
  double peakFlopsPerS = 0;
  double modelUtilization = 0, hardwareUtilization = 0;
  double tokensPerSPerDevice = 0;

  /// One device of the pipeline, at the time when it keeps the most saved
  /// values.
  struct Stage {
    /// Number of microbatches in flight, summed over the device's virtual
    /// stages.
    int64_t inFlight = 0;
    /// Bytes that one microbatch saves on all virtual stages of the device.
    int64_t savedBytesPerMicrobatch = 0;
    /// Time from the start of the iteration to the end of the forward with
    /// which the peak is reached.
    double peakTimeUs = 0;
  };
  std::vector<Stage> stages;
  /// The device that needs the most memory, and the values that it keeps at its
  /// peak: `count` values of `bytes` each, sorted by their total.
  int64_t peakStage = 0;
  struct SavedValue {
    std::string name, layer;
    int64_t count = 0, bytes = 0;
  };
  std::vector<SavedValue> alive;

  /// The recomputation, as `Recomputation::str` writes it. If it was chosen so
  /// that the plan fits, `tried` has those that did not fit, with the bytes by
  /// which they did not.
  std::string recompute = "none";
  struct Tried {
    std::string recompute;
    int64_t missingBytes = 0;
  };
  std::vector<Tried> tried;

  /// How many tokens experts accept; absent if they accept all.
  struct Capacity {
    double factor = 1;
    bool padded = false;
    /// Per rank and microbatch: `routedTokens`, counted once per chosen expert,
    /// and `tokens`, the most that one expert accepts.
    int64_t routedTokens = 0, tokens = 0;
    /// Share of routed tokens that are dropped, averaged over the layers.
    double droppedShare = 0;
  };
  std::optional<Capacity> expertCapacity;

  /// The all_reduce of gradients of weights that both the first and the last
  /// stage hold: an embedding table that is also the head, or that is used to
  /// predict further tokens. Bytes per device; absent if there are no such
  /// weights.
  struct Copies {
    int64_t bytes = 0;
    std::string tier;
    double timeUs = 0;
  };
  std::optional<Copies> copiedGradients;

  /// Share of the memory budget that is left on the device with the least free
  /// memory; negative if the plan does not fit.
  double memoryMargin = 0;

  std::optional<double> dollars, joules;
  /// Effects that the numbers do not include, as texts.
  std::vector<std::string> notModelled;
};

/// Returns the FLOPs that MFU counts: without recomputation and padding.
/// Gradients of inputs and of weights each take as many FLOPs as the forward.
inline Checked modelFlops(const TrainingReport &training) {
  return (training.flops.forward - training.flops.padding) * 3;
}
/// Returns the FLOPs that HFU counts: those of forwards and backwards as they
/// are computed.
inline Checked hardwareFlops(const TrainingReport &training) {
  return training.flops.forward + training.flops.backward;
}

std::string_view nameOf(TrainingReport::Exposure::Purpose purpose);

} // namespace autopar::report

#endif // AUTOPAR_REPORT_TRAININGREPORT_H
