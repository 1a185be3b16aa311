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

/// `training` of a report, whose step is an iteration. Times are those of the
/// heaviest stage over all its microbatches. Exposed communication is the part
/// that its kernels wait for.
struct TrainingReport {
  /// Times with exposed communication; the forward also has the host's time.
  /// Together with the two below they add up to the iteration.
  double forwardTimeUs = 0, backwardTimeUs = 0, optimizerTimeUs = 0;
  /// Time that the stage waits for others; time that stragglers add.
  double bubbleTimeUs = 0, stragglerTimeUs = 0;
  /// Part of the backward: kernels that make gradients of weights.
  double weightGradientTimeUs = 0;

  /// Collectives of one section, with one purpose, over the same axes.
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
    /// Exposed share of all collectives with this purpose, whatever their axes.
    double exposedShare = 0;
  };
  std::vector<Exposure> exposure;

  /// FLOPs of the whole model. `backward` includes recomputation; `padding` is
  /// the part of `forward` for rows that pad experts to their capacity.
  struct Flops {
    Checked forward, backward, padding;
  };
  Flops flops;
  /// Peak of a device in the format that utilisation refers to.
  double peakFlopsPerS = 0;
  double modelUtilization = 0, hardwareUtilization = 0;
  double tokensPerSPerDevice = 0;

  /// By device of the pipeline, at the time when it keeps most.
  struct Stage {
    /// Microbatches in flight, summed over its virtual stages.
    int64_t inFlight = 0;
    /// Bytes that one microbatch keeps on all its virtual stages.
    int64_t savedBytesPerMicrobatch = 0;
    /// Time from the start of the iteration to the end of the forward at the
    /// peak.
    double peakTimeUs = 0;
  };
  std::vector<Stage> stages;
  /// The stage that holds most, and the values that it keeps at its peak:
  /// `count` of `bytes` each, sorted by total bytes.
  int64_t peakStage = 0;
  struct SavedValue {
    std::string name, layer;
    int64_t count = 0, bytes = 0;
  };
  std::vector<SavedValue> alive;

  /// The recomputation, as `Recomputation` writes it. If it was chosen to fit,
  /// the ones that did not fit, with the bytes that they lacked.
  std::string recompute = "none";
  struct Tried {
    std::string recompute;
    int64_t missingBytes = 0;
  };
  std::vector<Tried> tried;

  /// Tokens that experts accept; absent if they accept all.
  struct Capacity {
    double factor = 1;
    bool padded = false;
    /// Per rank and microbatch: routed tokens, counted once per chosen expert,
    /// and the tokens that one expert accepts.
    int64_t routedTokens = 0, tokens = 0;
    /// Mean over the layers.
    double droppedShare = 0;
  };
  std::optional<Capacity> expertCapacity;

  /// The all_reduce of gradients of weights that both the first and the last
  /// stage hold: an embedding table that is also the head, or that further
  /// tokens are predicted with. Bytes per device; absent if there are none.
  struct Copies {
    int64_t bytes = 0;
    std::string tier;
    double timeUs = 0;
  };
  std::optional<Copies> copiedGradients;

  /// Share of the budget that is left on the fullest device; negative if the
  /// plan does not fit.
  double memoryMargin = 0;

  std::optional<double> dollars, joules;
  /// Effects that the numbers leave out.
  std::vector<std::string> notModelled;
};

/// FLOPs that MFU counts: without recomputation and padding. Gradients of
/// inputs and of weights take as many FLOPs as the forward, each.
inline Checked modelFlops(const TrainingReport &training) {
  return (training.flops.forward - training.flops.padding) * 3;
}
/// FLOPs that HFU counts: forwards and backwards as they are computed.
inline Checked hardwareFlops(const TrainingReport &training) {
  return training.flops.forward + training.flops.backward;
}

std::string_view nameOf(TrainingReport::Exposure::Purpose purpose);

} // namespace autopar::report

#endif // AUTOPAR_REPORT_TRAININGREPORT_H
