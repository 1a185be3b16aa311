//===- AlikeLayers.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AlikeLayers.h"

using namespace autopar;
using namespace autopar::schedule;

//===----------------------------------------------------------------------===//
// Layers that fit on a device
//===----------------------------------------------------------------------===//

LayerCost AlikeLayers::loadOf(int64_t device, int64_t layers) const {
  int64_t kept = shape.keptOn(device);
  LayerCost load;
  auto add = [&](const LayerCost &cost, int64_t times) {
    load.timePs += times * cost.timePs;
    load.memoryBytes += times * (cost.memoryBytes + kept * cost.savedBytes);
  };
  add(each, layers);
  if (device == 0)
    add(first, 1);
  if (device + 1 == shape.stages)
    add(last, 1);
  return load;
}

/// Returns the number of layers that fit on `device`. It is less than the
/// number of the device's ranges if the device cannot have a layer in each of
/// them.
int64_t AlikeLayers::mostOn(int64_t device, Picoseconds timeLimit,
                            int64_t memoryLimit) const {
  LayerCost fixed = loadOf(device, 0);
  int64_t time = timeLimit - fixed.timePs,
          memory = memoryLimit - fixed.memoryBytes;
  if (time < 0 || memory < 0)
    return 0;
  int64_t eachMemory =
      each.memoryBytes + shape.keptOn(device) * each.savedBytes;
  int64_t most = count;
  if (each.timePs > 0)
    most = std::min(most, time / each.timePs);
  if (eachMemory > 0)
    most = std::min(most, memory / eachMemory);
  return most;
}

bool AlikeLayers::findRooms(Picoseconds timeLimit, int64_t memoryLimit,
                            std::vector<int64_t> &behind) const {
  behind.assign(shape.stages + 1, 0);
  int64_t most = 0;
  for (int64_t d = shape.stages; d-- > 0;) {
    bool isAsBehind =
        d > 0 && d + 2 < shape.stages && shape.keptOn(d) == shape.keptOn(d + 1);
    if (!isAsBehind)
      most = mostOn(d, timeLimit, memoryLimit);
    if (most < shape.interleave)
      return false;
    behind[d] = behind[d + 1] + most;
  }
  return behind[0] >= count;
}

//===----------------------------------------------------------------------===//
// Splits into equal numbers of layers
//===----------------------------------------------------------------------===//

/// Tests whether equal numbers are best. If they are, a device with one layer
/// less would leave one layer too many for the other devices; and if the ranges
/// of a device are unequal, one of them is longer than another by more than a
/// layer.
bool AlikeLayers::isEvenBest() const {
  int64_t ranges = shape.stages * shape.interleave;
  if (count % ranges != 0)
    return false;
  if (ranges == 1)
    return true;
  auto [least, most] = std::minmax({Picoseconds(0), first.timePs, last.timePs});
  return most - least < each.timePs;
}

static std::optional<AlikeLayers> alikeLayersOf(const StagingProblem &problem) {
  const std::vector<LayerCost> &layers = problem.layers;
  if (layers.size() < 3)
    return std::nullopt;
  const LayerCost &each = layers[1];
  bool areAlike = std::all_of(layers.begin() + 2, layers.end() - 1,
                              [&](const LayerCost &layer) {
                                return layer.timePs == each.timePs &&
                                       layer.memoryBytes == each.memoryBytes &&
                                       layer.savedBytes == each.savedBytes;
                              });
  if (!areAlike)
    return std::nullopt;
  return AlikeLayers(problem, each, problem.embedding + layers.front() - each,
                     problem.head + layers.back() - each,
                     static_cast<int64_t>(layers.size()));
}

void autopar::schedule::findHeaviest(StagePartition &partition) {
  const std::vector<LayerCost> &devices = partition.devices;
  auto heaviest = devices.begin();
  Picoseconds next = 0, all = 0;
  for (auto device = devices.begin(); device != devices.end(); ++device) {
    all += device->timePs;
    if (device->timePs > heaviest->timePs)
      heaviest = device;
  }
  for (auto device = devices.begin(); device != devices.end(); ++device)
    if (device != heaviest)
      next = std::max(next, device->timePs);
  double mean =
      static_cast<double>(all) / static_cast<double>(partition.stages);
  partition.heaviest = heaviest - devices.begin();
  partition.aboveMeanPs = static_cast<double>(heaviest->timePs) - mean;
  partition.aboveSecondPs = devices.size() > 1 ? heaviest->timePs - next : 0;
}

std::optional<StagePartition>
autopar::schedule::evenSplit(const StagingProblem &problem) {
  std::optional<AlikeLayers> alike = alikeLayersOf(problem);
  if (problem.folded || !alike || !alike->isEvenBest())
    return std::nullopt;
  auto count = static_cast<int64_t>(problem.layers.size());
  StagePartition even;
  even.stages = problem.stages;
  even.interleave = problem.interleave;
  int64_t fullest = 0, all = 0;
  for (int64_t d = 0; d < problem.stages; ++d) {
    even.devices.push_back(alike->loadOf(d, count / problem.stages));
    fullest = std::max(fullest, even.devices[d].memoryBytes);
    all += even.devices[d].timePs;
  }
  int64_t limit = problem.memoryLimitBytes.value_or(fullest);
  std::vector<int64_t> behind;
  if (fullest > limit && alike->findRooms(all, limit, behind))
    return std::nullopt;
  even.ranges = equalRanges(count, problem.stages * problem.interleave);
  findHeaviest(even);
  even.lowerBoundPs = even.heaviestPs();
  return even;
}
