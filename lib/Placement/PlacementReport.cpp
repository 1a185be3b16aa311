//===- PlacementReport.cpp ------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Placement/PlacementReport.h"

#include "autopar/Support/Text.h"

#include <algorithm>
#include <cstdio>

using namespace autopar;
using namespace autopar::placement;

static constexpr size_t textWidth = 80;

static std::string print(const char *format, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), format, value);
  return buffer;
}

//===----------------------------------------------------------------------===//
// Placements as text
//===----------------------------------------------------------------------===//

namespace {

/// The character that shows a rank whose load is below `limit` times the mean.
struct HeatStep {
  double limit;
  char character;
};

} // namespace

static constexpr HeatStep heatSteps[] = {{0.5, ' '},  {0.8, '.'},  {0.95, '-'},
                                         {1.05, '='}, {1.25, '+'}, {2, '*'},
                                         {4, '#'}};
static constexpr char largestLoadCharacter = '@';
static constexpr const char *legend =
    "  ranks by load / mean: under 0.5 ' ', 0.8 '.', 0.95 '-', 1.05 '=', 1.25 "
    "'+',\n  2 '*', 4 '#', more '@'\n";

static char heat(double tokens, double mean) {
  double load = mean > 0 ? tokens / mean : 1;
  for (const HeatStep &step : heatSteps)
    if (load < step.limit)
      return step.character;
  return largestLoadCharacter;
}

/// Writes a character for each rank or, if there are more ranks than `width`,
/// for each run of ranks.
static std::string heatLine(const LayerPlacement &layer, size_t width) {
  size_t ranks = layer.rankTokens.size(), columns = std::min(ranks, width);
  std::string line;
  for (size_t column = 0; column < columns; ++column) {
    auto begin = layer.rankTokens.begin();
    double largest = *std::max_element(begin + column * ranks / columns,
                                       begin + (column + 1) * ranks / columns);
    line += heat(largest, layer.meanTokens);
  }
  return line;
}

