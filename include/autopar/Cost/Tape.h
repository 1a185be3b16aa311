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

/// One instruction: slot `out` = op(a, b, c) on slots. With `Op::call`, b is a
/// link; with `Op::pairs`, c is a rule; with `Op::launch_at_rates`, c indexes
/// `Tape::rates`.
struct Instruction {
  Op op = Op::add;
  uint32_t out = 0, a = 0, b = 0, c = 0;
};

/// Slots of us per FLOP, us per byte, and the exponent.
using LaunchRates = std::array<uint32_t, 3>;

/// The rule by which `Pairs` counts (query, key) pairs.
struct PairsRule {
  bool causal = false;
  double window = 0, chunk = 0;
};

/// A leaf of the graph and the slot of its value.
struct TapeInput {
  Op op = Op::constant;
  uint32_t index = 0, slot = 0;
};

/// A requirement on slots. Requirements that the same devices divide several
/// constants are merged into one on their greatest common divisor.
struct TapeCheck {
  Requirement::Kind kind = Requirement::Kind::divides;
  Rank rank = Rank::layout;
  uint32_t extent = 0, devices = 0, index = 0;
  /// Index of the first requirement of the strategy that it stands for.
  uint32_t requirement = 0;
};

/// Code that computes some nodes of a strategy, in sections that depend on
/// figures, on the layout, on the point, and on the part. Sums of integers are
/// collected into linear forms of the variables of a section, whose
/// coefficients an earlier section computes. The value of a node does not
/// depend on the other outputs.
struct Tape : Leaves {
  /// By rank; each section ends with `Op::stop`.
  std::array<std::vector<Instruction>, rankCount> code;
  std::array<std::vector<TapeInput>, rankCount> inputs;
  std::vector<LaunchRates> rates;
  std::vector<PairsRule> pairs;
  /// Values of constant slots.
  std::vector<std::pair<uint32_t, double>> constants;
  std::vector<TapeCheck> checks;
  std::vector<uint32_t> outputs;
  uint32_t slots = 0;
};

/// The rules of `Op::pairs`, by index.
std::vector<PairsRule> pairsRulesOf(const Graph &graph);

/// The requirements that a tape checks: all, or only those of splits, for
/// devices that no machine has.
enum class Checks : uint8_t { all, splits };

/// Compiles the tape whose outputs are `wanted`.
Tape collect(const Strategy &strategy, const std::vector<NodeId> &wanted,
             Checks checks = Checks::all);

} // namespace autopar::cost

#endif // AUTOPAR_COST_TAPE_H
