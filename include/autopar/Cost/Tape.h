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

/// One step: slot `out` = op(a, b, c), of slots (`Op::call`: b is a link;
/// `Op::pairs`: c a rule; `Op::launch_at_rates`: c of `Tape::rates`).
struct Instruction {
  Op op = Op::add;
  uint32_t out = 0, a = 0, b = 0, c = 0;
};

/// Slots of microseconds a FLOP, microseconds a byte, and the exponent.
using LaunchRates = std::array<uint32_t, 3>;

/// The (query, key) pairs that `Pairs` has.
struct PairsRule {
  bool causal = false;
  double window = 0, chunk = 0;
};

/// A leaf of the graph and the slot that its value is put into.
struct TapeInput {
  Op op = Op::constant;
  uint32_t index = 0, slot = 0;
};

/// A requirement on slots. Several that divide numbers by the same devices are
/// one, of their greatest common divisor.
struct TapeCheck {
  Requirement::Kind kind = Requirement::Kind::divides;
  Rank rank = Rank::layout;
  uint32_t extent = 0, devices = 0, index = 0;
  /// The first of those of the strategy that it stands for.
  uint32_t requirement = 0;
};

/// What computes some nodes of a strategy, in pieces that depend on figures, on
/// the layout, on the point, and on the part. Sums of whole numbers are
/// collected: linear forms in what varies, whose coefficients are computed
/// before. What a node's value is does not depend on which others are wanted.
struct Tape : Leaves {
  /// By rank; each ends with `Op::stop`.
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

/// Which requirements a tape checks: all, or those of splits alone, for devices
/// that a machine has none of.
enum class Checks : uint8_t { all, splits };

/// The tape whose outputs are `wanted`.
Tape collect(const Strategy &strategy, const std::vector<NodeId> &wanted,
             Checks checks = Checks::all);

} // namespace autopar::cost

#endif // AUTOPAR_COST_TAPE_H
