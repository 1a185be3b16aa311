//===- BindFigures.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Cost/Pricer.h"

#include <limits>

using namespace autopar;
using namespace autopar::cost;
using namespace autopar::hardware;
using namespace autopar::runtime;

using Kind = FigureUse::Kind;

/// Returns the coefficient `kind` of the kernel curve `curve`. Without a curve,
/// it is the coefficient of a kernel that runs at the chip's peak.
static BoundFigure coefficientOf(Kind kind, const KernelCurve *curve) {
  static const KernelCurve peak = [] {
    KernelCurve curve;
    curve.exponent = 0;
    return curve;
  }();
  const KernelCurve &used = curve ? *curve : peak;
  switch (kind) {
  case Kind::curve_floor:
    return {used.floorUs, nullptr, curve};
  case Kind::compute_efficiency:
    return {used.computeEfficiency, nullptr, curve};
  case Kind::memory_efficiency:
    return {used.memoryEfficiency, nullptr, curve};
  case Kind::tile_queries:
    return {static_cast<double>(used.tileQueries), nullptr, curve};
  case Kind::tile_slots:
    return {static_cast<double>(used.tileSlots), nullptr, curve};
  case Kind::tile_keys:
    return {static_cast<double>(used.tileKeys), nullptr, curve};
  case Kind::tile_split_slots:
    return {static_cast<double>(used.tileSplitSlots), nullptr, curve};
  default:
    return {used.exponent, nullptr, curve};
  }
}

static const Figure *figureOf(const FigureUse &use, const Chip &chip,
                              const Runtime &runtime) {
  switch (use.kind) {
  case Kind::memory_bandwidth:
    return &chip.memoryBandwidth;
  case Kind::memory_usable:
    return &chip.memoryUsable;
  case Kind::peak:
    return chip.peak(chip.unitsOf(use.kernel, use.type, use.storage));
  case Kind::sustained_compute:
    return &*chip.sustainedCompute;
  case Kind::kernel_floor:
    return &runtime.kernelFloorUs;
  case Kind::host_time:
    return &runtime.hostTimeUs;
  case Kind::host_time_per_layer:
    return &runtime.hostTimePerLayerUs;
  case Kind::host_time_per_sequence:
    return &runtime.hostTimePerSequenceUs;
  case Kind::overlaps_shared_experts:
    return &runtime.overlapsSharedExperts;
  case Kind::routing_skew:
    return &runtime.routingSkew;
  case Kind::context_bytes:
    return &runtime.contextBytes;
  case Kind::library_bytes:
    return &runtime.libraryBytes;
  case Kind::graph_bytes:
    return &runtime.graphBytes;
  case Kind::graph_bytes_each:
    return &runtime.graphBytesEach;
  case Kind::graphs:
    return &runtime.graphs;
  case Kind::whole_graphs:
    return &runtime.wholeGraphs;
  case Kind::graph_bytes_per_recurrent_graph:
    return &runtime.graphBytesPerRecurrentGraph;
  case Kind::communication_bytes:
    return &runtime.communicationBytes;
  case Kind::communication_bytes_per_peer:
    return &runtime.communicationBytesPerPeer;
  case Kind::memory_utilization:
    return &runtime.memoryUtilization;
  case Kind::reserve_bytes:
    return &runtime.reserveBytes;
  case Kind::reserve_bytes_per_token:
    return &runtime.reserveBytesPerToken;
  case Kind::reserve_bytes_per_peer:
    return &runtime.reserveBytesPerPeer;
  case Kind::reserve_least:
    return &runtime.reserveLeast;
  case Kind::reserve_bytes_per_graph_sequence:
    return &runtime.reserveBytesPerGraphSequence;
  case Kind::graph_sequences:
    return &runtime.graphSequences;
  case Kind::expert_hidden_multiple:
    return &runtime.expertHiddenMultiple;
  case Kind::expert_intermediate_multiple:
    return &runtime.expertIntermediateMultiple;
  case Kind::expert_contraction_multiple:
    return &runtime.expertContractionMultiple;
  case Kind::token_budget:
    return &runtime.tokenBudget;
  case Kind::kv_block_tokens:
    return &runtime.kvBlockTokens;
  case Kind::profile_tokens:
    return &runtime.profileTokens;
  case Kind::profile_sequences:
    return &runtime.profileSequences;
  case Kind::profile_hidden_states:
    return &runtime.profileHiddenStates;
  case Kind::sampler_bytes_per_logit:
    return &runtime.samplerBytesPerLogit;
  case Kind::keeps_expert_workspace:
    return &runtime.keepsExpertWorkspace;
  case Kind::reduction_bucket:
    return &runtime.training->reductionBucket;
  case Kind::copies_gradients:
    return &runtime.training->copiesGradients;
  case Kind::casts_gathered_weights:
    return &runtime.training->castsGatheredWeights;
  case Kind::memory_of_free:
  case Kind::memory_of_reserve:
  case Kind::reserve_by_rule:
  case Kind::curve_floor:
  case Kind::compute_efficiency:
  case Kind::memory_efficiency:
  case Kind::exponent:
  case Kind::tile_queries:
  case Kind::tile_slots:
  case Kind::tile_keys:
  case Kind::tile_split_slots:
    break;
  }
  return nullptr;
}

