//===- Collect.cpp - A graph's nodes as a tape ----------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Polynomial.h"

#include "autopar/Cost/Tape.h"

#include <algorithm>
#include <memory_resource>
#include <unordered_map>
#include <unordered_set>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::program;

std::vector<PairsRule> autopar::cost::pairsRulesOf(const Graph &graph) {
  std::vector<PairsRule> rules;
  for (uint32_t i = 0; i < graph.pairsCount(); ++i) {
    const Pairs &rule = graph.pairsOf(i);
    rules.push_back({rule.causal, static_cast<double>(rule.window),
                     static_cast<double>(rule.chunk)});
  }
  return rules;
}

namespace {

struct OperationHash {
  size_t operator()(const Instruction &step) const {
    uint64_t key = static_cast<uint64_t>(step.op);
    for (uint64_t part : {step.a, step.b, step.c})
      key = (key ^ part) * 0x9E3779B97F4A7C15u;
    return key ^ key >> 32;
  }
};
struct SameOperation {
  bool operator()(const Instruction &x, const Instruction &y) const {
    return x.op == y.op && x.a == y.a && x.b == y.b && x.c == y.c;
  }
};

class Collector {
public:
  explicit Collector(const Strategy &strategy)
      : strategy(strategy), graph(strategy.graph), polynomials(graph, memory),
        slotOf(graph.size(), noSlot) {
    static_cast<Leaves &>(tape) = strategy;
    tape.shapes.clear();
    known.reserve(graph.size());
  }

  Tape run(const std::vector<NodeId> &wanted, Checks checks) {
    for (uint32_t i = 0; i < strategy.requirements.size(); ++i)
      if (checks == Checks::all ||
          strategy.requirements[i].kind < Requirement::Kind::joins)
        addCheck(i);
    for (NodeId node : wanted)
      tape.outputs.push_back(slot(node));
    for (std::vector<Instruction> &code : tape.code)
      code.push_back({Op::stop});
    tape.pairs = pairsRulesOf(graph);
    tape.slots = next;
    return std::move(tape);
  }

private:
  static constexpr uint32_t noSlot = ~uint32_t(0);

  uint32_t slot(NodeId id);
  uint32_t opaque(NodeId id);
  uint32_t launch(const Node &node);
  uint32_t shape(const ShapeUse &use);
  std::pair<uint32_t, uint32_t> countAndRate(NodeId time);
  struct Multiple;
  std::optional<Multiple> asMultiple(NodeId id, Rank rank);
  std::vector<NodeId> mergeMultiples(const std::vector<NodeId> &operands,
                                     Rank rank, std::vector<uint32_t> &slots);
  uint32_t maximum(uint32_t a, uint32_t b);
  uint32_t atom(NodeId id);
  uint32_t largest(NodeId id);
  uint32_t input(const Node &node);
  uint32_t constant(double value);
  uint32_t linear(Terms terms, Rank rank);
  uint32_t coefficientOf(Terms terms, Rank rank);
  uint32_t product(const Atoms &atoms);
  uint32_t emit(Op op, Rank rank, uint32_t a, uint32_t b = 0, uint32_t c = 0);
  void addCheck(uint32_t index);

  const Strategy &strategy;
  const Graph &graph;
  /// Allocates everything that lives as long as the collector.
  std::pmr::monotonic_buffer_resource memory;
  Polynomials polynomials;
  Tape tape;
  std::vector<uint32_t> slotOf;
  std::pmr::unordered_map<double, uint32_t> constants{&memory};
  std::pmr::unordered_set<Instruction, OperationHash, SameOperation> known{
      &memory};
  /// The rank of each slot, by slot.
  std::vector<Rank> ranks;
  uint32_t next = 0;
};

} // namespace

uint32_t Collector::constant(double value) {
  auto [it, isNew] = constants.emplace(value, next);
  if (isNew) {
    tape.constants.emplace_back(next++, value);
    ranks.push_back(Rank::constant);
  }
  return it->second;
}

