//===- Algorithm.h - How collectives are done -------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_HARDWARE_ALGORITHM_H
#define AUTOPAR_HARDWARE_ALGORITHM_H

#include "autopar/Program/CostProgram.h"

#include <string>

namespace autopar::hardware {

/// How the n devices that a tier joins do one kind of collective. By the
/// alpha-beta model of Thakur, Rabenseifner, Gropp, "Optimization of Collective
/// Communication Operations in MPICH" (2005), section 3, a call takes latency *
/// hops + sent bytes / (bandwidth * efficiency). All that is said of an
/// algorithm, in formulas and in words, is in Algorithm.cpp.
struct Algorithm {
  /// Part of the bytes of a call that a device sends in one round.
  enum class Sent : uint8_t {
    all,
    /// (n-1)/n: nothing of its own part.
    others,
    /// n - 1 times all of them.
    to_each,
  };
  /// Messages of few bytes that follow one another.
  enum class Hops : uint8_t {
    one,
    /// ceil(log2(n)).
    tree,
    /// n - 1.
    others,
  };
  /// How a group that several tiers join is gone through.
  enum class Tiers : uint8_t {
    /// In every step some device sends over the slowest link.
    slowest,
    /// A step inside the domains of each tier, one after another.
    in_turn,
    /// All messages are sent at once; the slowest tier counts.
    at_once,
  };

  std::string name;
  program::CollectiveKind kind;
  Sent sent;
  int64_t rounds;
  Hops hops;
  Tiers tiers;
  std::string source;
};

/// The algorithm that every tier has for `kind`. What it sends is what reports
/// call the wire bytes of a collective, however it is done.
const Algorithm &ruleOf(program::CollectiveKind kind);

/// Bytes that one of `devices` sends of a call on `bytes`.
double sentBytes(const Algorithm &algorithm, int64_t devices, double bytes);
/// That of the rule of `kind`.
double wireBytes(program::CollectiveKind kind, int64_t devices, double bytes);
double hopsOf(const Algorithm &algorithm, int64_t devices);

/// What formulas of explanations have of the bytes, after "* " where it is not
/// empty: "2 * (n - 1) / n" of `devices` "n".
std::string sentText(const Algorithm &algorithm, const std::string &devices);
/// "latency * ceil(log2(n))".
std::string latencyText(const Algorithm &algorithm, const std::string &devices);

} // namespace autopar::hardware

#endif // AUTOPAR_HARDWARE_ALGORITHM_H
