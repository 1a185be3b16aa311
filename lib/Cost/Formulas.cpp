//===- Formulas.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Formulas.h"

#include <algorithm>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::program;

Formulas::Formulas(const CostProgram &program, Strategy &strategy,
                   const std::vector<Phase> &phases)
    : program(program), strategy(strategy), graph(strategy.graph),
      isParts(strategy.counting == Counting::parts), phases(phases) {
  for (uint32_t i = 0; i < phases.size() * symbolCount; ++i) {
    // A step with a single group always has sequences in this group.
    bool isPositive =
        phases.size() == 1 && i <= static_cast<uint32_t>(Symbol::context);
    if (i % symbolCount == 0)
      step.emplace_back();
    step.back()[i % symbolCount] = {
        graph, graph.leaf(Op::symbol, i, Rank::point, true, isPositive)};
  }
  single = profile = {step.front()};
  single[0][0] = profile[0][0] = number(1);
  profile[0][1] = profile[0][2] = whole(FigureUse::Kind::profile_tokens);
  readSymbols();
  addFullest();
}

/// Returns whether all caches and states of sequences are split by sequence
/// over the same axes.
static bool splitsSequencesAlike(const CostProgram &program,
                                 const std::vector<AxisId> &axes) {
  return std::all_of(program.residents.begin(), program.residents.end(),
                     [&](const Resident &resident) {
                       const std::vector<AxisId> *own =
                           program.sequenceAxes(resident.shape);
                       return !own || *own == axes;
                     });
}

Expr Formulas::replicas() { return devices(program.sequenceAxes()); }

/// Sets `fullest` to the largest of the steps that `prefillChunks` makes. A
/// step with several groups is itself the fullest, because its groups fit the
/// token budget already.
void Formulas::addFullest() {
  fullest = step;
  strategy.splitsSequencesAlike =
      splitsSequencesAlike(program, program.sequenceAxes());
  // In training the plan gives the size of the microbatch.
  if (step.size() != 1 || program.trains())
    return;
  auto &[batch, query, context, source, memory] = fullest.front();
  Expr budget = max(number(1), whole(FigureUse::Kind::token_budget));
  Expr together = max(number(1), floorDiv(budget, query));
  batch = min(batch, together * replicas());
  if (program.keepsTokens())
    query = min(query, budget);
}

