//===- Packer.cpp ---------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Packer.h"

#include <algorithm>
#include <numeric>
#include <queue>

using namespace autopar;
using namespace autopar::placement;

/// If the maximum load exceeds its bound by less than this fraction, it is not
/// improved further.
static constexpr double closeEnough = 2e-4;

Packer::Packer(const Cell &cell, std::vector<int64_t> counts, double bound)
    : cell(cell), counts(std::move(counts)), shares(cell.loads.size()),
      target(bound * (1 + closeEnough)), epsilon(bound * loadEpsilon),
      width(static_cast<size_t>(cell.slotsPerRank)),
      held(static_cast<size_t>(cell.slots()), -1),
      loads(static_cast<size_t>(cell.ranks)), rising(held.size()),
      falling(loads.size()) {
  for (size_t expert = 0; expert < shares.size(); ++expert)
    setCount(static_cast<int32_t>(expert), this->counts[expert]);
}

void Packer::setCount(int32_t expert, int64_t count) {
  counts[expert] = count;
  shares[expert] = cell.loads[expert] / count;
}

bool Packer::holds(size_t rank, int32_t expert, size_t except,
                   size_t except2) const {
  for (size_t slot = begin(rank); slot < end(rank); ++slot)
    if (held[slot] == expert && slot != except && slot != except2)
      return true;
  return false;
}

void Packer::sumUp(size_t rank) {
  loads[rank] = 0;
  for (size_t slot = begin(rank); slot < end(rank); ++slot)
    if (held[slot] >= 0)
      loads[rank] += share(held[slot]);
}

//===----------------------------------------------------------------------===//
// The first assignment of experts to slots
//===----------------------------------------------------------------------===//

/// Makes room for `expert` if all ranks with a free slot hold this expert
/// already. In this case some full rank does not hold it and has more experts
/// than such a rank, so that one of its experts can move there. Returns the
/// rank that has room now.
size_t Packer::makeRoomFor(int32_t expert) {
  size_t open = 0;
  while (held[end(open) - 1] >= 0)
    ++open;
  for (size_t slot = 0;; ++slot) {
    size_t rank = rankOf(slot);
    if (rank == open || holds(rank, expert) || holds(open, held[slot]) ||
        held[end(rank) - 1] < 0)
      continue;
    put(open, held[slot]);
    // The last slot of the rank becomes the free one.
    held[slot] = held[end(rank) - 1];
    held[end(rank) - 1] = -1;
    sumUp(rank);
    return rank;
  }
}

void Packer::put(size_t rank, int32_t expert) {
  // The slots of a rank are filled in order.
  auto first = held.begin() + static_cast<ptrdiff_t>(begin(rank));
  *std::partition_point(first, first + static_cast<ptrdiff_t>(width),
                        [](int32_t other) { return other >= 0; }) = expert;
  loads[rank] += share(expert);
}

void Packer::fill() {
  std::vector<int32_t> experts(cell.loads.size());
  std::iota(experts.begin(), experts.end(), 0);
  std::sort(experts.begin(), experts.end(), [&](int32_t a, int32_t b) {
    return std::pair(-share(a), a) < std::pair(-share(b), b);
  });
  // The ranks with a free slot. The least loaded one is on top; of equally
  // loaded ranks, the first.
  using Rank = std::pair<double, size_t>;
  std::priority_queue<Rank, std::vector<Rank>, std::greater<>> open;
  for (size_t rank = 0; rank < loads.size(); ++rank)
    open.push({0, rank});
  std::vector<size_t> holding;
  for (int32_t expert : experts) {
    holding.clear();
    for (int64_t i = 0; i < counts[expert]; ++i) {
      size_t rank = open.empty() ? makeRoomFor(expert) : open.top().second;
      if (!open.empty())
        open.pop();
      put(rank, expert);
      holding.push_back(rank);
    }
    for (size_t rank : holding)
      if (held[end(rank) - 1] < 0)
        open.push({loads[rank], rank});
  }
}

void Packer::takeFrom(const Packer &other) {
  held = other.held;
  counts = other.counts;
  shares = other.shares;
  loads = other.loads;
  rising = other.rising;
  falling = other.falling;
}

void Packer::pack(Steps &steps) {
  fill();
  for (size_t i = 0; i < rising.size(); ++i)
    rising[i] = {0, i};
  std::iota(falling.begin(), falling.end(), 0);
  sortAll();
  descend(steps);
}
