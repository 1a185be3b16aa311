//===- Formulas.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Formulas.h"

#include <algorithm>

using namespace autopar;

Formulas::Formulas(const CostProgram &program, Strategy &strategy)
    : program(program), strategy(strategy), graph(strategy.graph),
      isParts(strategy.counting == Counting::parts) {
  for (uint32_t i = 0; i < symbolCount; ++i) {
    bool isPositive = i <= static_cast<uint32_t>(Symbol::context);
    step[i] = {graph, graph.leaf(Op::symbol, i, Rank::point, true, isPositive)};
  }
  single = profile = step;
  single[0] = profile[0] = number(1);
  profile[1] = profile[2] = whole(FigureUse::Kind::profile_tokens);
  readSymbols();
}

void Formulas::readSymbols() {
  static constexpr std::string_view names[symbolCount] = {
      "batch", "query", "context", "source", "memory"};
  for (uint32_t i = 0; i < program.symbols.size(); ++i) {
    const auto *name =
        std::find(std::begin(names), std::end(names), program.symbols[i]);
    if (name == std::end(names)) {
      require({Requirement::Kind::sizes, {}, noNode, noNode, i});
      name = names;
    }
    symbols.push_back(static_cast<Symbol>(name - names));
  }
}

Expr Formulas::figure(FigureUse::Kind kind, KernelKind kernel,
                      ElementType type) {
  FigureUse use{kind, kernel, type};
  auto &all = strategy.figures;
  auto found = std::find(all.begin(), all.end(), use);
  auto index = static_cast<uint32_t>(found - all.begin());
  if (found == all.end())
    all.push_back(use);
  return {graph, graph.leaf(Op::figure, index, Rank::figure, false, false)};
}

Expr Formulas::devices(const std::vector<AxisId> &axes) {
  Expr product = number(1);
  for (AxisId axis : axes)
    product *= leaf(Op::axis, Rank::layout, axis);
  return product;
}

/// In millionths.
static constexpr int64_t evenSkew = 1'000'000;

Expr Formulas::skew(std::optional<uint32_t> kind) {
  return kind && program.placement ? leaf(Op::skew, Rank::layout, *kind)
                                   : number(evenSkew);
}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

Expr Formulas::logical(const Extent &extent, const SymbolValues &values) {
  auto product = [&](int64_t factor, const std::vector<SymbolId> &ids) {
    Expr result = number(factor);
    for (SymbolId id : ids)
      result *= values[static_cast<size_t>(symbols[id])];
    return result;
  };
  Expr value = product(extent.factor, extent.symbols);
  return extent.limit == 0
             ? value
             : min(value, product(extent.limit, extent.limitSymbols));
}

Expr Formulas::logical(const Dims &dims, const SymbolValues &values) {
  Expr product = number(1);
  for (const Dim &dim : dims)
    product *= logical(dim.extent, values);
  return product;
}

/// `mayFail`: a plain split divides, as a requirement says; else the ceiling.
Expr Formulas::split(const Dim &dim, Expr extent, bool mayFail) {
  if (dim.axes.empty())
    return extent;
  Expr parts = devices(dim.axes);
  switch (dim.rule) {
  case SplitRule::pad:
    return ceilDiv(roundUp(extent, number(std::max<int64_t>(1, dim.multiple))),
                   parts);
  case SplitRule::any:
  case SplitRule::ring:
    return dim.sharedBy && program.placement
               ? extent.apply(Op::scale, skew(dim.sharedBy),
                              parts * number(evenSkew))
               : ceilDiv(extent, parts);
  case SplitRule::cap:
    return extent.apply(Op::split_capped, parts);
  case SplitRule::plain:
    return mayFail ? extent.apply(Op::split, parts) : ceilDiv(extent, parts);
  }
  return extent;
}

void Formulas::requireSplit(const Dim &dim, Expr extent, RecordRef record) {
  bool divides = dim.rule == SplitRule::plain;
  if (dim.axes.empty() || (!divides && dim.rule != SplitRule::cap))
    return;
  require({divides ? Requirement::Kind::divides : Requirement::Kind::caps,
           record, extent.node(), devices(dim.axes).node(), 0, dim.axes});
}

