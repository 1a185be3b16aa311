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

/// The nodes of a product, sorted; at most `capacity`.
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

/// `factor` times a product of nodes that are no sums themselves.
struct Term {
  double factor = 0;
  Atoms atoms;
};
/// A polynomial: terms sorted by their atoms, each product once. A view of
/// memory that others own.
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

/// Whether b - a has no negative term. Since integer nodes are never negative,
/// a is then at most b.
bool isNeverAbove(Terms a, Terms b);

/// Expands the sums and products of integers of a graph. Extents that are
/// divided by the same devices share one division, of their greatest common
/// divisor.
class Polynomials {
public:
  /// Results are allocated in `memory`.
  Polynomials(const Graph &graph, std::pmr::memory_resource &memory);

  /// Whether `id` is expanded: a sum, a product, a divided extent.
  bool isSum(NodeId id);
  Terms of(NodeId id);
  /// The number that is divided in place of the extent of `Op::split` over
  /// `devices`; nothing if it is not a constant.
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
  /// Divisions by devices.
  std::pmr::unordered_map<NodeId, Division> divisions;
  std::vector<Terms> terms;
  enum class State : uint8_t { open, sum, atom };
  std::vector<State> states;
  /// Stacks of the sums that are being expanded, the innermost last: their
  /// operands with signs, and the terms of these.
  std::vector<std::pair<NodeId, double>> operands;
  std::vector<Term> open;
};

} // namespace autopar::cost

#endif // AUTOPAR_LIB_COST_POLYNOMIAL_H
