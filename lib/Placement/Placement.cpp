//===- Placement.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Placement/Placement.h"

#include "LayerPlacer.h"

#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <algorithm>
#include <array>
#include <numeric>

using namespace autopar;
using namespace autopar::placement;

static constexpr std::array<std::string_view, 3> policyNames = {
    "block", "round_robin", "balanced"};

std::string_view autopar::placement::nameOf(PlacementPolicy policy) {
  return policyNames[static_cast<size_t>(policy)];
}

std::optional<PlacementPolicy>
autopar::placement::parsePlacementPolicy(std::string_view text) {
  auto at = std::find(policyNames.begin(), policyNames.end(), text);
  if (at == policyNames.end())
    return std::nullopt;
  return static_cast<PlacementPolicy>(at - policyNames.begin());
}

std::string autopar::placement::policyChoices() {
  return join(policyNames, ", ");
}

static double ratio(double largest, double mean) {
  return mean > 0 ? largest / mean : 1;
}

double LayerPlacement::imbalance() const {
  return ratio(hottestTokens, meanTokens);
}
double LayerPlacement::blockImbalance() const {
  return ratio(blockHottestTokens, meanTokens);
}

double ExpertPlacement::worstImbalance() const {
  double worst = 1;
  for (const LayerPlacement &layer : layers)
    worst = std::max(worst, layer.imbalance());
  return worst;
}

double ExpertPlacement::meanImbalance() const {
  double sum = 0;
  for (const LayerPlacement &layer : layers)
    sum += layer.imbalance();
  return layers.empty() ? 1 : sum / static_cast<double>(layers.size());
}

//===----------------------------------------------------------------------===//
// Checks of the input
//===----------------------------------------------------------------------===//

static std::optional<Error> checkRange(std::string_view what, int64_t value,
                                       int64_t max) {
  if (value >= 1 && value <= max)
    return std::nullopt;
  return Error{"",
               std::string(what) + ": expected 1 to " + std::to_string(max) +
                   ", found " + std::to_string(value),
               ""};
}

static std::optional<Error> checkDivides(std::string_view what, int64_t whole,
                                         std::string_view into, int64_t parts) {
  if (whole % parts == 0)
    return std::nullopt;
  int64_t near = parts;
  while (whole % near)
    --near;
  return Error{"",
               std::to_string(whole) + " " + std::string(what) +
                   " do not split evenly into " + std::to_string(parts) + " " +
                   std::string(into),
               std::to_string(near) + " " + std::string(into) + " would do"};
}

static std::optional<Error> checkSizes(const PlacementSpace &space) {
  if (auto error =
          checkRange("experts", space.experts, limits::maxPlacedExperts))
    return error;
  if (auto error = checkRange("ranks", space.ranks, limits::maxPlacedSlots))
    return error;
  if (auto error = checkRange("slots per rank", space.slotsPerRank,
                              limits::maxPlacedSlots / space.ranks))
    return error;
  if (auto error = checkRange("nodes", space.nodes, space.ranks))
    return error;
  return checkRange("groups", space.groups, space.experts);
}

std::optional<Error>
autopar::placement::checkPlacement(const PlacementSpace &space,
                                   const PlacementOptions &options) {
  if (auto error = checkSizes(space))
    return error;
  if (space.slots() < space.experts)
    return Error{
        "",
        countOf(space.experts, "expert") + " do not fit in " +
            countOf(space.ranks, "rank") + " of " +
            countOf(space.slotsPerRank, "slot"),
        countOf((space.experts + space.ranks - 1) / space.ranks, "slot") +
            " per rank would do"};
  if (auto error = checkDivides("ranks", space.ranks, "nodes", space.nodes))
    return error;
  if (auto error =
          checkDivides("experts", space.experts, "groups", space.groups))
    return error;
  if (!(options.tolerance >= 0 && options.tolerance <= 1))
    return Error{"",
                 "tolerance: expected 0 to 1, found " +
                     formatNumber(options.tolerance),
                 ""};
  if (!options.groupsInNode)
    return std::nullopt;
  if (options.policy != PlacementPolicy::balanced)
    return Error{"",
                 "policy " + std::string(nameOf(options.policy)) +
                     " does not keep groups in nodes",
                 "policy balanced does"};
  return checkDivides("groups", space.groups, "nodes", space.nodes);
}

static std::optional<Error> checkInput(const LoadProfile &loads,
                                       const PlacementSpace &space,
                                       const RoutingTrace *trace) {
  if (loads.experts != space.experts)
    return Error{"",
                 "the loads are of " + countOf(loads.experts, "expert") +
                     ", expected " + std::to_string(space.experts),
                 ""};
  Checked slots = Checked(space.slots()) * loads.layers.size();
  if (slots > limits::maxLoadNumbers)
    return Error{"",
                 "all layers together have " + formatInteger(slots) +
                     " slots, expected at most " +
                     formatInteger(limits::maxLoadNumbers),
                 ""};
  if (!trace)
    return std::nullopt;
  if (trace->experts > space.experts)
    return Error{"",
                 "the trace is of " + countOf(trace->experts, "expert") +
                     ", expected at most " + std::to_string(space.experts),
                 ""};
  auto tooMany = [](int64_t max, std::string_view what, int64_t found) {
    return Error{"",
                 "a trace is followed for at most " + std::to_string(max) +
                     " " + std::string(what) + ", found " +
                     std::to_string(found),
                 "a load profile has no such limit"};
  };
  if (space.experts > limits::maxCoactivatedExperts)
    return tooMany(limits::maxCoactivatedExperts, "experts", space.experts);
  if (space.nodes > limits::maxTracedNodes)
    return tooMany(limits::maxTracedNodes, "nodes", space.nodes);
  return std::nullopt;
}

