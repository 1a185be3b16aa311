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

/// The slots that can hold experts. Rank r has slots [r*slotsPerRank,
/// (r+1)*slotsPerRank), and every slot holds an expert; node n has ranks
/// [n*ranks/nodes, (n+1)*ranks/nodes).
struct PlacementSpace {
  int64_t experts = 1, ranks = 1, slotsPerRank = 1, nodes = 1;
  /// Number of routing groups: equally many consecutive experts each.
  int64_t groups = 1;

  int64_t slots() const { return ranks * slotsPerRank; }
  int64_t ranksPerNode() const { return ranks / nodes; }
  int64_t nodeOfRank(int64_t rank) const { return rank / ranksPerNode(); }
  int64_t nodeOfSlot(int64_t slot) const {
    return nodeOfRank(slot / slotsPerRank);
  }
};

/// The rule by which experts are placed. `block` and `round_robin` number the
/// slots and put expert p modulo `experts` into slot p; slots with neighbouring
/// numbers are
/// * for `block`, on one rank, as with SGLang's "trivial" and vLLM;
/// * for `round_robin`, on neighbouring ranks; a round that would put an expert
///   on a rank that has it already begins one rank later.
/// `balanced` places experts by their loads.
enum class PlacementPolicy : uint8_t { block, round_robin, balanced };
std::string_view nameOf(PlacementPolicy policy);
std::optional<PlacementPolicy> parsePlacementPolicy(std::string_view text);
/// Returns the names of all policies: "block, round_robin, balanced".
std::string policyChoices();

struct PlacementOptions {
  PlacementPolicy policy = PlacementPolicy::balanced;
  /// Whether all experts of a routing group must lie in one node; only for the
  /// policy `balanced`.
  bool groupsInNode = false;
  /// By how much, relatively, the load of the most loaded rank may exceed the
  /// least one found, in order to save traffic between nodes.
  double tolerance = 0.02;
};

/// Traffic between nodes. A token starts on any rank with equal probability,
/// takes any replica of each of its experts with equal probability, and is sent
/// once to every other node that has one of these.
struct NodeTraffic {
  /// Expected number of tokens sent to other nodes; a token counts once per
  /// node.
  double sends = 0;
  /// The number of tokens in the trace.
  double tokens = 0;

  double perToken() const { return tokens > 0 ? sends / tokens : 0; }
};

struct LayerPlacement {
  int64_t layer = 0;
  /// The expert in each slot, sorted within a rank.
  std::vector<int32_t> slots;
  /// Tokens of each rank. The tokens of an expert are split evenly over its
  /// replicas.
  std::vector<double> rankTokens;
  double meanTokens = 0, hottestTokens = 0;
  /// Lower bound of the most loaded rank's tokens with these slots: the larger
  /// of the mean over ranks and the least load of the most loaded replica, over
  /// all numbers of replicas (at most one per rank, one slot each).
  double boundTokens = 0;
  /// Whether it is proved that no placement has a lower maximum load of a rank.
  bool optimal = false;
  /// Tokens of the most loaded rank with the policy `block`.
  double blockHottestTokens = 0;
  /// Traffic between nodes with this placement and with the policy `block`;
  /// only with a trace.
  std::optional<NodeTraffic> traffic, blockTraffic;

  /// Return the load of the most loaded rank over the mean, for this placement
  /// and for `block`; 1 if there is no load.
  double imbalance() const;
  double blockImbalance() const;
};

struct ExpertPlacement {
  PlacementSpace space;
  PlacementOptions options;
  std::vector<LayerPlacement> layers;

  /// `worstImbalance`: largest imbalance of a layer. `meanImbalance`: mean over
  /// all layers, to which the time of experts is proportional.
  double worstImbalance() const;
  double meanImbalance() const;
};

/// Places the experts of every layer of `loads`. For layers that `trace`
/// contains, the placement also reduces traffic between nodes, and counts it.
/// The result is deterministic.
Result<ExpertPlacement> placeExperts(const LoadProfile &loads,
                                     const PlacementSpace &space,
                                     const PlacementOptions &options,
                                     const RoutingTrace *trace = nullptr);

/// Returns the load of the most loaded rank over the mean, for experts in
/// `slots` on `ranks` ranks; `ranks` must divide the number of slots.
double imbalanceOf(const std::vector<int32_t> &slots,
                   const std::vector<double> &tokens, int64_t ranks);

/// Evaluates a given assignment of experts to slots. `slots` must hold every
/// expert.
LayerPlacement evaluatePlacement(std::vector<int32_t> slots,
                                 const LayerLoads &loads,
                                 const PlacementSpace &space,
                                 const LayerTrace *trace = nullptr);

/// Returns the first error of a space and its options; nothing if they are
/// valid.
std::optional<Error> checkPlacement(const PlacementSpace &space,
                                    const PlacementOptions &options);

/// Returns how many slots per rank fit into `budgetBytes` of a rank, at most
/// one per expert. Error: the slots of all ranks do not hold the experts.
Result<int64_t> slotsWithin(Checked budgetBytes, Checked expertBytes,
                            int64_t experts, int64_t ranks);

} // namespace autopar::placement

#endif // AUTOPAR_PLACEMENT_PLACEMENT_H
