//===- Search.h - Best first over layouts -----------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_RESHARD_SEARCH_H
#define AUTOPAR_LIB_RESHARD_SEARCH_H

#include "LowerBound.h"

#include <optional>
#include <queue>
#include <unordered_map>

namespace autopar::reshard {

/// The cost of a sequence of steps; the most important member comes first.
struct ReshardCost {
  int64_t sent = 0;
  uint32_t moving = 0, steps = 0;
  /// The kinds of the steps, four bits each, from the highest bits on, so that
  /// equal costs compare by the order of kinds. Steps beyond the 16th are
  /// ignored.
  uint64_t kinds = 0;

  ReshardCost after(ReshardKind kind, int64_t bytes) const;
  ReshardCost operator+(const ReshardCost &other) const {
    return {sent + other.sent, moving + other.moving, steps + other.steps,
            kinds};
  }
  bool operator<(const ReshardCost &other) const;
};

/// Searches layouts by A*. The heuristic is the least amount that each device
/// still lacks. A step never lowers it by more than the step costs, so that a
/// layout has its final cost when it is taken from the queue, and few layouts
/// are visited if one step is best.
class Search {
public:
  Search(const ShardLayout &from, const ShardLayout &to,
         const ReshardSpace &space, Steps &steps)
      : start(from), goal(to), space(space), steps(steps),
        toSend(to, space, steps) {}

  /// Returns the steps; nothing if the search exceeded its limit.
  std::optional<std::vector<ReshardStep>> run();

private:
  struct Node {
    ReshardStep step;
    ReshardCost cost;
    size_t before = 0;
    bool done = false;
  };
  struct Entry {
    ReshardCost estimate;
    /// A lower estimate of the amount to send, to choose between equal entries.
    int64_t lacking = 0;
    size_t node = 0;
    /// Whether the entry stands for the permutes of the node.
    bool permutes = false;
    bool operator<(const Entry &other) const;
  };
  struct Hash {
    size_t operator()(const ShardLayout &layout) const;
  };

  bool expand(const Entry &entry);
  void postpone(const Entry &entry);
  void reach(ReshardStep step, size_t before, const ReshardCost &cost);
  ReshardCost toCome(const ShardLayout &layout) const;
  bool canSlice(const Axes &split, size_t dim) const;
  std::vector<ReshardStep> pathTo(size_t node);

  const ShardLayout &start, &goal;
  const ReshardSpace &space;
  Steps &steps;
  LowerBound toSend;
  std::vector<Node> nodes;
  std::unordered_map<ShardLayout, size_t, Hash> nodeOf;
  std::priority_queue<Entry> queue;
};

} // namespace autopar::reshard

#endif // AUTOPAR_LIB_RESHARD_SEARCH_H
