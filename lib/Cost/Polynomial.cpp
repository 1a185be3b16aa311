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
using namespace autopar::cost;

/// Integers up to this limit are exact in a double.
static constexpr double exactLimit = 9007199254740992; // 2^53
/// The largest number of terms that a product of sums may have; a longer
/// product stays a product.
static constexpr size_t maxTerms = 64;

Polynomials::Polynomials(const Graph &graph, std::pmr::memory_resource &memory)
    : graph(graph), memory(memory), divisions(&memory), terms(graph.size()),
      states(graph.size(), State::open) {
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

bool autopar::cost::isNeverAbove(Terms a, Terms b) {
  const Term *right = b.begin();
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

/// Sums the open terms from index `first` on and closes them. Factors are exact
/// integers, so that the order of terms with equal products does not matter.
Terms Polynomials::take(size_t first) {
  auto begin = open.begin() + static_cast<ptrdiff_t>(first), end = begin;
  std::sort(begin, open.end(),
            [](const Term &a, const Term &b) { return a.atoms < b.atoms; });
  for (auto term = begin; term != open.end(); ++term) {
    if (end != begin && end[-1].atoms == term->atoms)
      end[-1].factor += term->factor;
    else
      *end++ = *term;
  }
  end = std::remove_if(begin, end,
                       [](const Term &term) { return term.factor == 0; });
  auto count = static_cast<size_t>(end - begin);
  std::pmr::polymorphic_allocator<Term> allocator(&memory);
  Term *sum = allocator.allocate(count);
  std::uninitialized_copy(begin, end, sum);
  open.resize(first);
  return {sum, count};
}

/// Opens the terms of a product of two sums. Returns false if there are too
/// many terms, or if a factor is not exact.
bool Polynomials::multiply(Terms a, Terms b) {
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
      open.push_back(product);
    }
  return true;
}

/// Opens the terms of a sum. A long sum is a chain of additions, whose operands
/// are collected first.
void Polynomials::expandSum(NodeId id) {
  size_t first = operands.size();
  operands.emplace_back(id, 1);
  while (operands.size() > first) {
    auto [one, sign] = operands.back();
    operands.pop_back();
    const Node &node = graph[one];
    if (node.isWhole && (node.op == Op::add || node.op == Op::subtract)) {
      operands.emplace_back(node.b, node.op == Op::add ? sign : -sign);
      operands.emplace_back(node.a, sign);
      continue;
    }
    for (const Term &term : of(one))
      open.push_back({sign * term.factor, term.atoms});
  }
}

void Polynomials::expand(NodeId id) {
  const Node &node = graph[id];
  size_t first = open.size();
  bool isSum = false;
  if (node.op == Op::constant) {
    states[id] = State::atom;
    open.push_back({static_cast<double>(graph.valueOf(node)), {}});
    terms[id] = take(first);
    return;
  }
  if (node.isWhole && (node.op == Op::add || node.op == Op::subtract)) {
    expandSum(id);
    isSum = true;
  } else if (node.isWhole && node.op == Op::multiply) {
    isSum = multiply(of(node.a), of(node.b));
  } else if (node.op == Op::split) {
    if (std::optional<int64_t> common = numerator(node.a, node.b)) {
      const Division &division = divisions.at(node.b);
      int64_t extent = graph.valueOf(graph[node.a]);
      Term &term = open.emplace_back();
      term.factor = static_cast<double>(*common ? extent / *common : 0);
      term.atoms.add(division.first);
      isSum = division.first != id || extent != *common;
    }
  }
  if (!isSum) {
    open.resize(first);
    Term &term = open.emplace_back();
    term.factor = 1;
    term.atoms.add(id);
  }
  states[id] = isSum ? State::sum : State::atom;
  terms[id] = take(first);
}

Terms Polynomials::of(NodeId id) {
  if (states[id] == State::open)
    expand(id);
  return terms[id];
}

bool Polynomials::isSum(NodeId id) {
  of(id);
  return states[id] == State::sum;
}
