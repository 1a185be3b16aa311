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

/// The algorithm that a kind of collective uses among the n devices that a tier
/// joins. By the alpha-beta model of Thakur, Rabenseifner, Gropp, "Optimization
/// of Collective Communication Operations in MPICH" (2005), section 3, a call
/// takes latency * hops + sent bytes / (bandwidth * efficiency). All formulas
/// and texts of algorithms are in Algorithm.cpp.
struct Algorithm {
  /// The bytes that a device sends in one round, in terms of the call's bytes.
  enum class Sent : uint8_t {
    all,
    /// (n-1)/n of the call's bytes: all but the device's own part.
    others,
    /// A device sends n - 1 times the bytes of the call.
    to_each,
  };
  /// The number of messages that wait for each other.
  enum class Hops : uint8_t {
    one,
    /// A call takes ceil(log2(n)) messages, one after the other.
    tree,
    /// A call takes n - 1 messages, one after the other.
    others,
  };
  /// How a call runs in a group that several tiers join.
  enum class Tiers : uint8_t {
    /// Every step waits for a device that sends over the slowest link.
    slowest,
    /// A step inside the domains of each tier; the steps follow each other.
    in_turn,
    /// All messages are sent at once; the slowest tier decides.
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

/// Returns the textbook algorithm of `kind`, which every tier has. The wire
/// bytes that reports state for a collective are those of this algorithm,
/// whichever one is used.
const Algorithm &ruleOf(program::CollectiveKind kind);

/// Returns the bytes that one of `devices` devices sends in a call with `bytes`
/// bytes.
double sentBytes(const Algorithm &algorithm, int64_t devices, double bytes);
/// Returns the bytes that a device sends by the textbook algorithm of `kind`
/// (`ruleOf`).
double wireBytes(program::CollectiveKind kind, int64_t devices, double bytes);
double hopsOf(const Algorithm &algorithm, int64_t devices);

/// Returns the factor by which explanations multiply the call's bytes, such as
/// "2 * (n - 1) / n" for `devices` "n"; "" for 1.
std::string sentText(const Algorithm &algorithm, const std::string &devices);
/// Returns the latency term of explanations: "latency * ceil(log2(n))".
std::string latencyText(const Algorithm &algorithm, const std::string &devices);

} // namespace autopar::hardware

#endif // AUTOPAR_HARDWARE_ALGORITHM_H
