//===- SavedPeaks.cpp - The most that devices keep for backwards ----------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Once a device does a forward and a backward in turn, what it keeps are the
// values of its first b + ahead forwards without those of the first b
// backwards. Both are sums that are linear in b while groups of microbatches
// stay on their virtual stages, and come back after all of these: the most is
// at one of the ends of such a stretch.
//
//===----------------------------------------------------------------------===//

#include "Orders.h"

#include <algorithm>

using namespace autopar;

namespace {

/// Of one device after the other.
class SavedPeaks {
public:
  explicit SavedPeaks(const PipelineSchedule &schedule)
      : schedule(schedule), p(schedule.stages), v(schedule.interleave),
        before(v + 1) {}

  int64_t of(int64_t device);

private:
  int64_t savedBy(int64_t stage) const {
    return schedule.work[stage].savedBytes;
  }
  int64_t ofForwards(int64_t count) const;
  int64_t ofBackwards(int64_t count) const;

  const PipelineSchedule &schedule;
  const int64_t p, v;
  /// Of the device: what the virtual stages before each one keep.
  std::vector<int64_t> before;
};

} // namespace

/// What the first `count` forwards keep: groups of p microbatches go through
/// all virtual stages.
int64_t SavedPeaks::ofForwards(int64_t count) const {
  int64_t groups = count / (p * v), rest = count % (p * v), stage = rest / p;
  return (groups * before[v] + before[stage]) * p +
         rest % p * (before[stage + 1] - before[stage]);
}

/// What the first `count` backwards free, from the last virtual stage on.
int64_t SavedPeaks::ofBackwards(int64_t count) const {
  int64_t groups = (count + p * v - 1) / (p * v);
  return groups * p * before[v] - ofForwards(groups * p * v - count);
}

int64_t SavedPeaks::of(int64_t device) {
  for (int64_t i = 0; i < v; ++i)
    before[i + 1] = before[i] + savedBy(i * p + device);
  int64_t all = schedule.microbatches * v,
          ahead = aheadOf(schedule, device) + 1;
  // Device d puts off weight gradients by d microbatches.
  if (schedule.kind == ScheduleKind::zero_bubble)
    ahead += device;
  ahead = std::min(ahead, all);
  int64_t last = std::min(p * v, all - ahead), peak = 0;
  auto look = [&](int64_t backwards) {
    if (backwards <= last)
      peak = std::max(peak,
                      ofForwards(backwards + ahead) - ofBackwards(backwards));
  };
  look(last);
  for (int64_t i = 0; i < v; ++i) {
    look(i * p);
    look((i + 1) * p - ahead % p);
  }
  return peak;
}

std::vector<int64_t> autopar::peakSavedBytes(const PipelineSchedule &schedule) {
  SavedPeaks peaks(schedule);
  std::vector<int64_t> bytes;
  bytes.reserve(schedule.stages);
  for (int64_t d = 0; d < schedule.stages; ++d)
    bytes.push_back(peaks.of(d));
  return bytes;
}
