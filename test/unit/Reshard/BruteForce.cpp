//===- BruteForce.cpp - A search that shares nothing with the planner -----===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fixtures.h"

#include <algorithm>
#include <numeric>

using namespace autopar;
using namespace autopar::program;
using namespace autopar::reshard;
using namespace autopar::test;

//===----------------------------------------------------------------------===//
// Texts and layouts
//===----------------------------------------------------------------------===//

static std::string textOf(const Axes &axes, const char *between) {
  std::string text;
  for (AxisId axis : axes)
    text += (text.empty() ? "" : between) +
            std::string(1, static_cast<char>('a' + axis));
  return text.empty() ? "_" : text;
}

std::string autopar::test::textOf(const ShardLayout &layout) {
  std::string text;
  for (const Axes &axes : layout.dims)
    text += (text.empty() ? "[" : ", ") + ::textOf(axes, "*");
  text += "]";
  return layout.partial.empty()
             ? text
             : text + " partial [" + ::textOf(layout.partial, ", ") + "]";
}

std::string autopar::test::textOf(const std::vector<ReshardStep> &steps) {
  std::string text;
  for (const ReshardStep &step : steps) {
    bool gives = step.kind == ReshardKind::all_gather ||
                 step.kind == ReshardKind::all_to_all;
    bool takes = step.kind == ReshardKind::all_slice ||
                 step.kind == ReshardKind::reduce_scatter ||
                 step.kind == ReshardKind::all_to_all;
    text += (text.empty() ? "" : "; ") + std::string(nameOf(step.kind));
    text += gives ? " " + std::to_string(step.from) : "";
    text += takes ? " " + std::to_string(step.to) : "";
    text += " " + ::textOf(step.axes, "*");
  }
  return text;
}

ReshardSpace autopar::test::makeSpace(std::vector<int64_t> sizes, size_t rank) {
  ReshardSpace space;
  space.axisSizes = std::move(sizes);
  space.dims.resize(rank);
  return space;
}

/// Every layout, one axis after another: each may go anywhere in any split,
/// to the partial axes, or nowhere.
std::vector<ShardLayout> autopar::test::allLayouts(const ReshardSpace &space) {
  ShardLayout whole;
  whole.dims.resize(space.dims.size());
  std::vector<ShardLayout> layouts = {whole};
  for (AxisId axis = 0; axis < space.axisSizes.size(); ++axis) {
    std::vector<ShardLayout> more;
    for (const ShardLayout &layout : layouts) {
      more.push_back(layout);
      more.push_back(layout);
      more.back().partial.push_back(axis);
      for (size_t dim = 0; dim < layout.dims.size(); ++dim) {
        size_t places = layout.dims[dim].size();
        for (size_t at = space.dims[dim].isSet ? places : 0; at <= places;
             ++at) {
          more.push_back(layout);
          Axes &split = more.back().dims[dim];
          split.insert(split.begin() + static_cast<int64_t>(at), axis);
        }
      }
    }
    layouts = std::move(more);
  }
  return layouts;
}

//===----------------------------------------------------------------------===//
// Prices
//===----------------------------------------------------------------------===//

Fraction Fraction::operator+(const Fraction &other) const {
  Fraction sum = {over * other.under + other.over * under, under * other.under};
  int64_t divisor = std::gcd(sum.over, sum.under);
  return {sum.over / divisor, sum.under / divisor};
}

bool Fraction::operator<(const Fraction &other) const {
  return over * other.under < other.over * under;
}

bool Fraction::operator==(const Fraction &other) const {
  return over * other.under == other.over * under;
}

//===----------------------------------------------------------------------===//
// Equations
//===----------------------------------------------------------------------===//

BruteForce::BruteForce(const ReshardSpace &space)
    : space(space), all(allLayouts(space)), edges(all.size()) {
  for (size_t from = 0; from < all.size(); ++from)
    for (size_t to = 0; to < all.size(); ++to)
      for (auto [kind, sent] : stepsBetween(all[from], all[to]))
        edges[from].push_back({to, kind, sent});
}

int64_t BruteForce::product(const Axes &axes) const {
  int64_t product = 1;
  for (AxisId axis : axes)
    product *= space.axisSizes[axis];
  return product;
}

