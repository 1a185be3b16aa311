//===- Growth.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Schedule/Growth.h"

#include "Simulator.h"

using namespace autopar;
using namespace autopar::schedule;

namespace {

/// A time and the rate at which it grows. Of two equal times, the one that
/// grows faster counts as later.
struct GrowingTime {
  Picoseconds ps = 0, growth = 0;

  explicit GrowingTime(Picoseconds ps, Picoseconds growth = 0)
      : ps(ps), growth(growth) {}
  GrowingTime operator+(GrowingTime other) const {
    return GrowingTime(ps + other.ps, growth + other.growth);
  }
  GrowingTime operator-(GrowingTime other) const {
    return GrowingTime(ps - other.ps, growth - other.growth);
  }
  bool operator<(GrowingTime other) const {
    return ps != other.ps ? ps < other.ps : growth < other.growth;
  }
};

Picoseconds inPs(GrowingTime time) { return time.ps; }
GrowingTime packed(GrowingTime end, bool isGradient) {
  return GrowingTime(autopar::schedule::packed(end.ps, isGradient), end.growth);
}
GrowingTime unpacked(GrowingTime end) {
  return GrowingTime(autopar::schedule::unpacked(end.ps), end.growth);
}

class GrowingDurations {
public:
  using Time = GrowingTime;

  GrowingDurations(const PipelineSchedule &schedule,
                   const std::vector<StageWork> &growth)
      : work(schedule.work.data()), growth(growth.data()) {}
  Time of(int64_t index, Picoseconds StageWork::*part) const {
    return GrowingTime(work[index].*part, growth[index].*part);
  }

private:
  const StageWork *work, *growth;
};

} // namespace

Growth autopar::schedule::growthOf(const PipelineSchedule &schedule,
                                   const std::vector<StageWork> &growth) {
  PipelineTimeline timeline;
  orderTasks(schedule, timeline);
  Simulator<GrowingDurations> simulator(schedule, timeline, {schedule, growth});
  simulator.run();
  Growth result{simulator.makespan().growth};
  if (schedule.kind == ScheduleKind::inference)
    for (int64_t round = 1; round <= schedule.rounds; ++round)
      result.roundEnds.push_back(simulator.endOfRound(round).growth);
  return result;
}
