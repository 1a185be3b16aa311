//===- StageSearch.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageSearch.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::schedule;

//===----------------------------------------------------------------------===//
// Bounds on what devices can hold
//===----------------------------------------------------------------------===//

using Kinds = std::vector<std::pair<int64_t, int64_t>>;

/// Returns the largest sum of values, out of the kinds from number `kind` on,
/// that is at most `room`.
static int64_t largestSum(const Kinds &kinds, size_t kind, int64_t room) {
  if (kind == kinds.size())
    return 0;
  auto [value, count] = kinds[kind];
  int64_t most = std::min(count, room / value);
  if (kind + 1 == kinds.size())
    return most * value;
  int64_t best = 0;
  for (int64_t n = 0; n <= most && best < room; ++n)
    best = std::max(best,
                    n * value + largestSum(kinds, kind + 1, room - n * value));
  return best;
}

int64_t LayerSums::fill(int64_t room) const {
  constexpr int64_t tooMany = 4096;
  if (kinds.empty())
    return std::min(room, sums.back());
  int64_t combinations = 1;
  for (size_t i = 0; i + 1 < kinds.size(); ++i) {
    int64_t most = std::min(kinds[i].second, room / kinds[i].first) + 1;
    if (most > tooMany / combinations)
      return std::min(room, sums.back());
    combinations *= most;
  }
  return largestSum(kinds, 0, room);
}

bool LayerSums::isAlike() const {
  auto last = static_cast<int64_t>(sums.size()) - 2;
  for (int64_t layer = 2; layer < last; ++layer)
    if (ofLayer(layer) != ofLayer(1))
      return false;
  return last >= 2;
}

int64_t LayerSums::mostLayers(int64_t room) const {
  return std::upper_bound(smallest.begin() + 1, smallest.end(), room) -
         smallest.begin() - 1;
}

/// Returns the most that fits into `room`: bounds of time alone and of memory
/// alone, and the number of layers that both allow.
StageSearch::Load StageSearch::mostIn(Room room) const {
  return {time.fill(room.time), memory.fill(room.memory),
          std::min(time.mostLayers(room.time), memory.mostLayers(room.memory))};
}

/// Fills `rooms` and `rest`. Returns false if it is certain that the limits
/// cannot be met.
bool StageSearch::makeRooms(int64_t timeLimit, int64_t memoryLimit) {
  rooms.assign(stages, {timeLimit, memoryLimit});
  rooms.front().time -= time.embedding;
  rooms.front().memory -= memory.embedding + kept.front() * saved.embedding;
  rooms.back().time -= time.head;
  rooms.back().memory -= memory.head + kept.back() * saved.head;
  if (alike)
    return makeRoomsAlike(timeLimit, memoryLimit);
  auto canHold = [&](int64_t layer, const Room &room) {
    return time.canHold(layer, interleave, room.time) &&
           memory.canHold(layer, interleave, room.memory);
  };
  if (!canHold(0, rooms.front()) || !canHold(layers() - 1, rooms.back()))
    return false;
  Load inner = mostIn({timeLimit, memoryLimit});
  rest.assign(stages + 1, {});
  for (int64_t d = stages; d-- > 0;) {
    bool atEnd = d == 0 || d == stages - 1;
    Load held = atEnd ? mostIn(rooms[d]) : inner;
    // Sums are limited to the total, because larger sums might overflow.
    rest[d].time = std::min(rest[d + 1].time + held.time, time.sums.back());
    rest[d].memory =
        std::min(rest[d + 1].memory + held.memory, memory.sums.back());
    rest[d].layers = rest[d + 1].layers + held.layers;
  }
  return rest[0].time >= time.sums.back() &&
         rest[0].memory >= memory.sums.back() && rest[0].layers >= layers();
}

/// Fills `rest` if all layers between the ends are alike, so that only the
/// number of layers per device counts. Returns false if it is certain that the
/// limits cannot be met.
bool StageSearch::makeRoomsAlike(int64_t timeLimit, int64_t memoryLimit) {
  if (!alike->findRooms(timeLimit, memoryLimit, behind))
    return false;
  rest.assign(stages + 1, {time.sums.back(), memory.sums.back(), 0});
  for (int64_t d = 0; d < stages; ++d)
    rest[d].layers = behind[d];
  return true;
}

