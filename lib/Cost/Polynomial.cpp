//===- Polynomial.cpp -----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Polynomial.h"

#include <cmath>
#include <numeric>

using namespace autopar;

/// Above this a factor is no exact double.
static constexpr double exactLimit = 9007199254740992; // 2^53
/// Products of longer sums stay products.
static constexpr size_t maxTerms = 64;

Polynomials::Polynomials(const Graph &graph)
    : graph(graph), terms(graph.size()), states(graph.size(), State::open) {
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node &node = graph[id];
    if (node.op != Op::split || graph[node.a].op != Op::constant)
      continue;
    int64_t extent = graph.valueOf(graph[node.a]);
    auto [it, isNew] = divisions.emplace(node.b, Division{id, extent});
    if (!isNew)
      it->second.common = std::gcd(it->second.common, extent);
  }
}

std::optional<int64_t> Polynomials::numerator(NodeId extent,
                                              NodeId devices) const {
  auto found = divisions.find(devices);
  if (graph[extent].op != Op::constant || found == divisions.end())
    return std::nullopt;
  return found->second.common;
}

/// `a + sign * b`.
static Terms addTerms(const Terms &a, const Terms &b, double sign) {
  Terms sum;
  sum.reserve(a.size() + b.size());
  auto left = a.begin(), right = b.begin();
  while (left != a.end() || right != b.end()) {
    if (right == b.end() || (left != a.end() && left->atoms < right->atoms)) {
      sum.push_back(*left++);
    } else if (left == a.end() || right->atoms < left->atoms) {
      sum.push_back({sign * right->factor, right->atoms});
      ++right;
    } else {
      double factor = left->factor + sign * right->factor;
      if (factor != 0)
        sum.push_back({factor, left->atoms});
      ++left;
      ++right;
    }
  }
  return sum;
}

bool autopar::isNeverAbove(const Terms &a, const Terms &b) {
  auto right = b.begin();
  for (const Term &own : a) {
    for (; right != b.end() && right->atoms < own.atoms; ++right)
      if (right->factor < 0)
        return false;
    bool isShared = right != b.end() && right->atoms == own.atoms;
    if (own.factor > (isShared ? right->factor : 0))
      return false;
    right += isShared;
  }
  return std::none_of(right, b.end(),
                      [](const Term &term) { return term.factor < 0; });
}

/// Fails where the product is long, or no longer exact.
bool Polynomials::multiply(const Terms &a, const Terms &b,
                           Terms &result) const {
  if (a.size() * b.size() > maxTerms)
    return false;
  for (const Term &left : a)
    for (const Term &right : b) {
      if (left.atoms.size() + right.atoms.size() > Atoms::capacity)
        return false;
      Term product{left.factor * right.factor, {}};
      if (std::fabs(product.factor) > exactLimit)
        return false;
      const NodeId *x = left.atoms.begin(), *y = right.atoms.begin();
      while (x != left.atoms.end() || y != right.atoms.end()) {
        bool takesLeft =
            y == right.atoms.end() || (x != left.atoms.end() && *x <= *y);
        product.atoms.add(takesLeft ? *x++ : *y++);
      }
      if (a.size() * b.size() == 1)
        result.push_back(product);
      else
        result = addTerms(result, {product}, 1);
    }
  return true;
}

/// Long sums are chains: their operands are taken together.
Terms Polynomials::expandSum(NodeId id) {
  Terms all;
  std::vector<std::pair<NodeId, double>> open = {{id, 1}};
  while (!open.empty()) {
    auto [one, sign] = open.back();
    open.pop_back();
    const Node &node = graph[one];
    if (node.isWhole && (node.op == Op::add || node.op == Op::subtract)) {
      open.emplace_back(node.b, node.op == Op::add ? sign : -sign);
      open.emplace_back(node.a, sign);
      continue;
    }
    for (const Term &term : of(one))
      all.push_back({sign * term.factor, term.atoms});
  }
  // Factors are whole and exact: equal products may come in any order.
  std::sort(all.begin(), all.end(),
            [](const Term &a, const Term &b) { return a.atoms < b.atoms; });
  Terms sum;
  for (const Term &term : all) {
    if (!sum.empty() && sum.back().atoms == term.atoms)
      sum.back().factor += term.factor;
    else
      sum.push_back(term);
  }
  sum.erase(std::remove_if(sum.begin(), sum.end(),
                           [](const Term &term) { return term.factor == 0; }),
            sum.end());
  return sum;
}

void Polynomials::expand(NodeId id) {
  const Node &node = graph[id];
  Terms own;
  bool isSum = false;
  if (node.op == Op::constant) {
    if (int64_t value = graph.valueOf(node))
      own = {{static_cast<double>(value), {}}};
    states[id] = State::atom;
    terms[id] = std::move(own);
    return;
  }
  if (node.isWhole && (node.op == Op::add || node.op == Op::subtract)) {
    own = expandSum(id);
    isSum = true;
  } else if (node.isWhole && node.op == Op::multiply) {
    isSum = multiply(of(node.a), of(node.b), own);
  } else if (node.op == Op::split) {
    if (std::optional<int64_t> common = numerator(node.a, node.b)) {
      const Division &division = divisions.at(node.b);
      int64_t extent = graph.valueOf(graph[node.a]);
      Term term{static_cast<double>(*common ? extent / *common : 0), {}};
      term.atoms.add(division.first);
      own = {term};
      isSum = division.first != id || extent != *common;
    }
  }
  if (!isSum) {
    Term term{1, {}};
    term.atoms.add(id);
    own = {term};
  }
  states[id] = isSum ? State::sum : State::atom;
  terms[id] = std::move(own);
}

const Terms &Polynomials::of(NodeId id) {
  if (states[id] == State::open)
    expand(id);
  return terms[id];
}

bool Polynomials::isSum(NodeId id) {
  of(id);
  return states[id] == State::sum;
}
