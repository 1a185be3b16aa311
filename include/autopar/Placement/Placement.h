//===- Placement.h - Placement of experts on ranks --------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLACEMENT_PLACEMENT_H
#define AUTOPAR_PLACEMENT_PLACEMENT_H

#include "autopar/Placement/RoutingTrace.h"
#include "autopar/Support/Checked.h"

namespace autopar::placement {

/// The slots for experts. Rank r holds slots [r*slotsPerRank, (r+1)*...), and
/// every slot holds an expert; node n has ranks [n*ranks/nodes, ...).
struct PlacementSpace {
  int64_t experts = 1, ranks = 1, slotsPerRank = 1, nodes = 1;
  /// Experts are routed by groups of consecutive experts, of equal size.
  int64_t groups = 1;

  int64_t slots() const { return ranks * slotsPerRank; }
  int64_t ranksPerNode() const { return ranks / nodes; }
  int64_t nodeOfRank(int64_t rank) const { return rank / ranksPerNode(); }
  int64_t nodeOfSlot(int64_t slot) const {
    return nodeOfRank(slot / slotsPerRank);
  }
};

/// `block` and `round_robin` put expert p modulo `experts` into slot p of their
/// order; neighbours of the order are
/// * `block`: on one rank, as SGLang's "trivial" and vLLM have it;
/// * `round_robin`: on neighbouring ranks; a further round that would put an
///   expert where it is already goes one rank on.
/// `balanced` follows the loads.
enum class PlacementPolicy : uint8_t { block, round_robin, balanced };
std::string_view nameOf(PlacementPolicy policy);
std::optional<PlacementPolicy> parsePlacementPolicy(std::string_view text);
/// The names of all policies: "block, round_robin, balanced".
std::string policyChoices();

struct PlacementOptions {
  PlacementPolicy policy = PlacementPolicy::balanced;
  /// Whether all experts of a group lie in one node, for group-limited routing;
  /// `balanced` only.
  bool groupsInNode = false;
  /// Relative amount by which the most loaded rank may exceed that of the
  /// placement by loads alone, to save traffic between nodes.
  double tolerance = 0.02;
};

/// Traffic between nodes. A token starts on any rank with equal probability,
/// takes any replica of each of its experts with equal probability, and is sent
/// once to every other node that has one of them.
struct NodeTraffic {
  /// Expected sends to other nodes.
  double sends = 0;
  /// Tokens of the trace.
  double tokens = 0;

  double perToken() const { return tokens > 0 ? sends / tokens : 0; }
};

struct LayerPlacement {
  int64_t layer = 0;
  /// Expert by slot; sorted within a rank.
  std::vector<int32_t> slots;
  /// Tokens by rank. The tokens of an expert are split evenly over its
  /// replicas.
  std::vector<double> rankTokens;
  double meanTokens = 0, hottestTokens = 0;
  /// Lower bound of the most loaded rank in these slots: the larger of the mean
  /// over ranks and the least load of the most loaded replica, over all numbers
  /// of replicas (at most one per rank, one slot each).
  double boundTokens = 0;
  /// Whether it is proved that no placement has a lower maximum.
  bool optimal = false;
  /// Tokens of the most loaded rank of `block`.
  double blockHottestTokens = 0;
  /// Traffic of this placement and of `block`; present with a trace.
  std::optional<NodeTraffic> traffic, blockTraffic;

  /// Load of the most loaded rank over the mean; 1 if there is no load.
  double imbalance() const;
  double blockImbalance() const;
};

struct ExpertPlacement {
  PlacementSpace space;
  PlacementOptions options;
  std::vector<LayerPlacement> layers;

  /// Largest imbalance, and the mean over layers of equal weight, which the
  /// time of experts is proportional to.
  double worstImbalance() const;
  double meanImbalance() const;
};

/// Places the experts of every layer of `loads`. Layers in `trace` are placed
/// with regard to traffic, which is counted. Deterministic.
Result<ExpertPlacement> placeExperts(const LoadProfile &loads,
                                     const PlacementSpace &space,
                                     const PlacementOptions &options,
                                     const RoutingTrace *trace = nullptr);

/// Load of the most loaded rank over the mean for `slots` on `ranks` ranks,
/// which must divide them.
double imbalanceOf(const std::vector<int32_t> &slots,
                   const std::vector<double> &tokens, int64_t ranks);

/// Evaluates a given assignment. `slots` holds every expert.
LayerPlacement evaluatePlacement(std::vector<int32_t> slots,
                                 const LayerLoads &loads,
                                 const PlacementSpace &space,
                                 const LayerTrace *trace = nullptr);

/// Returns the first error of a space and its options, if any.
std::optional<Error> checkPlacement(const PlacementSpace &space,
                                    const PlacementOptions &options);

/// Slots per rank that `budgetBytes` of a rank pay for, at most one per expert.
/// Errors: the slots of all ranks do not hold the experts.
Result<int64_t> slotsWithin(Checked budgetBytes, Checked expertBytes,
                            int64_t experts, int64_t ranks);

} // namespace autopar::placement

#endif // AUTOPAR_PLACEMENT_PLACEMENT_H