static std::string alignRight(const std::string &text, size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

static std::string layerLine(const LayerPlacement &layer, bool traffic) {
  std::string line = alignRight(std::to_string(layer.layer), 7) +
                     alignRight(print("%.2f", layer.blockImbalance()), 7) +
                     alignRight(print("%.3f", layer.imbalance()), 7);
  if (traffic)
    line +=
        alignRight(layer.traffic ? print("%.2f", layer.blockTraffic->perToken())
                                 : "",
                   7) +
        alignRight(
            layer.traffic ? print("%.2f", layer.traffic->perToken()) : "", 7);
  line += "  |";
  return line + heatLine(layer, textWidth - line.size() - 1) + "|\n";
}

/// Writes how many sends to other nodes a token causes, over all traced layers,
/// for the placement `block` and for this placement.
static std::string trafficLine(const ExpertPlacement &placement) {
  NodeTraffic before, after;
  for (const LayerPlacement &layer : placement.layers)
    if (layer.traffic) {
      before.sends += layer.blockTraffic->sends;
      after.sends += layer.traffic->sends;
      before.tokens += layer.blockTraffic->tokens;
      after.tokens += layer.traffic->tokens;
    }
  if (after.tokens == 0)
    return "";
  double change = before.sends > 0 ? 100 * (after.sends / before.sends - 1) : 0;
  return "  sends of a token to other nodes: block " +
         print("%.2f", before.perToken()) + ", now " +
         print("%.2f", after.perToken()) + print(" (%+.0f%%)\n", change);
}

static std::string headText(const ExpertPlacement &placement,
                            const std::string &map) {
  const PlacementSpace &space = placement.space;
  double before = 0;
  for (const LayerPlacement &layer : placement.layers)
    before += layer.blockImbalance() / placement.layers.size();
  std::string text =
      "Expert placement (" +
      (map.empty() ? std::string(nameOf(placement.options.policy)) : map) +
      ")\n  " + countOf(space.experts, "expert") + " on " +
      countOf(space.ranks, "rank") + " of " +
      countOf(space.slotsPerRank, "slot") + ", " +
      countOf(space.nodes, "node") + "\n";
  return text + "  most loaded rank / mean: block " + print("%.2f", before) +
         ", now " + print("%.3f", placement.meanImbalance()) + " over " +
         countOf(placement.layers.size(), "layer") + ", worst " +
         print("%.3f", placement.worstImbalance()) + "\n" +
         trafficLine(placement);
}

std::string autopar::placement::placementText(const ExpertPlacement &placement,
                                              const std::string &map,
                                              size_t maxLayers) {
  std::vector<const LayerPlacement *> worstFirst;
  bool traffic = false;
  for (const LayerPlacement &layer : placement.layers) {
    worstFirst.push_back(&layer);
    traffic |= layer.traffic.has_value();
  }
  std::sort(worstFirst.begin(), worstFirst.end(),
            [](const LayerPlacement *a, const LayerPlacement *b) {
              return std::pair(-a->imbalance(), a->layer) <
                     std::pair(-b->imbalance(), b->layer);
            });
  std::string text = headText(placement, map) + "         largest load" +
                     (traffic ? "  sends to nodes" : "") +
                     "\n  layer  block    now" +
                     (traffic ? "  block    now" : "") + "   ranks\n";
  for (size_t i = 0; i < std::min(maxLayers, worstFirst.size()); ++i)
    text += layerLine(*worstFirst[i], traffic);
  if (worstFirst.size() > maxLayers)
    text += "  " + countOf(worstFirst.size() - maxLayers, "more layer") +
            ", none above " +
            print("%.3f", worstFirst[maxLayers]->imbalance()) + "\n";
  return text + legend;
}

//===----------------------------------------------------------------------===//
// Placements as JSON
//===----------------------------------------------------------------------===//

template <typename T>
static std::string listOf(const std::vector<T> &values) {
  std::vector<std::string> numbers;
  for (T value : values)
    numbers.push_back(formatNumber(static_cast<double>(value)));
  return "[" + join(numbers, ", ") + "]";
}

static std::string member(std::string_view key, std::string value) {
  return "\"" + std::string(key) + "\": " + std::move(value);
}

static std::string layerJson(const LayerPlacement &layer) {
  std::vector<std::string> members = {
      member("layer", std::to_string(layer.layer)),
      member("imbalance", formatNumber(layer.imbalance())),
      member("block_imbalance", formatNumber(layer.blockImbalance())),
      member("mean_tokens", formatNumber(layer.meanTokens)),
      member("hottest_tokens", formatNumber(layer.hottestTokens)),
      member("bound_tokens", formatNumber(layer.boundTokens)),
      member("optimal", layer.optimal ? "true" : "false")};
  if (layer.traffic) {
    members.push_back(
        member("routed_tokens", formatNumber(layer.traffic->tokens)));
    members.push_back(
        member("cross_node_sends", formatNumber(layer.traffic->sends)));
    members.push_back(member("block_cross_node_sends",
                             formatNumber(layer.blockTraffic->sends)));
  }
  members.push_back(member("rank_tokens", listOf(layer.rankTokens)));
  members.push_back(member("physical_to_logical", listOf(layer.slots)));
  return "    {" + join(members, ", ") + "}";
}

std::string autopar::placement::placementJson(const ExpertPlacement &placement,
                                              const std::string &map) {
  const PlacementSpace &space = placement.space;
  const PlacementOptions &options = placement.options;
  std::vector<std::string> layers;
  for (const LayerPlacement &layer : placement.layers)
    layers.push_back(layerJson(layer));
  std::vector<std::string> members = {
      member("schema", "\"autopar.placement/1\""),
      member("policy",
             "\"" +
                 (map.empty() ? std::string(nameOf(options.policy)) : "map") +
                 "\""),
      member("experts", std::to_string(space.experts)),
      member("ranks", std::to_string(space.ranks)),
      member("slots_per_rank", std::to_string(space.slotsPerRank)),
      member("nodes", std::to_string(space.nodes)),
      member("groups", std::to_string(space.groups)),
      member("groups_in_node", options.groupsInNode ? "true" : "false"),
      member("tolerance", formatNumber(options.tolerance)),
      member("mean_imbalance", formatNumber(placement.meanImbalance())),
      member("worst_imbalance", formatNumber(placement.worstImbalance())),
      member("layers", "[\n" + join(layers, ",\n") + "\n  ]")};
  return "{\n  " + join(members, ",\n  ") + "\n}\n";
}