uint32_t Collector::input(const Node &node) {
  tape.inputs[static_cast<size_t>(node.rank)].push_back(
      {node.op, node.a, next});
  ranks.push_back(node.rank);
  return next++;
}

uint32_t Collector::emit(Op op, Rank rank, uint32_t a, uint32_t b, uint32_t c) {
  Instruction instruction{op, next, a, b, c};
  auto [it, isNew] = known.insert(instruction);
  if (!isNew)
    return it->out;
  tape.code[static_cast<size_t>(rank)].push_back(instruction);
  ranks.push_back(rank);
  return next++;
}

/// Returns the slot of a node. A sum is collected as a polynomial; every other
/// node becomes one instruction.
uint32_t Collector::slot(NodeId id) {
  if (slotOf[id] != noSlot)
    return slotOf[id];
  const Node &node = graph[id];
  uint32_t result = 0;
  if (node.op == Op::constant)
    result = constant(static_cast<double>(graph.valueOf(node)));
  else if (operandsOf(node.op) == 0)
    result = input(node);
  else if (polynomials.isSum(id))
    result = linear(polynomials.of(id), node.rank);
  else if (node.op == Op::maximum && node.isWhole)
    result = largest(id);
  else if (node.op == Op::launch)
    result = launch(node);
  else
    result = opaque(id);
  return slotOf[id] = result;
}

uint32_t Collector::opaque(NodeId id) {
  const Node &node = graph[id];
  unsigned operands = operandsOf(node.op);
  // An op `split` may divide a common divisor of several extents in place of
  // its own extent.
  std::optional<int64_t> common;
  if (node.op == Op::split)
    common = polynomials.numerator(node.a, node.b);
  uint32_t a = common ? constant(static_cast<double>(*common)) : slot(node.a);
  uint32_t b = operands > 1 ? slot(node.b) : node.b;
  uint32_t c = operands > 2 ? slot(node.c) : node.c;
  if (node.op == Op::shape_ratio)
    c = shape(strategy.shapes[node.c]);
  return emit(node.op, node.rank, a, b, c);
}

/// Splits a time into a count and the time per unit. Returns the slots of both.
std::pair<uint32_t, uint32_t> Collector::countAndRate(NodeId time) {
  const Node &node = graph[time];
  if (node.op != Op::multiply || graph[node.a].isWhole == graph[node.b].isWhole)
    return {slot(time), constant(1)};
  bool countsFirst = graph[node.a].isWhole;
  return {slot(countsFirst ? node.a : node.b),
          slot(countsFirst ? node.b : node.a)};
}

uint32_t Collector::launch(const Node &node) {
  auto [flops, usPerFlop] = countAndRate(node.a);
  auto [bytes, usPerByte] = countAndRate(node.b);
  LaunchRates rates{usPerFlop, usPerByte, slot(node.c)};
  auto known = std::find(tape.rates.begin(), tape.rates.end(), rates);
  auto index = static_cast<uint32_t>(known - tape.rates.begin());
  if (known == tape.rates.end())
    tape.rates.push_back(rates);
  return emit(Op::launch_at_rates, node.rank, flops, bytes, index);
}

/// Returns the index of `use` in the tape. The stored copy names slots in place
/// of nodes.
uint32_t Collector::shape(const ShapeUse &use) {
  ShapeUse own = use;
  for (uint32_t &fixed : own.fixed)
    fixed = slot(fixed);
  auto known = std::find(tape.shapes.begin(), tape.shapes.end(), own);
  auto index = static_cast<uint32_t>(known - tape.shapes.begin());
  if (known == tape.shapes.end())
    tape.shapes.push_back(std::move(own));
  return index;
}

/// A polynomial of the form product * coefficient: the product consists of
/// atoms of `rank`, and the coefficient is a sum of lower rank.
struct Collector::Multiple {
  Atoms varying;
  std::vector<Term> coefficient;
};

