//===- Fixtures.h - Layouts, devices, and a second opinion ------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_TEST_UNIT_RESHARD_FIXTURES_H
#define AUTOPAR_TEST_UNIT_RESHARD_FIXTURES_H

#include "autopar/Reshard/Planner.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

namespace autopar::test {

using Axes = std::vector<program::AxisId>;
using AxisSet = std::set<program::AxisId>;

inline AxisSet setOf(const Axes &axes) { return {axes.begin(), axes.end()}; }

/// "[a*b, _, c] partial [d]"
std::string textOf(const reshard::ShardLayout &layout);
/// "all_gather 0 a*b; all_slice 1 c"
std::string textOf(const std::vector<reshard::ReshardStep> &steps);

/// Every layout of a tensor of rank `space.dims.size()`.
std::vector<reshard::ShardLayout>
allLayouts(const reshard::ReshardSpace &space);

reshard::ReshardSpace makeSpace(std::vector<int64_t> sizes, size_t rank);

//===----------------------------------------------------------------------===//
// A search that shares nothing with the planner
//===----------------------------------------------------------------------===//

struct Fraction {
  int64_t over = 0, under = 1;
  Fraction operator+(const Fraction &other) const;
  bool operator<(const Fraction &other) const;
  bool operator==(const Fraction &other) const;
};

/// Sent bytes, steps that move any, steps, kinds: as the planner's promise.
using Price = std::tuple<Fraction, int, int, std::vector<reshard::ReshardKind>>;

/// The collectives as equations between two layouts, whole layouts as nodes,
/// and Dijkstra's algorithm over all of them.
class BruteForce {
public:
  explicit BruteForce(const reshard::ReshardSpace &space);

  const std::vector<reshard::ShardLayout> &layouts() const { return all; }
  /// By kind, what a step between two layouts sends, where there is one.
  std::map<reshard::ReshardKind, Fraction>
  stepsBetween(const reshard::ShardLayout &from,
               const reshard::ShardLayout &to) const;
  /// By number of layout, the least price from layout `from`, over the layouts
  /// of which `allowed` holds.
  template <typename Allowed>
  std::vector<std::optional<Price>> pricesFrom(size_t from,
                                               Allowed allowed) const {
    std::vector<bool> usable;
    for (const reshard::ShardLayout &layout : all)
      usable.push_back(allowed(layout));
    return prices(from, usable);
  }

private:
  struct Edge {
    size_t to;
    reshard::ReshardKind kind;
    Fraction sent;
  };
  std::vector<std::optional<Price>>
  prices(size_t from, const std::vector<bool> &usable) const;
  int64_t product(const Axes &axes) const;
  std::optional<Axes> added(const Axes &less, const Axes &more,
                            size_t dim) const;
  bool permutes(const reshard::ShardLayout &from,
                const reshard::ShardLayout &to) const;
  bool exchanges(const reshard::ShardLayout &from,
                 const reshard::ShardLayout &to, size_t giver, size_t taker,
                 Axes &axes) const;

  reshard::ReshardSpace space;
  std::vector<reshard::ShardLayout> all;
  std::vector<std::vector<Edge>> edges;
};

//===----------------------------------------------------------------------===//
// Devices that hold data
//===----------------------------------------------------------------------===//

/// A small array over the devices of a mesh. Block i of n of an extent e is
/// [i*e/n, (i+1)*e/n), rounded down: such splits nest, even or not.
class Devices {
public:
  Devices(std::vector<int64_t> extents, std::vector<int64_t> axisSizes,
          const reshard::ShardLayout &layout);

  /// Each returns what is wrong, or nothing.
  std::string run(const reshard::ReshardStep &step);
  std::string compare(const reshard::ShardLayout &goal) const;

private:
  using Values = std::vector<std::optional<int64_t>>;

  int64_t coordinate(int64_t device, program::AxisId axis) const;
  std::pair<int64_t, int64_t> block(const reshard::ShardLayout &layout,
                                    int64_t device, size_t dim) const;
  bool holds(const reshard::ShardLayout &layout, int64_t device,
             int64_t element) const;
  std::vector<int64_t> group(int64_t device, const Axes &axes) const;
  std::string fill(const reshard::ReshardStep &step, int64_t device,
                   Values &now) const;
  std::string permute(const reshard::ReshardStep &step,
                      std::vector<Values> &now) const;
  std::optional<int64_t> sum(const std::vector<int64_t> &devices,
                             int64_t element) const;

  std::vector<int64_t> extents, sizes;
  reshard::ShardLayout layout;
  int64_t elements = 1;
  /// By device, all elements of the array; those it does not hold are empty.
  std::vector<Values> data;
};

} // namespace autopar::test

#endif // AUTOPAR_TEST_UNIT_RESHARD_FIXTURES_H
