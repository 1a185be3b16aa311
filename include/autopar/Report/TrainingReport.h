//===- TrainingReport.h - What an iteration of training does ----*- C++ -*-===//
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
/// heaviest stage and all its microbatches; exposed is communication that its
/// kernels wait for.
struct TrainingReport {
  /// With what is exposed of their communication and, of forwards, with the
  /// host. With the last two they are the iteration.
  double forwardTimeUs = 0, backwardTimeUs = 0, optimizerTimeUs = 0;
  /// What the stage waits for others; what stragglers add.
  double bubbleTimeUs = 0, stragglerTimeUs = 0;
  /// Of the backward, kernels that make gradients of weights.
  double weightGradientTimeUs = 0;

  /// Collectives of one section, for one purpose, over the same axes.
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
    /// Of all such collectives whatever their axes, what is exposed.
    double exposedShare = 0;
  };
  std::vector<Exposure> exposure;

  /// FLOPs of the whole model; `backward` with what is computed again;
  /// `padding`, a part of `forward`, of the rows by which experts are padded to
  /// their capacity.
  struct Flops {
    Checked forward, backward, padding;
  };
  Flops flops;
  /// Of a device, in the format that utilisation is stated in.
  double peakFlopsPerS = 0;
  double modelUtilization = 0, hardwareUtilization = 0;
  double tokensPerSPerDevice = 0;

  /// By device of the pipeline, when it keeps most.
  struct Stage {
    /// Microbatches in flight, of each of its virtual stages.
    int64_t inFlight = 0;
    /// What one microbatch keeps on all of those.
    int64_t savedBytesPerMicrobatch = 0;
    /// From the beginning of the iteration to the end of that forward.
    double peakTimeUs = 0;
  };
  std::vector<Stage> stages;
  /// The stage that holds most, and the values that it keeps then: `count` of
  /// `bytes` each, those of most bytes first.
  int64_t peakStage = 0;
  struct SavedValue {
    std::string name, layer;
    int64_t count = 0, bytes = 0;
  };
  std::vector<SavedValue> alive;

  /// What is made again, as `Recomputation` writes it; what did not fit before,
  /// and how many bytes it lacked, where it was chosen to fit.
  std::string recompute = "none";
  struct Tried {
    std::string recompute;
    int64_t missingBytes = 0;
  };
  std::vector<Tried> tried;

  /// What experts take of the tokens that are routed to them; nothing where
  /// they take all.
  struct Capacity {
    double factor = 1;
    bool padded = false;
    /// Of a rank and a microbatch, each token once for every expert that it
    /// chooses; how many of them one expert takes.
    int64_t routedTokens = 0, tokens = 0;
    /// Mean of the layers.
    double droppedShare = 0;
  };
  std::optional<Capacity> expertCapacity;

  /// The all_reduce of gradients of weights of which the first stage and the
  /// last have a copy: a table that is the head, too, or that further tokens
  /// are predicted with. Of a device; nothing where there are none.
  struct Copies {
    int64_t bytes = 0;
    std::string tier;
    double timeUs = 0;
  };
  std::optional<Copies> copiedGradients;

  /// Share of the budget of the fullest device that is left; below 0 where the
  /// plan does not fit.
  double memoryMargin = 0;

  std::optional<double> dollars, joules;
  /// What the numbers leave out.
  std::vector<std::string> notModelled;
};

/// FLOPs that the tokens need, by which MFU counts: without what is computed
/// again and without padding. Gradients of inputs and of weights are products
/// as large as the forward's.
inline Checked modelFlops(const TrainingReport &training) {
  return (training.flops.forward - training.flops.padding) * 3;
}
/// FLOPs of forwards and backwards as they are computed, by which HFU counts.
inline Checked hardwareFlops(const TrainingReport &training) {
  return training.flops.forward + training.flops.backward;
}

std::string_view nameOf(TrainingReport::Exposure::Purpose purpose);

} // namespace autopar::report

#endif // AUTOPAR_REPORT_TRAININGREPORT_H
