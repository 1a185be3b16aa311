//===- Placement.h - Which rank holds which experts -------------*- C++ -*-===//
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

/// Where experts may lie. Rank r holds slots [r*slotsPerRank, (r+1)*...), and
/// every slot holds an expert; node n has ranks [n*ranks/nodes, ...).
struct PlacementSpace {
  int64_t experts = 1, ranks = 1, slotsPerRank = 1, nodes = 1;
  /// Experts are routed by groups of neighbours, of equal size.
  int64_t groups = 1;

  int64_t slots() const { return ranks * slotsPerRank; }
  int64_t ranksPerNode() const { return ranks / nodes; }
  int64_t nodeOfRank(int64_t rank) const { return rank / ranksPerNode(); }
  int64_t nodeOfSlot(int64_t slot) const {
    return nodeOfRank(slot / slotsPerRank);
  }
};

/// Slot p of the words holds expert p modulo `experts`; neighbours are
///   block        on one rank, as SGLang's "trivial" and vLLM have it;
///   round_robin  on neighbouring ranks; a further round that would put an
///                expert where it is goes one rank on.
/// `balanced` follows the loads.
enum class PlacementPolicy : uint8_t { block, round_robin, balanced };
std::string_view nameOf(PlacementPolicy policy);
std::optional<PlacementPolicy> parsePlacementPolicy(std::string_view text);
/// The names of all: "block, round_robin, balanced".
std::string policyChoices();

struct PlacementOptions {
  PlacementPolicy policy = PlacementPolicy::balanced;
  /// All experts of a group lie in one node, as group-limited routing wants
  /// it; `balanced` only.
  bool groupsInNode = false;
  /// By how much the hottest rank may exceed that of the placement by loads
  /// alone, to save traffic between nodes.
  double tolerance = 0.02;
};

/// Tokens cross between nodes: a token starts on any rank with equal
/// probability, takes any replica of each of its experts with equal
/// probability, and is sent once to every other node that has one of them.
struct NodeTraffic {
  /// Expected sends to other nodes.
  double sends = 0;
  /// Tokens of the trace.
  double tokens = 0;

  double perToken() const { return tokens > 0 ? sends / tokens : 0; }
};

struct LayerPlacement {
  int64_t layer = 0;
  /// By slot, the expert it holds; within a rank rising.
  std::vector<int32_t> slots;
  /// Tokens by rank: those of an expert are split evenly over its replicas.
  std::vector<double> rankTokens;
  double meanTokens = 0, hottestTokens = 0;
  /// No placement in these slots has a cooler hottest rank: the larger of the
  /// mean over ranks and the least that the hottest replica can be, over all
  /// numbers of replicas (at most one per rank, one slot each).
  double boundTokens = 0;
  /// Proved: no placement has a cooler hottest rank.
  bool optimal = false;
  /// The hottest rank of `block`.
  double blockHottestTokens = 0;
  /// With a trace; also of `block`.
  std::optional<NodeTraffic> traffic, blockTraffic;

  /// Hottest rank / mean; 1 where there is no load.
  double imbalance() const;
  double blockImbalance() const;
};

struct ExpertPlacement {
  PlacementSpace space;
  PlacementOptions options;
  std::vector<LayerPlacement> layers;

  /// Largest imbalance, and the mean over layers of equal weight: what the
  /// time of experts scales with.
  double worstImbalance() const;
  double meanImbalance() const;
};

/// Places the experts of every layer of `loads`. Layers that are in `trace` are
/// placed with regard to traffic, and it is counted. Deterministic.
Result<ExpertPlacement> placeExperts(const LoadProfile &loads,
                                     const PlacementSpace &space,
                                     const PlacementOptions &options,
                                     const RoutingTrace *trace = nullptr);

/// Hottest rank / mean where `slots` lie on `ranks`, which must divide them.
double imbalanceOf(const std::vector<int32_t> &slots,
                   const std::vector<double> &tokens, int64_t ranks);

/// What a given assignment makes of the loads. `slots` holds every expert.
LayerPlacement evaluatePlacement(std::vector<int32_t> slots,
                                 const LayerLoads &loads,
                                 const PlacementSpace &space,
                                 const LayerTrace *trace = nullptr);

/// The first error of a space and its options, if any.
std::optional<Error> checkPlacement(const PlacementSpace &space,
                                    const PlacementOptions &options);

/// Slots per rank that `budgetBytes` of a rank pay for, at most one for each
/// expert; an error where the slots of all ranks do not hold the experts.
Result<int64_t> slotsWithin(Checked budgetBytes, Checked expertBytes,
                            int64_t experts, int64_t ranks);

} // namespace autopar::placement

#endif // AUTOPAR_PLACEMENT_PLACEMENT_H