/// Returns whether the devices from `device` on can hold the layers that are
/// not placed yet.
bool StageSearch::canHoldRest(int64_t device) const {
  Load open;
  for (int64_t r = 0; r < interleave; ++r) {
    open.time += time.of(cut(r, device), cut(r, stages));
    open.memory += memory.of(cut(r, device), cut(r, stages));
    open.layers += cut(r, stages) - cut(r, device);
  }
  const Load &most = rest[device];
  return open.time <= most.time && open.memory <= most.memory &&
         open.layers <= most.layers;
}

//===----------------------------------------------------------------------===//
// States that failed before
//===----------------------------------------------------------------------===//

uint64_t StageSearch::keyOf(int64_t device) const {
  auto key = static_cast<uint64_t>(2 * device + isSingle[device]);
  for (int64_t r = 0; r < interleave; ++r)
    key = key << keyBits | static_cast<uint64_t>(cut(r, device));
  return key;
}

StageSearch::Failure &StageSearch::failureOf(uint64_t key) {
  uint64_t hash = key * 0x9E3779B97F4A7C15u;
  return failures[hash >> 32 & (failures.size() - 1)];
}

//===----------------------------------------------------------------------===//
// The search itself
//===----------------------------------------------------------------------===//

StageSearch::StageSearch(const LayerSums &time, const LayerSums &memory,
                         const LayerSums &saved, const StagingProblem &shape)
    : time(time), memory(memory), saved(saved), stages(shape.stages),
      interleave(shape.interleave), cuts((stages + 1) * interleave),
      isSingle(stages + 1) {
  for (int64_t d = 0; d < stages; ++d)
    kept.push_back(shape.keptOn(d));
  constexpr uint64_t deviceBits = 14;
  if (time.isAlike() && memory.isAlike() && saved.isAlike()) {
    LayerCost embedding{time.embedding, memory.embedding, saved.embedding},
        head{time.head, memory.head, saved.head}, each = costOf(1);
    alike.emplace(shape, each, embedding + costOf(0) - each,
                  head + costOf(layers() - 1) - each, layers());
  }
  while (layers() >> keyBits)
    ++keyBits;
  remembers = interleave > 1 && deviceBits + interleave * keyBits <= 64;
}

StageSearch::Answer StageSearch::fit(int64_t timeLimit, int64_t memoryLimit,
                                     int64_t budget) {
  if (!makeRooms(timeLimit, memoryLimit))
    return Answer::no;
  end = looked + budget;
  complete = false;
  isSingle[0] = false;
  cut(0, 0) = 0;
  cut(interleave - 1, stages) = layers();
  if (!tryRounds(1))
    return Answer::no;
  if (!complete)
    return Answer::unknown;
  takeRanges();
  return Answer::yes;
}

/// Calls `body` with the numbers from `first` to `last`, from `middle`
/// outwards, until it returns true. Returns whether it did.
template <typename Body>
static bool anyOutwards(int64_t first, int64_t last, int64_t middle,
                        Body body) {
  if (first > last)
    return false;
  middle = middle < first ? first : middle > last ? last : middle;
  for (int64_t away = 0; middle + away <= last || middle - away >= first;
       ++away) {
    if (middle + away <= last && body(middle + away))
      return true;
    if (away && middle - away >= first && body(middle - away))
      return true;
  }
  return false;
}

/// Tries all layers at which the rounds from `round` on may begin, even rounds
/// first.
bool StageSearch::tryRounds(int64_t round) {
  if (round == interleave) {
    ++attempt;
    return place(0);
  }
  int64_t begin = cut(round - 1, 0), left = interleave - round + 1;
  int64_t first = begin + stages, last = layers() - (left - 1) * stages;
  return anyOutwards(first, last, begin + (layers() - begin) / left,
                     [&](int64_t at) {
                       cut(round - 1, stages) = cut(round, 0) = at;
                       return tryRounds(round + 1);
                     });
}

