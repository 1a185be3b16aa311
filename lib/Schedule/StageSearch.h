//===- StageSearch.h - Limits that a split can meet -------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SCHEDULE_STAGESEARCH_H
#define AUTOPAR_LIB_SCHEDULE_STAGESEARCH_H

#include "AlikeLayers.h"

namespace autopar::schedule {

/// Sums over layers of one quantity: time or memory.
struct LayerSums {
  /// `sums[i]` is the sum over the layers before layer i.
  std::vector<int64_t> sums;
  int64_t embedding = 0, head = 0;
  /// `smallest[n]` is the sum over the n smallest layers.
  std::vector<int64_t> smallest;
  /// The distinct values of layers except 0, with their counts; empty if there
  /// are too many to be useful.
  std::vector<std::pair<int64_t, int64_t>> kinds;

  int64_t of(int64_t begin, int64_t end) const {
    return sums[end] - sums[begin];
  }
  int64_t ofLayer(int64_t layer) const { return of(layer, layer + 1); }
  /// Returns whether all layers but the first and the last have the same value.
  bool isAlike() const;
  int64_t all() const { return sums.back() + embedding + head; }
  /// Returns the largest load of layers that is at most `room`: a sum of kinds,
  /// or `room` itself if there are too many kinds.
  int64_t fill(int64_t room) const;
  /// Returns an upper bound of the number of layers that fit in `room`.
  int64_t mostLayers(int64_t room) const;
  /// Returns the smallest load of layers that is not below `least`: the total
  /// minus the largest load of the other layers.
  int64_t above(int64_t least) const {
    return least >= sums.back() ? least
                                : sums.back() - fill(sums.back() - least);
  }
  /// Returns whether a device with `ranges` ranges has room for layer `layer`
  /// and, in its other ranges, for the smallest layers.
  bool canHold(int64_t layer, int64_t ranges, int64_t room) const {
    return of(layer, layer + 1) + (ranges - 1) * smallest[1] <= room;
  }
};

/// Searches for splits under limits on the time and the memory of every device.
/// A round consists of the ranges that follow each other on devices 0 to stages
/// - 1.
class StageSearch {
public:
  /// The arguments must outlive the object. `saved` counts once for each
  /// microbatch whose values a device keeps (`StagingProblem::keptOn`).
  StageSearch(const LayerSums &time, const LayerSums &memory,
              const LayerSums &saved, const StagingProblem &shape);

  enum class Answer { yes, no, unknown };
  /// Returns whether there is a split with no device above the limits; the
  /// answer is unknown after `budget` choices. After the answer yes, `ranges`
  /// returns such a split.
  Answer fit(int64_t timeLimit, int64_t memoryLimit, int64_t budget);
  const std::vector<LayerRange> &ranges() const { return found; }
  int64_t searched() const { return looked; }

private:
  /// What remains of the limits of a device.
  struct Room {
    int64_t time = 0, memory = 0;
  };
  /// The load of one or several devices.
  struct Load {
    int64_t time = 0, memory = 0, layers = 0;
  };
  /// A state of the search that failed in an attempt.
  struct Failure {
    uint64_t key = 0, attempt = 0;
  };

  LayerCost costOf(int64_t layer) const {
    return {time.ofLayer(layer), memory.ofLayer(layer), saved.ofLayer(layer)};
  }
  bool makeRooms(int64_t timeLimit, int64_t memoryLimit);
  bool makeRoomsAlike(int64_t timeLimit, int64_t memoryLimit);
  Load mostIn(Room room) const;
  // These functions return whether to stop the search, because a split is
  // complete or the budget is spent.
  bool tryRounds(int64_t round);
  bool place(int64_t device);
  bool choose(int64_t device, int64_t round, Room room);
  bool tryEnd(int64_t device, int64_t round, Room room, int64_t at);
  bool closeDevice(int64_t device, Room room);
  bool endDevice(int64_t device, int64_t at, bool nextIsSingle);
  int64_t reach(int64_t device, int64_t begin, Room room, int64_t last) const;
  Room after(Room room, int64_t begin, int64_t end) const;
  bool canHoldRest(int64_t device) const;
  Failure &failureOf(uint64_t key);
  void takeRanges();

  int64_t layers() const { return int64_t(time.sums.size()) - 1; }
  /// Returns the layer at which `round` begins on `device`; for device number
  /// `stages`, the layer at which the round ends.
  int64_t &cut(int64_t round, int64_t device) {
    return cuts[round * (stages + 1) + device];
  }
  int64_t cut(int64_t round, int64_t device) const {
    return cuts[round * (stages + 1) + device];
  }
  uint64_t keyOf(int64_t device) const;

  const LayerSums &time, &memory, &saved;
  int64_t stages, interleave;
  /// Present if all layers but the first and the last are alike.
  std::optional<AlikeLayers> alike;
  /// For each device, the number of microbatches whose values it keeps.
  std::vector<int64_t> kept;
  /// For each device, its limits (`rooms`), and the most that it and all later
  /// devices can hold (`rest`).
  std::vector<Room> rooms;
  std::vector<Load> rest;
  /// For each device, how many layers fit on it and on the devices after it, if
  /// layers are alike.
  std::vector<int64_t> behind;
  std::vector<int64_t> cuts;
  /// For each device, whether its range of the last round must have exactly one
  /// layer.
  std::vector<char> isSingle;
  std::vector<LayerRange> found;
  /// A hash table that may forget entries. It is empty before the first
  /// failure, and if keys do not fit.
  std::vector<Failure> failures;
  bool remembers = false;
  uint64_t keyBits = 0, attempt = 0;
  int64_t looked = 0, end = 0;
  bool complete = false;
};

} // namespace autopar::schedule

#endif // AUTOPAR_LIB_SCHEDULE_STAGESEARCH_H
