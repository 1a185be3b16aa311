//===- IterationShapes.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IterationShapes.h"

using namespace autopar;
using namespace autopar::schedule;
using namespace autopar::search;

using Order = std::pair<ScheduleKind, int64_t>;

/// Returns the pipeline schedules of the space, each with its numbers of
/// virtual stages.
static std::vector<Order> ordersOf(const SearchProblem &problem,
                                   int64_t stages) {
  const SearchSpace &space = problem.space;
  bool hasOne = space.interleave.has(1);
  std::vector<Order> orders;
  if (stages == 1)
    return hasOne ? std::vector<Order>{{ScheduleKind::one_f_one_b, 1}} : orders;
  for (ScheduleKind schedule : space.schedules) {
    if (schedule != ScheduleKind::interleaved) {
      if (hasOne)
        orders.emplace_back(schedule, 1);
      continue;
    }
    int64_t most = std::max<int64_t>(1, problem.layers / stages);
    for (int64_t interleave : space.interleave.divisorsOf(most))
      if (interleave > 1)
        orders.emplace_back(schedule, interleave);
  }
  return orders;
}

std::vector<IterationShape>
autopar::search::shapesOf(const SearchProblem &problem, int64_t stages,
                          int64_t replicas) {
  std::vector<IterationShape> shapes;
  std::vector<Order> orders = ordersOf(problem, stages);
  for (size_t i = 0; i < problem.batches.size(); ++i) {
    if (problem.batches[i] % replicas != 0)
      continue;
    int64_t share = problem.batches[i] / replicas;
    for (int64_t size : problem.space.microBatch.divisorsOf(share))
      for (auto [schedule, interleave] : orders)
        if (problem.space.microbatches.has(share / size))
          shapes.push_back({schedule, interleave, i, share / size});
  }
  return shapes;
}
