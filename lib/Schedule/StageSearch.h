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

/// One quantity that adds up over layers: time or memory.
struct LayerSums {
  /// `sums[i]` is the sum over the layers before i.
  std::vector<int64_t> sums;
  int64_t embedding = 0, head = 0;
  /// `smallest[n]` is the sum of the n smallest layers.
  std::vector<int64_t> smallest;
  /// Non-zero values of layers with their counts; empty if there are too many
  /// to be useful.
  std::vector<std::pair<int64_t, int64_t>> kinds;

  int64_t of(int64_t begin, int64_t end) const {
    return sums[end] - sums[begin];
  }
  int64_t ofLayer(int64_t layer) const { return of(layer, layer + 1); }
  /// Whether all layers but the first and the last have the same.
  bool isAlike() const;
  int64_t all() const { return sums.back() + embedding + head; }
  /// The largest load of layers within `room`: `room` itself, or a sum of
  /// kinds.
  int64_t fill(int64_t room) const;
  /// Upper bound of the number of layers within `room`.
  int64_t mostLayers(int64_t room) const;
  /// The smallest load of layers that is not below `least`: the complement of
  /// the largest load of the other layers.
  int64_t above(int64_t least) const {
    return least >= sums.back() ? least
                                : sums.back() - fill(sums.back() - least);
  }
  /// Whether a device with `ranges` has room for its smallest layers, one of
  /// them layer `layer`.
  bool canHold(int64_t layer, int64_t ranges, int64_t room) const {
    return of(layer, layer + 1) + (ranges - 1) * smallest[1] <= room;
  }
};

/// Searches for splits under limits on the time and memory of every device. A
/// round is the ranges that follow each other on devices 0 to stages - 1.
class StageSearch {
public:
  /// The arguments outlive it. `saved` counts per microbatch whose values a
  /// device keeps (`StagingProblem::keptOn`).
  StageSearch(const LayerSums &time, const LayerSums &memory,
              const LayerSums &saved, const StagingProblem &shape);

  enum class Answer { yes, no, unknown };
  /// Whether a split has no device above the limits. After yes, `ranges` has
  /// one. Unknown after `budget` choices.
  Answer fit(int64_t timeLimit, int64_t memoryLimit, int64_t budget);
  const std::vector<LayerRange> &ranges() const { return found; }
  int64_t searched() const { return looked; }

private:
  /// The remaining limits of a device.
  struct Room {
    int64_t time = 0, memory = 0;
  };
  /// The load of devices.
  struct Load {
    int64_t time = 0, memory = 0, layers = 0;
  };
  /// A state that failed in an attempt.
  struct Failure {
    uint64_t key = 0, attempt = 0;
  };

  LayerCost costOf(int64_t layer) const {
    return {time.ofLayer(layer), memory.ofLayer(layer), saved.ofLayer(layer)};
  }
  bool makeRooms(int64_t timeLimit, int64_t memoryLimit);
  bool makeRoomsAlike(int64_t timeLimit, int64_t memoryLimit);
  Load mostIn(Room room) const;
  // These return whether to stop: a split is complete, or the budget is spent.
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
  /// The layer at which `round` begins on `device`; for device `stages`, at
  /// which it ends.
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
  /// By device: microbatches whose values it keeps.
  std::vector<int64_t> kept;
  /// By device: its limits, and the most that it and all later ones can hold.
  std::vector<Room> rooms;
  std::vector<Load> rest;
  /// Layers that fit on each device and those behind it, if layers are alike.
  std::vector<int64_t> behind;
  std::vector<int64_t> cuts;
  /// By device: whether its range of the last round is to have one layer.
  std::vector<char> isSingle;
  std::vector<LayerRange> found;
  /// A lossy hash table; empty before the first failure, and if keys do not
  /// fit.
  std::vector<Failure> failures;
  bool remembers = false;
  uint64_t keyBits = 0, attempt = 0;
  int64_t looked = 0, end = 0;
  bool complete = false;
};

} // namespace autopar::schedule

#endif // AUTOPAR_LIB_SCHEDULE_STAGESEARCH_H
