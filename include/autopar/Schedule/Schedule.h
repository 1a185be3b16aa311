//===- Schedule.h - Microbatches through a pipeline -------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SCHEDULE_SCHEDULE_H
#define AUTOPAR_SCHEDULE_SCHEDULE_H

#include "autopar/Schedule/Time.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopar::schedule {

/// The order in which devices process microbatches. Times below are for p
/// devices, m microbatches, and equal stages with forward time f and backward
/// time b.
enum class ScheduleKind : uint8_t {
  /// All forwards, then all backwards (arXiv:1811.06965): (m + p - 1) * (f +
  /// b), m in flight.
  gpipe,
  /// Backwards as early as possible (PipeDream-Flush, arXiv:2006.09503): the
  /// time of gpipe, min(p - d, m) in flight on device d.
  one_f_one_b,
  /// 1F1B over v virtual stages per device (arXiv:2104.04473, section 2.2): m *
  /// (f + b) + (p - 1) * (f + b) / v. Microbatches come in groups of p.
  interleaved,
  /// ZB-H1 (arXiv:2401.10241, section 2.1): 1F1B whose backwards compute input
  /// gradients (i) first and weight gradients (w) later, to fill the end: m *
  /// (f + i + w) + (p - 1) * (f + i - w) if w is at most f and at most i; at
  /// most p in flight on every device.
  zero_bubble,
  /// DualPipe (arXiv:2412.19437, section 3.2.1): half the microbatches enter at
  /// either end. Device d has stages d and p - 1 - d, so that parameters exist
  /// twice; forwards and backwards of opposite directions run as one.
  dual_pipe,
  /// Forwards only, in rounds: the chunks of prefills, or decode steps.
  inference,
};

std::string_view nameOf(ScheduleKind kind);
/// Parses the name of a schedule; "1f1b" is accepted, too.
std::optional<ScheduleKind> parseScheduleKind(std::string_view text);
/// Returns all names as text, for errors and help: "gpipe, one_f_one_b, ...".
std::string scheduleChoices();

/// The cost of one microbatch on one virtual stage.
struct StageWork {
  Picoseconds forwardPs = 0;
  /// Times of the backward: gradients of the input, for which the previous
  /// stage waits, and then gradients of the weights.
  Picoseconds inputGradientPs = 0, weightGradientPs = 0;
  /// Time of the transfer to the next virtual stage, and of the gradient's
  /// transfer back; for the last stage, to the first stage's next round. It
  /// runs beside computation, and is 0 if both stages are on one device.
  Picoseconds transferPs = 0;
  /// Time of communication within the forward, and within the whole backward. A
  /// forward and a backward that run as one take the longer of their
  /// computation and their communication.
  Picoseconds forwardCommunicationPs = 0, backwardCommunicationPs = 0;
  /// Bytes kept from a microbatch's forward to the end of its backward.
  int64_t savedBytes = 0;

  Picoseconds backwardPs() const { return inputGradientPs + weightGradientPs; }
};

/// Returns the number of sequences per microbatch if `batch` is divided into
/// `microbatches` equal parts. Fails if the batch cannot be divided.
Result<int64_t> microbatchOf(int64_t batch, int64_t microbatches);

struct PipelineSchedule {
  ScheduleKind kind = ScheduleKind::one_f_one_b;
  /// `stages`: number of devices. `interleave`: number of virtual stages on
  /// each; device d has the virtual stages d, d + stages, ... Only the schedule
  /// `interleaved` has several.
  int64_t stages = 1, interleave = 1;
  int64_t microbatches = 1;
  /// The cost of each virtual stage; for inference, by round and then by
  /// virtual stage.
  std::vector<StageWork> work;
  /// For inference: how many passes each microbatch makes.
  int64_t rounds = 1;
  /// For inference: whether a round of a microbatch begins after its previous
  /// round left the last stage, as in decode. Chunks of a prompt do not wait.
  bool loop = false;
};

} // namespace autopar::schedule

#endif // AUTOPAR_SCHEDULE_SCHEDULE_H
