//===- Algorithm.h - Algorithms of collectives ------------------*- C++ -*-===//
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

/// The algorithm of one kind of collective among the n devices that a tier
/// joins. By the alpha-beta model of Thakur, Rabenseifner, Gropp, "Optimization
/// of Collective Communication Operations in MPICH" (2005), section 3, a call
/// takes latency * hops + sent bytes / (bandwidth * efficiency). All formulas
/// and texts of algorithms are in Algorithm.cpp.
struct Algorithm {
  /// Bytes of a call that a device sends in one round.
  enum class Sent : uint8_t {
    all,
    /// (n-1)/n of the bytes: all but its own part.
    others,
    /// n - 1 times all bytes.
    to_each,
  };
  /// Number of dependent messages.
  enum class Hops : uint8_t {
    one,
    /// ceil(log2(n)).
    tree,
    /// n - 1.
    others,
  };
  /// The path of a group that several tiers join.
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

/// The algorithm that every tier has for `kind`. The bytes that it sends are
/// the wire bytes of a collective in reports, whatever algorithm is used.
const Algorithm &ruleOf(program::CollectiveKind kind);

/// Bytes that one of `devices` devices sends in a call on `bytes`.
double sentBytes(const Algorithm &algorithm, int64_t devices, double bytes);
/// Bytes sent by the rule of `kind`.
double wireBytes(program::CollectiveKind kind, int64_t devices, double bytes);
double hopsOf(const Algorithm &algorithm, int64_t devices);

/// The factor of the bytes in explanations, after "* " unless empty: "2 * (n -
/// 1) / n" for `devices` "n".
std::string sentText(const Algorithm &algorithm, const std::string &devices);
/// The latency in explanations: "latency * ceil(log2(n))".
std::string latencyText(const Algorithm &algorithm, const std::string &devices);

} // namespace autopar::hardware

#endif // AUTOPAR_HARDWARE_ALGORITHM_H
