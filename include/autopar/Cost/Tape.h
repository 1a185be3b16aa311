//===- Tape.h - Formulas as straight-line code ------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_COST_TAPE_H
#define AUTOPAR_COST_TAPE_H

#include "autopar/Cost/Strategy.h"

#include <array>

namespace autopar::cost {

/// One instruction of a tape: slot `out` = op(a, b, c), where a, b and c are
/// slots. With `Op::call`, b is the index of a link; with `Op::pairs`, c is the
/// index of a rule; with `Op::launch_at_rates`, c is an index into
/// `Tape::rates`.
struct Instruction {
  Op op = Op::add;
  uint32_t out = 0, a = 0, b = 0, c = 0;
};

/// Slots of three values of a kernel: us per FLOP, us per byte, and the
/// roofline exponent.
using LaunchRates = std::array<uint32_t, 3>;

/// The rule by which `Op::pairs` counts (query, key) pairs.
struct PairsRule {
  bool causal = false;
  double window = 0, chunk = 0;
};

/// A leaf of the graph, and the slot that receives its value.
struct TapeInput {
  Op op = Op::constant;
  uint32_t index = 0, slot = 0;
};

/// A requirement of the strategy on values in slots. Several requirements that
/// the same devices divide constants are merged into one on the greatest common
/// divisor of the constants.
struct TapeCheck {
  Requirement::Kind kind = Requirement::Kind::divides;
  Rank rank = Rank::layout;
  uint32_t extent = 0, devices = 0, index = 0;
  /// Index of the first requirement of the strategy that this check replaces.
  uint32_t requirement = 0;
};

/// Code that computes some nodes of a strategy, in sections by `Rank`: those
/// that depend on figures, on the layout, on the workload, and on the part of a
/// stage. Sums of integers are collected into linear forms of a section's
/// variables, whose coefficients an earlier section computes. The value of a
/// node does not depend on which other outputs the tape has.
struct Tape : Leaves {
  /// The instructions by `Rank`; each section ends with `Op::stop`.
  std::array<std::vector<Instruction>, rankCount> code;
  std::array<std::vector<TapeInput>, rankCount> inputs;
  std::vector<LaunchRates> rates;
  std::vector<PairsRule> pairs;
  /// Slots of constants and their values.
  std::vector<std::pair<uint32_t, double>> constants;
  std::vector<TapeCheck> checks;
  std::vector<uint32_t> outputs;
  uint32_t slots = 0;
};

/// Returns the counting rules of the graph's `Op::pairs` nodes, by index.
std::vector<PairsRule> pairsRulesOf(const Graph &graph);

/// Which requirements a tape checks: all, or only those of splits, for a number
/// of devices that no machine has.
enum class Checks : uint8_t { all, splits };

/// Compiles the tape that computes the nodes `wanted`, in this order.
Tape collect(const Strategy &strategy, const std::vector<NodeId> &wanted,
             Checks checks = Checks::all);

} // namespace autopar::cost

#endif // AUTOPAR_COST_TAPE_H
