//===- Polynomial.h - Integers as sums of products --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_COST_POLYNOMIAL_H
#define AUTOPAR_LIB_COST_POLYNOMIAL_H

#include "autopar/Cost/Graph.h"

#include <algorithm>
#include <array>
#include <memory_resource>
#include <optional>
#include <unordered_map>
#include <vector>

namespace autopar::cost {

/// The nodes of a product, sorted; at most `capacity` nodes.
class Atoms {
public:
  static constexpr size_t capacity = 8;

  const NodeId *begin() const { return atoms.data(); }
  const NodeId *end() const { return atoms.data() + count; }
  size_t size() const { return count; }
  bool empty() const { return count == 0; }
  void add(NodeId atom) { atoms[count++] = atom; }
  friend bool operator==(const Atoms &a, const Atoms &b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  friend bool operator<(const Atoms &a, const Atoms &b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
  }

private:
  uint32_t count = 0;
  std::array<NodeId, capacity> atoms{};
};

/// The number `factor` times a product of nodes, none of which is a sum.
struct Term {
  double factor = 0;
  Atoms atoms;
};
/// A polynomial: its terms are sorted by their atoms, and each product occurs
/// once. The class only views the terms; others own their memory.
class Terms {
public:
  Terms() = default;
  Terms(const Term *terms, size_t count) : terms(terms), count(count) {}
  Terms(const std::vector<Term> &all) : Terms(all.data(), all.size()) {}

  const Term *begin() const { return terms; }
  const Term *end() const { return terms + count; }
  size_t size() const { return count; }

private:
  const Term *terms = nullptr;
  size_t count = 0;
};

/// Returns whether b - a has no negative term. Nodes of integers are never
/// negative, so that a is then at most b.
bool isNeverAbove(Terms a, Terms b);

/// Expands the sums and products of integers in a graph. Extents that are
/// divided by the same devices share one division, that of their greatest
/// common divisor.
class Polynomials {
public:
  /// The results are allocated in `memory`.
  Polynomials(const Graph &graph, std::pmr::memory_resource &memory);

  /// Returns whether node `id` was expanded: a sum, a product or a divided
  /// extent.
  bool isSum(NodeId id);
  Terms of(NodeId id);
  /// Returns the number that is divided by `devices` in place of the extent of
  /// an op `split`; nothing if this number is not a constant.
  std::optional<int64_t> numerator(NodeId extent, NodeId devices) const;

private:
  struct Division {
    NodeId first;
    int64_t common;
  };

  void expand(NodeId id);
  void expandSum(NodeId id);
  bool multiply(Terms a, Terms b);
  Terms take(size_t first);

  const Graph &graph;
  std::pmr::memory_resource &memory;
  /// The shared division for each number of devices.
  std::pmr::unordered_map<NodeId, Division> divisions;
  std::vector<Terms> terms;
  enum class State : uint8_t { open, sum, atom };
  std::vector<State> states;
  /// Two stacks for the sums that are being expanded, the innermost sum last:
  /// the operands of the sums with their signs, and the terms of these
  /// operands.
  std::vector<std::pair<NodeId, double>> operands;
  std::vector<Term> open;
};

} // namespace autopar::cost

#endif // AUTOPAR_LIB_COST_POLYNOMIAL_H