Result<int64_t> autopar::placement::slotsWithin(Checked budgetBytes,
                                                Checked expertBytes,
                                                int64_t experts,
                                                int64_t ranks) {
  if (!(expertBytes > 0) || !expertBytes.valid() || !budgetBytes.valid() ||
      ranks < 1 || experts < 1)
    return Error{
        "", "expected an expert of at least 1 byte, a rank and an expert", ""};
  Checked slots = floorDiv(budgetBytes, expertBytes);
  Checked needed = ceilDiv(Checked(experts), ranks);
  if (slots < needed)
    return Error{"",
                 formatBytes(budgetBytes) + " hold " + formatInteger(slots) +
                     " experts of " + formatBytes(expertBytes) + ", but " +
                     countOf(experts, "expert") + " on " +
                     countOf(ranks, "rank") + " are at least " +
                     formatInteger(needed) + " per rank",
                 (needed * expertBytes).str() + " B would do"};
  return std::min(slots, Checked(experts)).int64().value_or(experts);
}

//===----------------------------------------------------------------------===//
// Placing experts
//===----------------------------------------------------------------------===//

static std::vector<int32_t> placeInBlocks(const PlacementSpace &space) {
  std::vector<int32_t> slots(static_cast<size_t>(space.slots()));
  for (int64_t slot = 0; slot < space.slots(); ++slot)
    slots[slot] = static_cast<int32_t>(slot % space.experts);
  return slots;
}

/// The i-th expert goes to rank i + i / lcm(experts, ranks), because after
/// lcm(experts, ranks) experts the deal would otherwise start again at the same
/// ranks.
static std::vector<int32_t> placeRoundRobin(const PlacementSpace &space) {
  std::vector<int32_t> slots(static_cast<size_t>(space.slots()));
  int64_t period = std::lcm(space.experts, space.ranks);
  for (int64_t i = 0; i < space.slots(); ++i) {
    int64_t rank = (i + i / period) % space.ranks;
    slots[rank * space.slotsPerRank + i / space.ranks] =
        static_cast<int32_t>(i % space.experts);
  }
  return slots;
}

double autopar::placement::imbalanceOf(const std::vector<int32_t> &slots,
                                       const std::vector<double> &tokens,
                                       int64_t ranks) {
  double total = std::accumulate(tokens.begin(), tokens.end(), 0.0);
  return ratio(largestLoadOf(rankLoads(tokens, ranks, slots)),
               total / static_cast<double>(ranks));
}

LayerPlacement autopar::placement::evaluatePlacement(
    std::vector<int32_t> slots, const LayerLoads &loads,
    const PlacementSpace &space, const LayerTrace *trace) {
  LayerPlacement result;
  result.layer = loads.layer;
  result.slots = std::move(slots);
  auto begin = result.slots.begin();
  for (int64_t rank = 0; rank < space.ranks; ++rank)
    std::sort(begin + rank * space.slotsPerRank,
              begin + (rank + 1) * space.slotsPerRank);
  result.rankTokens = rankLoads(loads.tokens, space.ranks, result.slots);
  result.hottestTokens = largestLoadOf(result.rankTokens);
  result.meanTokens =
      std::accumulate(loads.tokens.begin(), loads.tokens.end(), 0.0) /
      static_cast<double>(space.ranks);
  result.boundTokens = boundOf({loads.tokens, space.ranks, space.slotsPerRank});
  result.optimal =
      result.hottestTokens <= result.boundTokens * (1 + loadEpsilon);
  std::vector<int32_t> block = placeInBlocks(space);
  result.blockHottestTokens =
      largestLoadOf(rankLoads(loads.tokens, space.ranks, block));
  if (trace) {
    result.traffic = countTraffic(result.slots, space, *trace);
    result.blockTraffic = countTraffic(block, space, *trace);
  }
  return result;
}

static LayerPlacement placeLayer(const LayerLoads &loads,
                                 const PlacementSpace &space,
                                 const PlacementOptions &options,
                                 const LayerTrace *trace) {
  if (options.policy == PlacementPolicy::block)
    return evaluatePlacement(placeInBlocks(space), loads, space, trace);
  if (options.policy == PlacementPolicy::round_robin)
    return evaluatePlacement(placeRoundRobin(space), loads, space, trace);
  Balanced balanced = LayerPlacer(loads, space, options, trace).place();
  LayerPlacement result =
      evaluatePlacement(std::move(balanced.slots), loads, space, trace);
  result.optimal |= balanced.optimal;
  // The placement in blocks may by chance be better than the result of the
  // search.
  bool free = !trace && !options.groupsInNode;
  if (free && result.blockHottestTokens < result.hottestTokens)
    return evaluatePlacement(placeInBlocks(space), loads, space);
  return result;
}

Result<ExpertPlacement> autopar::placement::placeExperts(
    const LoadProfile &loads, const PlacementSpace &space,
    const PlacementOptions &options, const RoutingTrace *trace) {
  if (auto error = checkPlacement(space, options))
    return *error;
  if (auto error = checkInput(loads, space, trace))
    return *error;
  ExpertPlacement placement = {space, options, {}};
  for (const LayerLoads &layer : loads.layers)
    placement.layers.push_back(placeLayer(
        layer, space, options, trace ? trace->find(layer.layer) : nullptr));
  return placement;
}
