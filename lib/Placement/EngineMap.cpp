//===- EngineMap.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Placement/EngineMap.h"

#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <algorithm>
#include <array>

using namespace autopar;
using namespace autopar::placement;

static constexpr std::array<std::string_view, 3> formatNames = {
    "sglang", "vllm", "vllm_ascend"};

std::string_view autopar::placement::nameOf(EngineFormat format) {
  return formatNames[static_cast<size_t>(format)];
}

std::optional<EngineFormat>
autopar::placement::parseEngineFormat(std::string_view text) {
  auto at = std::find(formatNames.begin(), formatNames.end(), text);
  if (at == formatNames.end())
    return std::nullopt;
  return static_cast<EngineFormat>(at - formatNames.begin());
}

//===----------------------------------------------------------------------===//
// Writing the files of engines
//===----------------------------------------------------------------------===//

template <typename Iterator>
static std::string listOf(Iterator begin, Iterator end) {
  std::vector<std::string> numbers;
  for (; begin != end; ++begin)
    numbers.push_back(std::to_string(*begin));
  return "[" + join(numbers, ", ") + "]";
}

static std::string rowsText(const std::vector<std::string> &rows) {
  return "[\n  " + join(rows, ",\n  ") + "\n]";
}

static std::string ascendLayer(const LayerPlacement &layer, size_t index,
                               const PlacementSpace &space) {
  std::vector<std::string> devices;
  for (int64_t rank = 0; rank < space.ranks; ++rank) {
    auto begin = layer.slots.begin() + rank * space.slotsPerRank;
    devices.push_back("{\"device_id\": " + std::to_string(rank) +
                      ", \"device_expert\": " +
                      listOf(begin, begin + space.slotsPerRank) + "}");
  }
  return "{\"layer_id\": " + std::to_string(index) +
         ", \"device_count\": " + std::to_string(space.ranks) +
         ", \"device_list\": [\n    " + join(devices, ",\n    ") + "\n  ]}";
}

/// Writes a row for every decoder layer. Layers that were not placed get the
/// placement `block`.
static std::vector<std::string> rowsOfAll(const ExpertPlacement &placement,
                                          int64_t decoderLayers) {
  std::vector<int32_t> block(static_cast<size_t>(placement.space.slots()));
  for (size_t slot = 0; slot < block.size(); ++slot)
    block[slot] = static_cast<int32_t>(static_cast<int64_t>(slot) %
                                       placement.space.experts);
  std::vector<std::string> rows(static_cast<size_t>(decoderLayers),
                                listOf(block.begin(), block.end()));
  for (const LayerPlacement &layer : placement.layers)
    rows[static_cast<size_t>(layer.layer)] =
        listOf(layer.slots.begin(), layer.slots.end());
  return rows;
}

Result<std::string>
autopar::placement::writeEngineMap(const ExpertPlacement &placement,
                                   EngineFormat format, int64_t decoderLayers) {
  const std::vector<LayerPlacement> &layers = placement.layers;
  if (layers.empty() || decoderLayers > limits::maxConfigLayers ||
      layers.back().layer >= decoderLayers)
    return Error{
        "",
        "expected placed layers below " + std::to_string(decoderLayers) +
            (layers.empty()
                 ? ", found none"
                 : ", found layer " + std::to_string(layers.back().layer)),
        "at most " + std::to_string(limits::maxConfigLayers) +
            " layers are written"};
  if (format == EngineFormat::sglang)
    return "{\"physical_to_logical_map\": " +
           rowsText(rowsOfAll(placement, decoderLayers)) + "}\n";
  std::vector<std::string> rows;
  for (const LayerPlacement &layer : layers)
    rows.push_back(format == EngineFormat::vllm
                       ? listOf(layer.slots.begin(), layer.slots.end())
                       : ascendLayer(layer, rows.size(), placement.space));
  if (format == EngineFormat::vllm)
    return rowsText(rows) + "\n";
  return "{\"moe_layer_count\": " + std::to_string(rows.size()) +
         ", \"layer_list\": " + rowsText(rows) + "}\n";
}

//===----------------------------------------------------------------------===//
// Reading the files of engines
//===----------------------------------------------------------------------===//

/// Appends the experts of `list` to `slots`; the list must have `expected`
/// entries.
static void readExperts(const JsonReader &list, int64_t expected,
                        const PlacementSpace &space,
                        std::vector<int32_t> &slots) {
  std::vector<JsonReader> elements = list.elements();
  if (!list.isArray() || static_cast<int64_t>(elements.size()) != expected) {
    list.fail("expected " + countOf(static_cast<size_t>(expected), "slot") +
              ", found " + std::to_string(elements.size()));
    return;
  }
  for (const JsonReader &element : elements)
    slots.push_back(
        static_cast<int32_t>(element.asInteger(0, space.experts - 1)));
}