void Formulas::readSymbols() {
  static constexpr std::string_view names[symbolCount] = {
      "batch", "query", "context", "encoder_tokens", "cross_tokens"};
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

Expr Formulas::figure(FigureUse::Kind kind, KernelKind kernel, ElementType type,
                      std::optional<ElementType> storage) {
  FigureUse use{kind, kernel, type, storage};
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

Expr Formulas::skew(std::optional<uint32_t> kind, Op loads) {
  return kind && program.placement ? leaf(loads, Rank::layout, *kind)
                                   : number(evenSkew);
}

Expr Formulas::slots() {
  const PlacedExperts &placed = *program.placement;
  return placed.placer ? leaf(Op::slots, Rank::layout) : number(placed.slots);
}

/// Returns whether `dim` has one slot for each expert and each copy of an
/// expert, whatever the number of slots is.
static bool isOfSlots(const Dim &dim, const CostProgram &program) {
  return program.placement && dim.multiple == program.placement->slots &&
         dim.extent.symbols.empty() &&
         dim.extent.factor == program.placement->experts;
}

//===----------------------------------------------------------------------===//
// Sizes of dimensions and shapes
//===----------------------------------------------------------------------===//

Expr Formulas::product(int64_t factor, const std::vector<SymbolId> &ids,
                       const SymbolValues &values) {
  Expr result = number(factor);
  for (SymbolId id : ids)
    result *= values[static_cast<size_t>(symbols[id])];
  return result;
}

Groups Formulas::groupsOf(const Kernel &kernel) const {
  Groups groups;
  for (size_t i = 0; i < step.size(); ++i)
    if (!kernel.phase || *kernel.phase == phases[i])
      groups.push_back(step[i]);
  return groups;
}

bool autopar::cost::hasSymbols(const Dim &dim) {
  return !dim.extent.symbols.empty() || !dim.extent.limitSymbols.empty();
}

bool autopar::cost::hasSymbols(const Dims &dims) {
  return std::any_of(dims.begin(), dims.end(),
                     [](const Dim &dim) { return hasSymbols(dim); });
}

Expr Formulas::logical(const Extent &extent, const Groups &groups) {
  if (extent.symbols.empty() && extent.limitSymbols.empty())
    return number(extent.limit == 0 ? extent.factor
                                    : std::min(extent.factor, extent.limit));
  Expr sum = number(0);
  for (const SymbolValues &values : groups) {
    Expr value = product(extent.factor, extent.symbols, values);
    if (extent.limit != 0)
      value = min(value, product(extent.limit, extent.limitSymbols, values));
    sum += extent.ceiling == 0 ? value : min(value, number(extent.ceiling));
  }
  return sum;
}

/// Returns the product of `part(dimension, index, extent)` over all dimensions.
template <typename Part>
Expr Formulas::product(const Dims &dims, const Groups &groups, Part part) {
  Expr product = number(1);
  for (size_t i = 0; i < dims.size(); ++i)
    product *= part(dims[i], static_cast<int32_t>(i),
                    limited(dims[i], logical(dims[i].extent, groups), groups));
  return product;
}

template <typename Part>
Expr Formulas::sumOverGroups(const Dims &dims, const Groups &groups,
                             Part part) {
  if (groups.size() == 1 ||
      std::count_if(dims.begin(), dims.end(),
                    [](const Dim &dim) { return hasSymbols(dim); }) <= 1)
    return product(dims, groups, part);
  Expr sum = number(0);
  for (const SymbolValues &values : groups)
    sum += product(dims, {values}, part);
  return sum;
}

size_t Formulas::WrittenHash::operator()(const Written &written) const {
  uint64_t hash = reinterpret_cast<uintptr_t>(written.shape);
  hash ^= uint64_t(written.form) << 56 ^ uint64_t(uint32_t(written.paged))
                                             << 40;
  for (NodeId size : written.sizes)
    hash = (hash ^ size) * 0x9E3779B97F4A7C15u;
  return hash ^ hash >> 32;
}

template <typename Part>
Expr Formulas::write(Form form, const Dims &dims, int32_t paged,
                     const Groups &groups, Part part) {
  if (groups.size() != 1 || dims.empty())
    return sumOverGroups(dims, groups, part);
  Written key{form, paged, dims.begin(), {}};
  for (size_t i = 0; i < symbolCount; ++i)
    key.sizes[i] = groups.front()[i].node();
  auto [it, isNew] = written.try_emplace(key);
  if (isNew)
    it->second = {dims, sumOverGroups(dims, groups, part)};
  return it->second.second;
}

Expr Formulas::logical(const Dims &dims, const Groups &groups) {
  return write(Form::logical, dims, -1, groups,
               [](const Dim &, int32_t, Expr extent) { return extent; });
}

/// Returns the share of `extent` that one device has. If `mayFail`, a
/// requirement checks that the devices divide the extent; otherwise the share
/// is rounded up.
Expr Formulas::split(const Dim &dim, Expr extent, bool mayFail, Op loads) {
  if (dim.axes.empty())
    return extent;
  Expr parts = devices(dim.axes);
  switch (dim.rule) {
  case SplitRule::pad:
    return ceilDiv(
        roundUp(extent, isOfSlots(dim, program)
                            ? slots()
                            : number(std::max<int64_t>(1, dim.multiple))),
        parts);
  case SplitRule::any:
  case SplitRule::ring:
    return dim.sharedBy && program.placement
               ? extent.apply(Op::scale, skew(dim.sharedBy, loads),
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

Expr Formulas::local(const Dim &dim, Expr extent, RecordRef record) {
  requireSplit(dim, extent, record);
  return split(dim, extent, /*mayFail=*/true);
}

Expr Formulas::local(const Dim &dim, RecordRef record) {
  return local(dim, logical(dim.extent), record);
}

Expr Formulas::localPaged(const Dims &dims, int32_t paged, RecordRef record,
                          const Groups &groups) {
  return write(Form::divided, dims, paged, groups,
               [&](const Dim &dim, int32_t place, Expr extent) {
                 Expr own = local(dim, extent, record);
                 return place == paged ? roundUp(own, blockTokens()) : own;
               });
}

Expr Formulas::localPaged(const Dims &dims, int32_t paged,
                          const Groups &groups) {
  return write(Form::local, dims, paged, groups,
               [&](const Dim &dim, int32_t place, Expr extent) {
                 Expr own =
                     split(dim, extent, /*mayFail=*/dim.extent.symbols.empty());
                 return place == paged ? roundUp(own, blockTokens()) : own;
               });
}

Expr Formulas::mostHeld(const Dims &dims, const Groups &groups) {
  return write(
      Form::most, dims, -1, groups, [&](const Dim &dim, int32_t, Expr extent) {
        return split(dim, extent,
                     /*mayFail=*/dim.extent.symbols.empty(), Op::peak_skew);
      });
}

//===----------------------------------------------------------------------===//
// Rows that experts accept, and bytes
//===----------------------------------------------------------------------===//

Expr Formulas::routedTokens(const Groups &groups) {
  const ExpertCapacity &capacity = *program.capacity;
  return localPaged(capacity.tokens, -1, groups) * capacity.topK;
}

Expr Formulas::expertCapacity(const Groups &groups) {
  const ExpertCapacity &capacity = *program.capacity;
  return routedTokens(groups).apply(
      Op::scale, number(capacity.millionths),
      number(capacity.experts * ExpertCapacity::unit));
}

/// Returns how many of `routed` rows the experts of layer kind `kind` keep. If
/// the loads are uneven, the placement gives the share of all rows that is
/// kept, before capacities are rounded up. The step that sizes temporaries may
/// have no tokens.
Expr Formulas::keptOf(uint32_t kind, Expr routed, const Groups &groups) {
  if (program.placement)
    return routed.apply(Op::scale, leaf(Op::kept, Rank::layout, kind),
                        number(evenSkew));
  Expr all = routedTokens(groups);
  return routed.apply(Op::scale, min(mostRows(groups), all),
                      max(number(1), all));
}

/// Returns the number of rows that the experts of a layer have room for.
Expr Formulas::mostRows(const Groups &groups) {
  return expertCapacity(groups) * program.capacity->experts;
}

/// Returns the number of rows that experts compute if `routed` rows are routed
/// to them: the rows that they keep or, if experts are padded, their whole
/// capacity.
Expr Formulas::limited(const Dim &dim, Expr routed, const Groups &groups) {
  if (!dim.limitedBy || !program.capacity)
    return routed;
  if (!program.capacity->padded)
    return keptOf(*dim.limitedBy, routed, groups);
  return routed.apply(Op::scale, mostRows(groups),
                      max(number(1), routedTokens(groups)));
}

Expr Formulas::withoutPadding(Expr flops, const Dims &rows) {
  auto limit = std::find_if(rows.begin(), rows.end(), [](const Dim &dim) {
    return dim.limitedBy.has_value();
  });
  if (limit == rows.end() || !program.capacity || !program.capacity->padded)
    return flops;
  return flops.apply(Op::scale,
                     keptOf(*limit->limitedBy, routedTokens(step), step),
                     max(number(1), mostRows(step)));
}

Expr Formulas::mostLoaded(Expr mean, std::optional<uint32_t> kind) {
  return kind && program.placement
             ? mean.apply(Op::scale, skew(kind), number(evenSkew))
             : mean;
}

Expr Formulas::bytes(Expr elements, ElementType type) {
  if (std::optional<BlockSize> block = blockOf(type))
    return ceilDiv(elements * block->bytes, number(block->values));
  int64_t bits = bitsOf(type);
  return bits % 8 == 0 ? elements * (bits / 8)
                       : ceilDiv(elements * bits, number(8));
}

//===----------------------------------------------------------------------===//
// How often a device has a record
//===----------------------------------------------------------------------===//

Expr Formulas::countOfKind(uint32_t layer) {
  if (!isParts)
    return number(program.layers[layer].count);
  return leaf(Op::kind_count, Rank::part, layer);
}

Expr Formulas::countOf(uint32_t layer, int64_t count) {
  if (!isParts)
    return number(count);
  int64_t all = program.layers[layer].count;
  return all == 0 ? number(0) : countOfKind(layer) * (count / all);
}

/// Returns how often a kernel is launched. The run of kernels before a border
/// is launched together with the run that begins the layer after the border.
Expr Formulas::countOf(const Kernel &kernel) {
  Expr count = countOf(kernel.layer, kernel.count);
  for (uint32_t i = 0; isParts && i < program.borders.size(); ++i)
    if (!program.borders[i].layer &&
        areOneRun(program.kernels[program.borders[i].before], kernel))
      count += leaf(Op::into_border, Rank::part, i) -
               leaf(Op::out_of_border, Rank::part, i);
  return count;
}

Expr Formulas::countOf(const Border &border) {
  if (!isParts || border.layer)
    return countOf(border.layer.value_or(0), border.count);
  auto index = static_cast<uint32_t>(&border - program.borders.data());
  return leaf(Op::into_border, Rank::part, index);
}

/// Returns how often a device has a record that it has once if it runs `layer`
/// or one of the layers `readers`.
Expr Formulas::countOfShared(uint32_t layer, int64_t count,
                             const std::vector<uint32_t> &readers) {
  if (!isParts)
    return number(count);
  Expr own = countOf(layer, count);
  Expr others = number(0);
  for (uint32_t reader : readers)
    others += countOfKind(reader);
  return select(own, own, select(others, number(count), number(0)));
}

Expr Formulas::where(uint32_t layer, Expr value) {
  return isParts ? select(countOfKind(layer), value, number(0)) : value;
}

//===----------------------------------------------------------------------===//
// Adding requirements and links
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

uint32_t Formulas::link(const Collective &record) {
  auto &all = strategy.links;
  for (uint32_t i = 0; i < all.size(); ++i)
    if (all[i].kind == record.kind && all[i].axes == record.axes &&
        all[i].byNode == record.byNode)
      return i;
  all.push_back({record.kind, record.axes, record.byNode});
  return static_cast<uint32_t>(all.size() - 1);
}

//===----------------------------------------------------------------------===//
// Sums by section
//===----------------------------------------------------------------------===//

void SectionSums::store(NodeId SectionNodes::*member) const {
  for (size_t i = 0; i < sectionCount; ++i)
    formulas->strategy.total.sections[i].*member = sums[i].node();
}