Expr Formulas::local(const Dim &dim, RecordRef record) {
  Expr extent = logical(dim.extent);
  requireSplit(dim, extent, record);
  return split(dim, extent, /*mayFail=*/true);
}

template <typename Part>
Expr Formulas::product(const Dims &dims, int32_t paged, Part part) {
  Expr product = number(1);
  for (size_t i = 0; i < dims.size(); ++i) {
    Expr own = part(dims[i]);
    if (static_cast<int32_t>(i) == paged)
      own = roundUp(own, blockTokens());
    product *= own;
  }
  return product;
}

Expr Formulas::localPaged(const Dims &dims, int32_t paged, RecordRef record) {
  return product(dims, paged,
                 [&](const Dim &dim) { return local(dim, record); });
}

Expr Formulas::localPaged(const Dims &dims, int32_t paged,
                          const SymbolValues &values) {
  return product(dims, paged, [&](const Dim &dim) {
    return split(dim, logical(dim.extent, values),
                 /*mayFail=*/dim.extent.symbols.empty());
  });
}

Expr Formulas::hottest(Expr mean, std::optional<uint32_t> kind) {
  return kind && program.placement
             ? mean.apply(Op::scale, skew(kind), number(evenSkew))
             : mean;
}

Expr Formulas::bytes(Expr elements, ElementType type) {
  int64_t bits = bitsOf(type);
  return bits % 8 == 0 ? elements * (bits / 8)
                       : ceilDiv(elements * bits, number(8));
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

Expr Formulas::countOfKind(uint32_t layer) {
  if (!isParts)
    return number(program.layers[layer].count);
  return leaf(Op::kind_count, Rank::layout, layer);
}

Expr Formulas::countOf(uint32_t layer, int64_t count) {
  if (!isParts)
    return number(count);
  int64_t all = program.layers[layer].count;
  return all == 0 ? number(0) : countOfKind(layer) * (count / all);
}

/// A run before a border is launched where that leads to.
Expr Formulas::countOf(const Kernel &kernel) {
  Expr count = countOf(kernel.layer, kernel.count);
  for (uint32_t i = 0; isParts && i < program.borders.size(); ++i)
    if (!program.borders[i].layer &&
        areOneRun(program.kernels[program.borders[i].before], kernel))
      count += leaf(Op::into_border, Rank::layout, i) -
               leaf(Op::out_of_border, Rank::layout, i);
  return count;
}

Expr Formulas::countOf(const Border &border) {
  if (!isParts || border.layer)
    return countOf(border.layer.value_or(0), border.count);
  auto index = static_cast<uint32_t>(&border - program.borders.data());
  return leaf(Op::into_border, Rank::layout, index);
}

/// A tensor that several layer kinds read is kept where any of them runs.
Expr Formulas::countOf(const Resident &resident) {
  if (!isParts)
    return number(resident.count);
  Expr own = countOf(resident.layer, resident.count);
  Expr readers = number(0);
  for (uint32_t reader : resident.readers)
    readers += countOfKind(reader);
  return select(own, own, select(readers, number(resident.count), number(0)));
}

Expr Formulas::where(uint32_t layer, Expr value) {
  return isParts ? select(countOfKind(layer), value, number(0)) : value;
}

//===----------------------------------------------------------------------===//
// Requirements and links
//===----------------------------------------------------------------------===//

void Formulas::require(Requirement requirement) {
  auto isSame = [&](const Requirement &other) {
    return other.kind == requirement.kind &&
           other.extent == requirement.extent &&
           other.devices == requirement.devices &&
           other.index == requirement.index;
  };
  auto &all = strategy.requirements;
  if (std::none_of(all.begin(), all.end(), isSame))
    all.push_back(std::move(requirement));
}

uint32_t Formulas::link(CollectiveKind kind, const std::vector<AxisId> &axes) {
  auto &all = strategy.links;
  for (uint32_t i = 0; i < all.size(); ++i)
    if (all[i].kind == kind && all[i].axes == axes)
      return i;
  all.push_back({kind, axes});
  return static_cast<uint32_t>(all.size() - 1);
}