std::optional<Collector::Multiple> Collector::asMultiple(NodeId id, Rank rank) {
  std::optional<Multiple> result;
  for (const Term &term : polynomials.of(id)) {
    Multiple own;
    Term rest{term.factor, {}};
    for (NodeId atom : term.atoms)
      (graph[atom].rank == rank ? own.varying : rest.atoms).add(atom);
    if (own.varying.empty() || (result && !(result->varying == own.varying)))
      return std::nullopt;
    if (!result)
      result = own;
    result->coefficient.push_back(rest);
  }
  return result;
}

/// Merges the operands of a maximum that are multiples of the same product:
/// their maximum is the product times the largest coefficient. Appends the
/// slots of the merged operands to `slots`; returns the operands that are no
/// multiples.
std::vector<NodeId>
Collector::mergeMultiples(const std::vector<NodeId> &operands, Rank rank,
                          std::vector<uint32_t> &slots) {
  std::vector<NodeId> others;
  std::vector<std::pair<Atoms, uint32_t>> merged;
  auto below = static_cast<Rank>(static_cast<uint8_t>(rank) - 1);
  for (NodeId one : operands) {
    std::optional<Multiple> multiple =
        rank > Rank::figure ? asMultiple(one, rank) : std::nullopt;
    if (!multiple) {
      others.push_back(one);
      continue;
    }
    uint32_t factor = linear(multiple->coefficient, below);
    auto same =
        std::find_if(merged.begin(), merged.end(), [&](const auto &other) {
          return other.first == multiple->varying;
        });
    if (same == merged.end())
      merged.emplace_back(multiple->varying, factor);
    else
      same->second = maximum(same->second, factor);
  }
  for (const auto &[varying, factor] : merged)
    slots.push_back(emit(Op::multiply, rank, factor, product(varying)));
  return others;
}

uint32_t Collector::maximum(uint32_t a, uint32_t b) {
  return a == b ? a : emit(Op::maximum, std::max(ranks[a], ranks[b]), a, b);
}

/// Emits a maximum. Operands that never exceed another operand are left out.
uint32_t Collector::largest(NodeId id) {
  std::vector<NodeId> operands;
  std::vector<NodeId> open = {id};
  while (!open.empty()) {
    NodeId one = open.back();
    open.pop_back();
    // A node that has a slot already is not computed again.
    if (graph[one].op == Op::maximum && graph[one].isWhole &&
        slotOf[one] == noSlot) {
      open.push_back(graph[one].b);
      open.push_back(graph[one].a);
    } else if (std::find(operands.begin(), operands.end(), one) ==
               operands.end()) {
      operands.push_back(one);
    }
  }
  std::vector<NodeId> kept;
  for (NodeId own : operands) {
    auto isBelow = [&](NodeId other) {
      return other != own &&
             isNeverAbove(polynomials.of(own), polynomials.of(other));
    };
    // Of two operands that are always equal, the first one is kept.
    if (std::none_of(kept.begin(), kept.end(), isBelow)) {
      kept.erase(std::remove_if(kept.begin(), kept.end(),
                                [&](NodeId other) {
                                  return isNeverAbove(polynomials.of(other),
                                                      polynomials.of(own));
                                }),
                 kept.end());
      kept.push_back(own);
    }
  }
  std::vector<uint32_t> slots;
  for (NodeId other : mergeMultiples(kept, graph[id].rank, slots))
    slots.push_back(slot(other));
  uint32_t result = slots.front();
  for (uint32_t other : slots)
    result = maximum(result, other);
  return result;
}

/// Returns the slot of an atom. All splits over the same devices share the
/// instruction of the first split; a later split may be a multiple of the
/// first.
uint32_t Collector::atom(NodeId id) {
  const Node &node = graph[id];
  bool isShared = node.op == Op::split && polynomials.numerator(node.a, node.b);
  return isShared ? opaque(id) : slot(id);
}

/// Emits a product from left to right, so that products share their prefixes.
uint32_t Collector::product(const Atoms &atoms) {
  uint32_t result = atom(*atoms.begin());
  for (const NodeId *at = atoms.begin() + 1; at != atoms.end(); ++at) {
    uint32_t other = atom(*at);
    result = emit(Op::multiply, std::max(ranks[result], ranks[other]), result,
                  other);
  }
  return result;
}

