//===- schedule.cpp - Times of staging and of schedules -------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints the median and the least time of one split into stages and of one
// simulated schedule, with their limits. Fails where a least time is above.
//
//===----------------------------------------------------------------------===//

#include "autopar/Schedule/Staging.h"
#include "autopar/Schedule/Timeline.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

using namespace autopar;
using namespace autopar::schedule;

/// Whether the least time of `body` is under `limitMs`.
template <typename Body>
static bool measure(const char *name, double limitMs, Body body) {
  constexpr size_t runs = 21;
  std::vector<double> timesMs;
  for (size_t i = 0; i < runs; ++i) {
    auto begin = std::chrono::steady_clock::now();
    if (!body()) {
      std::printf("%s: failed\n", name);
      return false;
    }
    std::chrono::duration<double, std::milli> time =
        std::chrono::steady_clock::now() - begin;
    timesMs.push_back(time.count());
  }
  std::sort(timesMs.begin(), timesMs.end());
  std::printf("%-58s median %6.2f ms, least %6.3f ms, limit %5.2f ms\n", name,
              timesMs[runs / 2], timesMs[0], limitMs);
  return timesMs[0] < limitMs;
}

/// Llama 3.1 405B at 2,048 tokens: arithmetic in parts of 4e14 FLOP/s, weights
/// in bf16; the embedding only moves bytes.
static StagingProblem llama405B() {
  StagingProblem problem;
  problem.layers.assign(126, {32'560'000'000, 6'375'342'080});
  problem.embedding = {40'000'000, 4'202'692'608};
  problem.head = {21'519'000'000, 4'202'725'376};
  problem.stages = 16;
  problem.interleave = 2;
  return problem;
}

/// Of stages that differ by up to 5 %.
static std::vector<StageWork> unevenWork(int64_t stages) {
  std::vector<StageWork> all;
  for (int64_t i = 0; i < stages; ++i) {
    StageWork work;
    work.forwardPs = 1'000'000 + i * 997 % 50'000;
    work.inputGradientPs = work.weightGradientPs = work.forwardPs;
    work.transferPs = 20'000;
    all.push_back(work);
  }
  return all;
}

static PipelineSchedule largeSchedule() {
  PipelineSchedule schedule;
  schedule.kind = ScheduleKind::interleaved;
  schedule.stages = 64;
  schedule.interleave = 4;
  schedule.microbatches = 1024;
  schedule.work = unevenWork(256);
  return schedule;
}

static PipelineSchedule longSchedule() {
  PipelineSchedule schedule;
  schedule.stages = 64;
  schedule.microbatches = 512;
  schedule.work = unevenWork(64);
  return schedule;
}

int main() {
  StagingProblem problem = llama405B();
  bool ok = measure("126 layers over 16 stages, interleave 2", 10, [&] {
    Result<StagePartition> partition = partitionStages(problem);
    return partition && partition->optimal();
  });
  PipelineSchedule schedule = largeSchedule();
  ok &= measure("64 stages, 1,024 microbatches, interleave 4", 20,
                [&] { return bool(simulateSchedule(schedule)); });
  PipelineSchedule training = longSchedule();
  ok &= measure("64 stages, 512 microbatches, ends of 1F1B", 0.15,
                [&] { return gradientEnds(training).size() == 64; });
  return ok ? 0 : 1;
}