bool StageSearch::place(int64_t device) {
  if (device == stages)
    return complete = true;
  if (!canHoldRest(device))
    return false;
  uint64_t key = keyOf(device);
  if (!failures.empty()) {
    const Failure &failure = failureOf(key);
    if (failure.attempt == attempt && failure.key == key)
      return false;
  }
  if (choose(device, 0, rooms[device]))
    return true;
  constexpr size_t tableSize = size_t(1) << 14;
  if (remembers && failures.empty())
    failures.resize(tableSize);
  if (remembers)
    failureOf(key) = {key, attempt};
  return false;
}

/// Returns the furthest end, at most `last`, such that the layers from `begin`
/// to this end fit in `room`.
int64_t StageSearch::reach(int64_t device, int64_t begin, Room room,
                           int64_t last) const {
  auto furthest = [&](const LayerSums &sums, int64_t limit) {
    auto from = sums.sums.begin() + begin, to = sums.sums.begin() + last + 1;
    return std::upper_bound(from, to, sums.sums[begin] + limit) -
           sums.sums.begin() - 1;
  };
  int64_t end = std::min<int64_t>(furthest(time, room.time),
                                  furthest(memory, room.memory));
  while (kept[device] > 0 && end > begin &&
         memory.of(begin, end) + kept[device] * saved.of(begin, end) >
             room.memory)
    --end;
  return end;
}

StageSearch::Room StageSearch::after(Room room, int64_t begin,
                                     int64_t end) const {
  return {room.time - time.of(begin, end), room.memory - memory.of(begin, end)};
}

/// Chooses the layers of `device` in `round` and in later rounds: at least one
/// layer, with at least one left for each device after it.
bool StageSearch::choose(int64_t device, int64_t round, Room room) {
  if (round + 1 == interleave)
    return closeDevice(device, room);
  int64_t begin = cut(round, device), left = stages - device;
  int64_t last = cut(round, stages) - (left - 1);
  int64_t first = left == 1 ? last : begin + 1;
  if (begin >= last)
    return false;
  int64_t even = begin + (cut(round, stages) - begin + left / 2) / left;
  return anyOutwards(
      first, reach(device, begin, room, last), even,
      [&](int64_t at) { return tryEnd(device, round, room, at); });
}

bool StageSearch::tryEnd(int64_t device, int64_t round, Room room, int64_t at) {
  if (++looked > end)
    return true;
  // The last device ends where the round ends.
  cut(round, device + 1) = at;
  return choose(device, round + 1, after(room, cut(round, device), at));
}

/// The last range of a device takes as much as it can. Proof sketch: of all
/// splits that differ in the last round only, take the one that ends its ranges
/// furthest, device by device. A range that could end one layer later does not
/// do so only because the next range has that layer alone and cannot take the
/// layer after it instead, or could, but then the range after next has that one
/// alone, and so on. Without interleaving every inner device can have every
/// layer alone.
bool StageSearch::closeDevice(int64_t device, Room room) {
  int64_t begin = cut(interleave - 1, device);
  int64_t furthest =
      reach(device, begin, room, layers() - (stages - 1 - device));
  if (furthest == begin)
    return false;
  if (isSingle[device]) {
    int64_t next = begin + 1, last = std::min(next + 1, layers());
    return endDevice(device, next, reach(device, next, room, last) > next);
  }
  if (endDevice(device, furthest, false))
    return true;
  if (interleave == 1 || device + 1 == stages)
    return false;
  for (int64_t at = furthest - 1; at > begin; --at)
    if (endDevice(device, at, true))
      return true;
  return false;
}

bool StageSearch::endDevice(int64_t device, int64_t at, bool nextIsSingle) {
  if (++looked > end)
    return true;
  if (device + 1 == stages && at < layers())
    return false;
  cut(interleave - 1, device + 1) = at;
  isSingle[device + 1] = nextIsSingle;
  return place(device + 1);
}

void StageSearch::takeRanges() {
  found.clear();
  for (int64_t r = 0; r < interleave; ++r)
    for (int64_t d = 0; d < stages; ++d)
      found.push_back({cut(r, d), cut(r, d + 1)});
}