/// What `more` has behind `less`, where it has anything.
std::optional<Axes> BruteForce::added(const Axes &less, const Axes &more,
                                      size_t dim) const {
  if (less.size() >= more.size())
    return std::nullopt;
  if (!space.dims[dim].isSet) {
    if (Axes(more.begin(), more.begin() + static_cast<int64_t>(less.size())) !=
        less)
      return std::nullopt;
    return Axes(more.begin() + static_cast<int64_t>(less.size()), more.end());
  }
  Axes rest;
  std::set_difference(more.begin(), more.end(), less.begin(), less.end(),
                      std::back_inserter(rest));
  if (rest.size() + less.size() != more.size())
    return std::nullopt;
  return rest;
}

bool BruteForce::permutes(const ShardLayout &from,
                          const ShardLayout &to) const {
  for (size_t dim = 0; dim < from.dims.size(); ++dim)
    if (space.nominal ? setOf(from.dims[dim]) != setOf(to.dims[dim])
                      : product(from.dims[dim]) != product(to.dims[dim]))
      return false;
  return from.partial == to.partial && from.dims != to.dims;
}

bool BruteForce::exchanges(const ShardLayout &from, const ShardLayout &to,
                           size_t giver, size_t taker, Axes &axes) const {
  auto given = added(to.dims[giver], from.dims[giver], giver);
  auto taken = added(from.dims[taker], to.dims[taker], taker);
  if (!given || !taken || from.partial != to.partial)
    return false;
  axes = *given;
  bool ordered = !space.dims[giver].isSet && !space.dims[taker].isSet;
  return ordered ? *given == *taken : setOf(*given) == setOf(*taken);
}

std::map<ReshardKind, Fraction>
BruteForce::stepsBetween(const ShardLayout &from, const ShardLayout &to) const {
  std::map<ReshardKind, Fraction> found;
  int64_t blocks = 1;
  std::vector<size_t> differing;
  for (size_t dim = 0; dim < from.dims.size(); ++dim) {
    blocks *= product(from.dims[dim]);
    if (from.dims[dim] != to.dims[dim])
      differing.push_back(dim);
  }
  AxisSet summed;
  for (AxisId axis : from.partial)
    if (!setOf(to.partial).count(axis))
      summed.insert(axis);
  bool shrinks = !summed.empty() &&
                 summed.size() + to.partial.size() == from.partial.size();
  Axes reduced(summed.begin(), summed.end());
  if (differing.empty() && shrinks)
    found[ReshardKind::all_reduce] = {2 * (product(reduced) - 1),
                                      blocks * product(reduced)};
  if (differing.size() == 1) {
    size_t dim = differing.front();
    auto more = added(from.dims[dim], to.dims[dim], dim);
    auto less = added(to.dims[dim], from.dims[dim], dim);
    if (from.partial == to.partial && more)
      found[ReshardKind::all_slice] = {};
    if (from.partial == to.partial && less)
      found[ReshardKind::all_gather] = {product(*less) - 1, blocks};
    if (shrinks && more && setOf(*more) == summed)
      found[ReshardKind::reduce_scatter] = {product(*more) - 1,
                                            blocks * product(*more)};
  }
  Axes moved;
  if (differing.size() == 2 &&
      (exchanges(from, to, differing[0], differing[1], moved) ||
       exchanges(from, to, differing[1], differing[0], moved)))
    found[ReshardKind::all_to_all] = {product(moved) - 1,
                                      blocks * product(moved)};
  if (permutes(from, to))
    found[ReshardKind::permute] = {1, blocks};
  return found;
}

std::vector<std::optional<Price>>
BruteForce::prices(size_t from, const std::vector<bool> &usable) const {
  std::vector<std::optional<Price>> best(all.size());
  std::set<std::pair<Price, size_t>> open;
  best[from] = Price();
  open.insert({*best[from], from});
  while (!open.empty()) {
    auto [price, at] = *open.begin();
    open.erase(open.begin());
    for (const Edge &edge : edges[at]) {
      if (!usable[edge.to])
        continue;
      auto [sent, moving, steps, kinds] = price;
      kinds.push_back(edge.kind);
      Price next = {sent + edge.sent,
                    moving + (edge.kind != ReshardKind::all_slice), steps + 1,
                    kinds};
      std::optional<Price> &known = best[edge.to];
      if (known && !(next < *known))
        continue;
      if (known)
        open.erase({*known, edge.to});
      known = next;
      open.insert({next, edge.to});
    }
  }
  return best;
}
