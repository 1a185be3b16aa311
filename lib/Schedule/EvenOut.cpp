//===- EvenOut.cpp --------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EvenOut.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::schedule;

namespace {

class Evener {
public:
  Evener(const StagingProblem &problem, int64_t memoryLimit,
         StagePartition &partition)
      : problem(problem), memoryLimit(memoryLimit), partition(partition),
        loads(partition.devices.size()), isTouched(loads.size()),
        layerTime(timeOfEach(problem)) {}
  void run();

private:
  /// The largest number of changes that are tried, so that large problems end.
  static constexpr int64_t mostChanges = 100'000;

  bool hasTaker(int64_t range, int64_t step) const;
  bool moveFrom(int64_t device);
  bool ripple(int64_t range, int64_t step);
  void apply(int64_t range, int64_t to, int64_t step);
  void change(int64_t range, int64_t layer, int64_t sign);
  bool isTooMuch(int64_t device) const {
    return isTouched[device] && (loads[device].timePs >= timeLimit ||
                                 loads[device].memoryBytes > memoryLimit);
  }
  /// Returns the layer that `range` gives to the range after it (`step` > 0) or
  /// before it.
  int64_t givenLayer(int64_t range, int64_t step) const {
    const LayerRange &layers = partition.ranges[range];
    return step > 0 ? layers.end - 1 : layers.begin;
  }

  const StagingProblem &problem;
  int64_t memoryLimit;
  StagePartition &partition;
  /// The state of the ripple that is tried: the new loads of all devices, the
  /// devices that it touches, the time that they must stay below, and the
  /// number of devices that do not.
  std::vector<LayerCost> loads;
  std::vector<char> isTouched;
  /// The time of any layer that may move, in ps; 0 if layers differ.
  Picoseconds layerTime;
  Picoseconds timeLimit = 0;
  int64_t tooMuch = 0, changes = 0;
};

} // namespace

Picoseconds autopar::schedule::timeOfEach(const StagingProblem &problem) {
  const std::vector<LayerCost> &layers = problem.layers;
  if (layers.size() < 3)
    return 0;
  bool isSame = std::all_of(
      layers.begin() + 1, layers.end() - 1,
      [&](const LayerCost &layer) { return layer.timePs == layers[1].timePs; });
  return isSame ? layers[1].timePs : 0;
}

void Evener::change(int64_t range, int64_t layer, int64_t sign) {
  ++changes;
  int64_t device = range % partition.stages;
  tooMuch -= isTooMuch(device);
  isTouched[device] = true;
  loads[device].timePs += sign * problem.layers[layer].timePs;
  loads[device].memoryBytes +=
      sign * (problem.layers[layer].memoryBytes +
              problem.keptOn(device) * problem.layers[layer].savedBytes);
  tooMuch += isTooMuch(device);
}

void Evener::apply(int64_t range, int64_t to, int64_t step) {
  for (; range != to; range += step) {
    LayerRange &before = partition.ranges[std::min(range, range + step)];
    before.end -= step;
    partition.ranges[std::max(range, range + step)].begin = before.end;
  }
  partition.devices = loads;
}

/// Passes a layer on from `range` to the next range, and from there further and
/// further. Returns whether this helps.
bool Evener::ripple(int64_t range, int64_t step) {
  if (layerTime != 0 && !hasTaker(range, step))
    return false;
  loads = partition.devices;
  std::fill(isTouched.begin(), isTouched.end(), false);
  tooMuch = 0;
  int64_t layer = givenLayer(range, step);
  change(range, layer, -1);
  auto ranges = static_cast<int64_t>(partition.ranges.size());
  for (int64_t to = range + step; to >= 0 && to < ranges; to += step) {
    change(to, layer, 1);
    if (tooMuch == 0) {
      apply(range, to, step);
      return true;
    }
    layer = givenLayer(to, step);
    change(to, layer, -1);
  }
  return false;
}

/// Returns whether a device beyond `range` has time for one more layer. If all
/// layers are alike, the devices in between keep their time, which must be
/// below that of the device that gives.
bool Evener::hasTaker(int64_t range, int64_t step) const {
  auto ranges = static_cast<int64_t>(partition.ranges.size());
  int64_t stages = partition.stages, giver = range % stages;
  for (int64_t to = range + step; to >= 0 && to < ranges; to += step) {
    int64_t device = to % stages;
    if (device == giver)
      continue;
    Picoseconds time = partition.devices[device].timePs;
    if (time + layerTime < timeLimit)
      return true;
    if (time >= timeLimit)
      return false;
  }
  return false;
}

bool Evener::moveFrom(int64_t device) {
  timeLimit = partition.devices[device].timePs;
  auto ranges = static_cast<int64_t>(partition.ranges.size());
  for (int64_t range = device; range < ranges; range += partition.stages) {
    const LayerRange &layers = partition.ranges[range];
    if (layers.end - layers.begin > 1 &&
        (ripple(range, 1) || ripple(range, -1)))
      return true;
    if (changes > mostChanges)
      return false;
  }
  return false;
}

/// Moves layers as long as this helps. Every move lowers the list of times,
/// sorted with the longest first.
void Evener::run() {
  LongestFirst order(partition.devices.size());
  auto timeOf = [&](int64_t device) {
    return partition.devices[device].timePs;
  };
  bool moved = true;
  while (moved && changes <= mostChanges) {
    const std::vector<int64_t> &givers = order.sort(timeOf);
    // If all layers are alike, the device with the shortest time is the first
    // that could take one.
    Picoseconds taken = layerTime ? timeOf(givers.back()) + layerTime : 0;
    changes += partition.stages;
    moved = std::any_of(givers.begin(), givers.end(), [&](int64_t device) {
      return taken < timeOf(device) && changes <= mostChanges &&
             moveFrom(device);
    });
  }
}

void autopar::schedule::evenOut(const StagingProblem &problem,
                                int64_t memoryLimit,
                                StagePartition &partition) {
  Evener(problem, memoryLimit, partition).run();
}
