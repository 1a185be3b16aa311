//===- BatchPrices.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BatchPrices.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::program;
using namespace autopar::runtime;
using namespace autopar::search;

static constexpr double picosecondsPerUs = 1e6;

LaneBlocks::LaneBlocks(const std::vector<GroupValues> &points)
    : count(points.size()) {
  for (size_t first = 0; first < count; first += laneCount) {
    std::array<GroupValues, laneCount> lanes;
    for (size_t lane = 0; lane < laneCount; ++lane)
      lanes[lane] = points[std::min(first + lane, count - 1)];
    blocks.push_back(lanesOf(lanes));
  }
}

std::vector<Workload>
autopar::search::withBatches(const Workload &workload,
                             const std::vector<int64_t> &batches) {
  std::vector<Workload> workloads(batches.size(), workload);
  for (size_t i = 0; i < batches.size(); ++i)
    workloads[i].batch = batches[i];
  return workloads;
}

static std::vector<GroupValues>
pointsOf(const std::vector<Workload> &workloads) {
  std::vector<GroupValues> points;
  for (const Workload &workload : workloads)
    points.push_back(pointOf(workload));
  return points;
}

BatchSteps::BatchSteps(const std::vector<Workload> &batches,
                       const Runtime &runtime, bool mayCut, int64_t replicas)
    : whole(pointsOf(batches)), cut({}) {
  std::vector<GroupValues> points;
  for (const Workload &workload : batches) {
    std::vector<PrefillChunk> own =
        stepsOf(workload, runtime, mayCut, replicas);
    for (const PrefillChunk &chunk : own) {
      chunks.push_back({isCut.size(), static_cast<double>(chunk.count)});
      points.push_back(pointOf(chunk.step));
    }
    isCut.push_back(!own.empty());
  }
  cut = LaneBlocks(points);
}

/// Calls `take` for each point, with the point's index, whether it is legal,
/// and its outputs.
template <typename Take>
static void priceAll(Pricer &pricer, const LaneBlocks &points, Take take) {
  double outputs[stepOutputCount * laneCount], one[stepOutputCount];
  for (size_t i = 0; i < points.count; ++i) {
    size_t lane = i % laneCount;
    const LaneValues &block = points.blocks[i / laneCount];
    bool isLegal = true;
    if (lane == 0)
      isLegal = !pricer.price(block, outputs);
    // The pricer refused the block, so that each of its points is priced on its
    // own.
    if (lane == 0 && !isLegal) {
      size_t last = std::min(points.count, i + laneCount);
      for (; i < last; ++i) {
        GroupValues point;
        for (size_t symbol = 0; symbol < symbolCount; ++symbol)
          point[symbol] = block[symbol][i % laneCount];
        isLegal = !pricer.price(point, one);
        take(i, isLegal, one);
      }
      --i;
      continue;
    }
    for (size_t output = 0; output < stepOutputCount; ++output)
      one[output] = outputs[output * laneCount + lane];
    take(i, true, one);
  }
}

void BatchSteps::price(Pricer &pricer, std::vector<BatchPrice> &prices) const {
  auto valueOf = [](const double *outputs, StepOutput which) {
    return outputs[static_cast<size_t>(which)];
  };
  prices.resize(whole.count);
  priceAll(pricer, whole, [&](size_t i, bool isLegal, const double *outputs) {
    double step = valueOf(outputs, StepOutput::step_ps) / picosecondsPerUs;
    prices[i] = {isLegal,
                 valueOf(outputs, StepOutput::fits) == 1,
                 !isCut[i],
                 isCut[i] ? 0 : step,
                 valueOf(outputs, StepOutput::total_bytes),
                 valueOf(outputs, StepOutput::kept_bytes),
                 valueOf(outputs, StepOutput::runtime_bytes)};
  });
  priceAll(pricer, cut, [&](size_t i, bool isLegal, const double *outputs) {
    double step = valueOf(outputs, StepOutput::step_ps) / picosecondsPerUs;
    BatchPrice &batch = prices[chunks[i].batch];
    batch.isLegal &= isLegal;
    batch.timeUs += step * chunks[i].count;
  });
}