static void checkComplete(const JsonReader &row, const PlacementSpace &space,
                          const std::vector<int32_t> &slots) {
  std::vector<bool> held(static_cast<size_t>(space.experts));
  for (int32_t expert : slots)
    held[expert] = true;
  auto missing = std::find(held.begin(), held.end(), false);
  if (missing != held.end())
    row.fail("expert " + std::to_string(missing - held.begin()) +
             " has no slot");
}

static void readAscendLayer(const JsonReader &layer,
                            const PlacementSpace &space,
                            std::vector<int32_t> &slots) {
  JsonReader list = layer.array("device_list");
  std::vector<JsonReader> devices = list.elements();
  if (static_cast<int64_t>(devices.size()) != space.ranks)
    list.fail("expected " +
              countOf(static_cast<size_t>(space.ranks), "device") + ", found " +
              std::to_string(devices.size()));
  for (const JsonReader &device : devices) {
    if (layer.failed())
      return;
    readExperts(device.array("device_expert"), space.slotsPerRank, space,
                slots);
  }
}

static JsonReader rowsOf(const JsonReader &root, EngineFormat format) {
  if (format == EngineFormat::sglang) {
    root.allowOnly({"physical_to_logical_map"});
    return root.array("physical_to_logical_map");
  }
  if (format == EngineFormat::vllm_ascend)
    return root.array("layer_list");
  if (!root.isArray())
    root.fail("expected an array of rows");
  return root;
}

Result<std::vector<LayerSlots>> autopar::placement::readEngineMap(
    const JsonDocument &document, EngineFormat format,
    const PlacementSpace &space, const std::vector<int64_t> &layers) {
  if (auto error = checkPlacement(space, {}))
    return *error;
  JsonReader root = document.reader(), list = rowsOf(root, format);
  std::vector<JsonReader> rows = list.elements();
  bool allLayers = format == EngineFormat::sglang;
  size_t expected = layers.empty() ? 0
                    : allLayers    ? static_cast<size_t>(layers.back()) + 1
                                   : layers.size();
  if (allLayers ? rows.size() < expected : rows.size() != expected)
    list.fail("expected " + std::string(allLayers ? "at least " : "") +
              countOf(expected, "row") + ", found " +
              std::to_string(rows.size()));
  std::vector<LayerSlots> result;
  for (size_t i = 0; i < layers.size() && !root.failed(); ++i) {
    const JsonReader &row = rows[allLayers ? layers[i] : i];
    result.push_back({layers[i], {}});
    if (format == EngineFormat::vllm_ascend)
      readAscendLayer(row, space, result.back().slots);
    else
      readExperts(row, space.slots(), space, result.back().slots);
    if (!root.failed())
      checkComplete(row, space, result.back().slots);
  }
  if (root.failed())
    return root.takeError();
  return result;
}

//===----------------------------------------------------------------------===//
// Evaluating a placement from a file
//===----------------------------------------------------------------------===//

static EngineFormat formatOf(const JsonReader &root) {
  if (root.isArray())
    return EngineFormat::vllm;
  return root.has("layer_list") ? EngineFormat::vllm_ascend
                                : EngineFormat::sglang;
}

Result<ExpertPlacement>
autopar::placement::evaluateEngineMap(const JsonDocument &document,
                                      const ExpertLoads &read,
                                      const PlacementSpace &space) {
  const LoadProfile &loads = read.loads;
  PlacementOptions block;
  block.policy = PlacementPolicy::block;
  // `placeExperts` also checks the loads and the space.
  Result<ExpertPlacement> placement =
      placeExperts(loads, space, block, read.traceOrNull());
  if (!placement)
    return placement.error();
  std::vector<int64_t> layers;
  for (const LayerLoads &layer : loads.layers)
    layers.push_back(layer.layer);
  Result<std::vector<LayerSlots>> map =
      readEngineMap(document, formatOf(document.reader()), space, layers);
  if (!map)
    return map.error();
  for (size_t i = 0; i < layers.size(); ++i)
    placement->layers[i] =
        evaluatePlacement(std::move((*map)[i].slots), loads.layers[i], space,
                          read.trace ? read.trace->find(layers[i]) : nullptr);
  return placement;
}