/// Emits the coefficient of a product of atoms of `rank`. Even a constant may
/// have atoms: quotients of constants.
uint32_t Collector::coefficientOf(Terms terms, Rank rank) {
  if (rank == Rank::constant)
    return constant(terms.begin()->factor);
  return linear(terms, static_cast<Rank>(static_cast<uint8_t>(rank) - 1));
}

/// Emits a sum over products of atoms of `rank`, whose coefficients are sums of
/// lower rank.
uint32_t Collector::linear(Terms terms, Rank rank) {
  struct Part {
    Atoms varying;
    Term rest;
    /// The index of the term in `terms`.
    size_t place;
  };
  // 2048 bytes are enough for most sums; longer sums allocate more.
  std::array<std::byte, 2048> buffer;
  std::pmr::monotonic_buffer_resource local(buffer.data(), buffer.size());
  std::pmr::vector<Part> parts(&local);
  parts.reserve(terms.size());
  for (const Term &term : terms) {
    Part &part = parts.emplace_back();
    part.rest.factor = term.factor;
    part.place = parts.size();
    for (NodeId atom : term.atoms)
      (graph[atom].rank == rank ? part.varying : part.rest.atoms).add(atom);
  }
  // Terms are sorted by product, so that equal sums have one form.
  std::sort(parts.begin(), parts.end(), [](const Part &a, const Part &b) {
    return a.varying == b.varying ? a.place < b.place : a.varying < b.varying;
  });
  std::pmr::vector<Term> rests(&local);
  rests.reserve(terms.size());
  for (const Part &part : parts)
    rests.push_back(part.rest);
  uint32_t result = noSlot;
  for (size_t first = 0, end = 0; first < parts.size(); first = end) {
    const Atoms &varying = parts[first].varying;
    while (end < parts.size() && parts[end].varying == varying)
      ++end;
    Terms coefficient(&rests[first], end - first);
    uint32_t factor = coefficientOf(coefficient, rank);
    if (varying.empty()) {
      result = factor;
      continue;
    }
    uint32_t value = product(varying);
    if (result != noSlot)
      result = emit(Op::multiply_add, rank, result, factor, value);
    else if (factor == constant(1))
      result = value;
    else
      result = emit(Op::multiply, rank, factor, value);
  }
  return result == noSlot ? constant(0) : result;
}

void Collector::addCheck(uint32_t index) {
  const Requirement &requirement = strategy.requirements[index];
  TapeCheck check;
  check.requirement = index;
  check.kind = requirement.kind;
  check.index = requirement.index;
  Rank rank = Rank::figure;
  auto slotOrNone = [&](NodeId node) {
    if (node == noNode)
      return constant(0);
    rank = std::max(rank, graph[node].rank);
    return slot(node);
  };
  if (requirement.kind == Requirement::Kind::joins)
    rank = Rank::layout;
  std::optional<int64_t> common;
  if (requirement.kind == Requirement::Kind::divides)
    common = polynomials.numerator(requirement.extent, requirement.devices);
  // A requirement on bytes or FLOPs that are always positive always applies.
  bool isAlways = (check.kind == Requirement::Kind::joins ||
                   check.kind == Requirement::Kind::multiplies) &&
                  graph[requirement.extent].isPositive;
  if (isAlways)
    common = 1;
  check.extent = common ? constant(static_cast<double>(*common))
                        : slotOrNone(requirement.extent);
  check.devices = slotOrNone(requirement.devices);
  check.rank = rank;
  auto isSame = [&](const TapeCheck &other) {
    return other.kind == check.kind && other.extent == check.extent &&
           other.devices == check.devices && other.index == check.index;
  };
  if (std::none_of(tape.checks.begin(), tape.checks.end(), isSame))
    tape.checks.push_back(check);
}

Tape autopar::cost::collect(const Strategy &strategy,
                            const std::vector<NodeId> &wanted, Checks checks) {
  return Collector(strategy).run(wanted, checks);
}