/// Returns the value of the figure that `use` names. An ideal runtime has no
/// kernel curves, and of the floors only its own.
static BoundFigure bind(const FigureUse &use, const Chip &chip,
                        const Runtime &runtime,
                        std::optional<double> memoryUtilization) {
  if (use.isOfCurve())
    return coefficientOf(use.kind,
                         runtime.ideal
                             ? nullptr
                             : chip.curve(use.kernel, use.type, use.storage));
  if (use.kind == Kind::memory_of_free)
    return {runtime.budgetRule == BudgetRule::fraction_of_free ? 1.0 : 0.0};
  if (use.kind == Kind::memory_of_reserve)
    return {runtime.budgetRule == BudgetRule::reserve ? 1.0 : 0.0};
  if (use.kind == Kind::reserve_by_rule)
    return {memoryUtilization || runtime.memoryUtilization.isGiven() ? 0.0
                                                                     : 1.0};
  bool isOfTraining = use.kind == Kind::reduction_bucket ||
                      use.kind == Kind::copies_gradients ||
                      use.kind == Kind::casts_gathered_weights;
  if (isOfTraining && !runtime.training)
    return {0.0};
  if (use.kind == Kind::sustained_compute &&
      (runtime.ideal || !chip.sustainedCompute))
    return {1.0};
  if (use.kind == Kind::memory_utilization && memoryUtilization)
    return {*memoryUtilization};
  const Figure *figure = figureOf(use, chip, runtime);
  // An infinite peak makes the time 0. If the chip lacks the peak, a
  // requirement refuses the plans that need it.
  double value =
      figure ? figure->value : std::numeric_limits<double>::infinity();
  return {value, figure};
}

Launching autopar::cost::launchingOf(const Runtime &runtime) {
  Launching launching{runtime.mergesSharedInput, runtime.fusesElementwise};
  if (runtime.training) {
    launching.fusesAccumulation =
        runtime.training->fusesAccumulation.value != 0;
    launching.loopsExperts = runtime.training->loopsExperts.value != 0;
  }
  return launching;
}

std::vector<BoundFigure>
autopar::cost::bindFigures(const Leaves &leaves, const Pool &pool,
                           const Runtime &runtime,
                           std::optional<double> memoryUtilization) {
  std::vector<BoundFigure> bound;
  for (const FigureUse &use : leaves.figures)
    bound.push_back(bind(use, pool.chip, runtime, memoryUtilization));
  return bound;
}

Refusal autopar::cost::findBadExponent(const Leaves &leaves,
                                       const std::vector<BoundFigure> &bound) {
  for (uint32_t i = 0; i < bound.size(); ++i) {
    double q = bound[i].value;
    if (leaves.figures[i].kind == Kind::exponent && q != 0 && q != 1 &&
        q != 1.5 && q != 2 && q != 3 && q != 4)
      return {Refusal::Kind::exponent, i};
  }
  return {};
}
