//===- SavedPeaks.cpp - The most that devices keep for backwards ----------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Once a device alternates forwards and backwards, it keeps the values of its
// first b + ahead forwards without those of its first b backwards. That is
// linear in b while groups of microbatches stay on their virtual stages, and
// periodic after all of these. Backwards run in reverse, so the values kept at
// the end of a group of forwards are also kept where some group of backwards
// begins, and the peak is there.
//
//===----------------------------------------------------------------------===//

#include "Orders.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::schedule;

namespace {

/// Finds the peaks of saved bytes, one device after the other.
class SavedPeaks {
public:
  explicit SavedPeaks(const PipelineSchedule &schedule)
      : schedule(schedule), p(schedule.stages), v(schedule.interleave),
        before(v + 1) {}

  int64_t of(int64_t device);

private:
  int64_t ofForwards(int64_t count) const;

  const PipelineSchedule &schedule;
  const int64_t p, v;
  /// Entry i is the sum of the bytes that the device's virtual stages before
  /// number i keep.
  std::vector<int64_t> before;
};

} // namespace

/// Returns the bytes that the first `count` forwards keep. Groups of p
/// microbatches go through all virtual stages.
int64_t SavedPeaks::ofForwards(int64_t count) const {
  int64_t groups = count / (p * v), rest = count % (p * v), stage = rest / p;
  return (groups * before[v] + before[stage]) * p +
         rest % p * (before[stage + 1] - before[stage]);
}

int64_t SavedPeaks::of(int64_t device) {
  for (int64_t i = 0; i < v; ++i)
    before[i + 1] = before[i] + schedule.work[i * p + device].savedBytes;
  int64_t all = schedule.microbatches * v,
          ahead = aheadOf(schedule, device) + 1;
  // Device d delays weight gradients by d microbatches.
  if (schedule.kind == ScheduleKind::zero_bubble)
    ahead += device;
  ahead = std::min(ahead, all);
  int64_t peak = 0;
  for (int64_t freed = 0; freed < v && freed * p + ahead <= all; ++freed)
    peak = std::max(peak, ofForwards(freed * p + ahead) -
                              p * (before[v] - before[v - freed]));
  return peak;
}

std::vector<int64_t>
autopar::schedule::peakSavedBytes(const PipelineSchedule &schedule) {
  SavedPeaks peaks(schedule);
  std::vector<int64_t> bytes;
  bytes.reserve(schedule.stages);
  for (int64_t d = 0; d < schedule.stages; ++d)
    bytes.push_back(peaks.of(d));
  return bytes;
}
