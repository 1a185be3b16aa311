//===- training.cpp - Times of the price of an iteration ------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of the stack of products that tests train, on 64 stages with 512
// microbatches: the least time of the price of a stage, and of all layers with
// their 1F1B, with their limits. Fails where one is above.
//
// Built on demand: ninja training-bench && bin/training-bench
//
//===----------------------------------------------------------------------===//

#include "TrainingFixtures.h"

#include "autopar/Cost/PipelineTimes.h"

#include <chrono>
#include <cstdio>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::program;
using namespace autopar::runtime;
using namespace autopar::schedule;
using namespace autopar::test;

static constexpr int64_t stages = 64, microbatches = 512;

/// Whether the least time of `body` in many runs is under `limitUs`.
template <typename Body>
static bool measure(const char *name, double limitUs, Body body) {
  double leastUs = 1e9;
  for (int run = 0; run < 2000; ++run) {
    auto begin = std::chrono::steady_clock::now();
    if (!body()) {
      std::printf("%s: failed\n", name);
      return false;
    }
    std::chrono::duration<double, std::micro> time =
        std::chrono::steady_clock::now() - begin;
    leastUs = std::min(leastUs, time.count());
  }
  std::printf("%-40s least %8.2f us, limit %6.1f us\n", name, leastUs, limitUs);
  return leastUs < limitUs;
}

int main() {
  CostProgram program = makeTrained({8192, 128, 128256});
  Machine machine = makeMeasuredMachine(512);
  Runtime runtime = makeRuntime();
  runtime.training = makeTrainingFigures();
  Strategy strategy = compile(program, {}, Counting::parts);
  Tape tape = collectParts(strategy);
  std::vector<uint32_t> order = *layersInOrder(program);
  Layout layout;
  layout.axes = {{1, 8}, {8, 8}};
  layout.devices = 64 * stages;
  layout.stages = stages;
  Workload pass = train(8, 4096);
  PipelineSteps steps{{ScheduleKind::one_f_one_b, stages, 1, microbatches},
                      {},
                      false,
                      {{pass, 1}},
                      {0},
                      std::vector<Picoseconds>(stages - 1, 1'000'000)};
  for (int64_t i = 0; i < stages; ++i)
    steps.ranges.push_back({2 * i, 2 * i + 2});

  Pricer pricer(tape, machine, runtime);
  std::vector<double> outputs(tape.outputs.size());
  Layout stage = layout;
  stage.passes = microbatches;
  stage.part = countsOf(program, steps.ranges, order, steps.shape, 1, false);
  bool ok = measure("a stage", 3, [&] {
    return !pricer.lay(stage) && !pricer.price(pointOf(pass), outputs.data());
  });
  StagePricer parts(program, tape, {}, machine, runtime, std::nullopt);
  ok &= measure("all layers and their iteration", 150, [&] {
    if (parts.price(order, layout, pass, steps.shape))
      return false;
    PipelineSchedule schedule = scheduleOf(parts, steps);
    return iterationOf(parts, steps, gradientEnds(schedule)).allPs() > 0;
  });
  return ok ? 0 : 1;
}
