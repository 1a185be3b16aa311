//===- Polynomial.h - Whole numbers as sums of products ---------*- C++ -*-===//
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
#include <optional>
#include <unordered_map>

namespace autopar {

/// The nodes of a product, rising; few.
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
/// By rising atoms, each product once.
using Terms = std::vector<Term>;

/// Whether b - a has no negative term: nodes of whole numbers are none, so a is
/// at most b.
bool isNeverAbove(const Terms &a, const Terms &b);

/// Expands the sums and products of whole numbers of a graph. Extents that are
/// divided by the same devices share one division, of their greatest common
/// divisor.
class Polynomials {
public:
  explicit Polynomials(const Graph &graph);

  /// Whether `id` is expanded: a sum, a product, a divided extent.
  bool isSum(NodeId id);
  const Terms &of(NodeId id);
  /// What is divided in place of the extent of `Op::split` over `devices`;
  /// nothing where that is no number.
  std::optional<int64_t> numerator(NodeId extent, NodeId devices) const;

private:
  struct Division {
    NodeId first;
    int64_t common;
  };

  void expand(NodeId id);
  Terms expandSum(NodeId id);
  bool multiply(const Terms &a, const Terms &b, Terms &result) const;

  const Graph &graph;
  /// By devices.
  std::unordered_map<NodeId, Division> divisions;
  std::vector<Terms> terms;
  enum class State : uint8_t { open, sum, atom };
  std::vector<State> states;
};

} // namespace autopar

#endif // AUTOPAR_LIB_COST_POLYNOMIAL_H
