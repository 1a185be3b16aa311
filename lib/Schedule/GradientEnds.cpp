//===- GradientEnds.cpp - 1F1B without a timeline -------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With p devices, device d is p - 1 - d forwards ahead of its backwards. Wave k
// is the forward k + ahead and the backward k of each device. It depends only
// on the previous wave, by sums and maxima. So once a wave equals an earlier
// one shifted in time, all later ones do, until the first device has no
// forwards left.
//
//===----------------------------------------------------------------------===//

#include "autopar/Schedule/Timeline.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::schedule;

namespace {

class Waves {
public:
  explicit Waves(const PipelineSchedule &schedule)
      : schedule(schedule), p(schedule.stages), m(schedule.microbatches) {
    past.reserve(mostPeriod + 1);
  }
  std::vector<Picoseconds> run();

private:
  /// The times at which the forward and the backward of a wave end, by device.
  struct Wave {
    std::vector<Picoseconds> forward, backward;
  };

  bool hasForward(int64_t device, int64_t wave) const {
    int64_t microbatch = wave + p - 1 - device;
    return microbatch >= 0 && microbatch < m;
  }
  void advance(int64_t wave);
  Picoseconds transferOf(int64_t stage) const {
    return p == 1 ? 0 : schedule.work[stage].transferPs;
  }
  std::optional<Picoseconds> shiftFrom(const Wave &earlier) const;
  std::optional<int64_t> skip(int64_t wave);

  /// The number of earlier waves with which a wave is compared.
  static constexpr size_t mostPeriod = 16;
  const PipelineSchedule &schedule;
  const int64_t p, m;
  Wave now;
  /// The past waves as a ring buffer, in which the entry `oldest` is the next
  /// to be replaced.
  std::vector<Wave> past;
  size_t oldest = 0;
};

} // namespace

/// Computes wave `wave` from the wave before. Before wave 0 there are no
/// backwards.
void Waves::advance(int64_t wave) {
  for (int64_t d = p - 1; d >= 0; --d) {
    if (!hasForward(d, wave))
      continue;
    Picoseconds arrival = d == 0 ? 0 : now.forward[d - 1] + transferOf(d - 1);
    Picoseconds free = wave > 0 ? now.backward[d] : now.forward[d];
    now.forward[d] = schedule.work[d].forwardPs + std::max(arrival, free);
  }
  for (int64_t d = p - 1; d >= 0 && wave >= 0; --d) {
    Picoseconds arrival =
        d + 1 == p ? now.forward[d] : now.backward[d + 1] + transferOf(d);
    // The backward follows the forwards of the device, or its previous
    // backward.
    bool followsForward = wave == 0 || hasForward(d, wave);
    Picoseconds free = followsForward ? now.forward[d] : now.backward[d];
    now.backward[d] = schedule.work[d].backwardPs() + std::max(arrival, free);
  }
}

/// Returns by how many ps this wave is later than `earlier`, if the difference
/// is the same on all devices; else nothing.
std::optional<Picoseconds> Waves::shiftFrom(const Wave &earlier) const {
  Picoseconds shift = now.forward[0] - earlier.forward[0];
  for (int64_t d = 0; d < p; ++d)
    if (now.forward[d] - earlier.forward[d] != shift ||
        now.backward[d] - earlier.backward[d] != shift)
      return std::nullopt;
  return shift;
}

/// If `wave` repeats an earlier wave, skips as many periods as all devices have
/// forwards for. Returns the number of skipped waves; nothing if it does not
/// repeat one.
std::optional<int64_t> Waves::skip(int64_t wave) {
  for (size_t i = 1; i <= past.size(); ++i) {
    const Wave &earlier = past[(oldest + past.size() - i) % past.size()];
    std::optional<Picoseconds> shift = shiftFrom(earlier);
    if (!shift)
      continue;
    auto period = static_cast<int64_t>(i);
    int64_t periods = (m - p - wave) / period;
    for (int64_t d = 0; d < p; ++d) {
      now.forward[d] += periods * *shift;
      now.backward[d] += periods * *shift;
    }
    return periods * period;
  }
  if (past.size() < mostPeriod) {
    past.push_back(now);
  } else {
    past[oldest] = now;
    oldest = (oldest + 1) % past.size();
  }
  return std::nullopt;
}

std::vector<Picoseconds> Waves::run() {
  now.forward.assign(p, 0);
  now.backward.assign(p, 0);
  std::optional<int64_t> skipped;
  for (int64_t wave = 1 - p; wave < m; ++wave) {
    advance(wave);
    if (skipped || wave < 0 || wave > m - p)
      continue;
    skipped = skip(wave);
    wave += skipped.value_or(0);
  }
  return now.backward;
}

std::vector<Picoseconds>
autopar::schedule::gradientEnds(const PipelineSchedule &schedule) {
  return Waves(schedule).run();
}
