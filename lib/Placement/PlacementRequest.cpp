//===- PlacementRequest.cpp -----------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Placement/PlacementRequest.h"

#include "autopar/Placement/EngineMap.h"
#include "autopar/Placement/PlacementReport.h"
#include "autopar/Support/Limits.h"
#include "autopar/Support/Text.h"

#include <charconv>

using namespace autopar;
using namespace autopar::placement;

//===----------------------------------------------------------------------===//
// Reading experts, layers and slots
//===----------------------------------------------------------------------===//

static bool parse(std::string_view text, int64_t &number) {
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

/// Parses a range of layers such as "3-60", or a number of layers such as "58"
/// for layers 0 to 57.
static Result<std::vector<int64_t>> parseLayers(const std::string &text) {
  size_t dash = text.find('-');
  int64_t first = 0, last = 0;
  bool good = dash == std::string::npos
                  ? parse(text, last)
                  : parse(text.substr(0, dash), first) &&
                        parse(text.substr(dash + 1), last);
  if (dash == std::string::npos)
    --last;
  if (!good || first < 0 || last < first || last >= limits::maxConfigLayers)
    return Error{"", "bad layers \"" + shorten(text) + "\"",
                 "give a number, or the first and the last as in 3-60, below " +
                     std::to_string(limits::maxConfigLayers)};
  std::vector<int64_t> layers;
  for (int64_t layer = first; layer <= last; ++layer)
    layers.push_back(layer);
  return layers;
}

/// Checks that the user's numbers agree with those of the model. Returns the
/// shape of the loads.
static Result<LoadShape> shapeOf(const PlacementRequest &request) {
  LoadShape shape = request.model.shape;
  if (request.experts && shape.experts && request.experts != *shape.experts)
    return Error{"",
                 "the model has " + countOf(*shape.experts, "expert") +
                     ", not " + std::to_string(request.experts),
                 "leave out --experts"};
  if (request.experts)
    shape.experts = request.experts;
  if (request.layers.empty())
    return shape;
  Result<std::vector<int64_t>> layers = parseLayers(request.layers);
  if (!layers)
    return layers.error();
  for (int64_t layer : *layers)
    if (std::string wrong = wrongLayer(shape, layer); !wrong.empty())
      return Error{"", "--layers=" + request.layers + ": " + wrong,
                   layersNote(shape)};
  shape.layers = std::move(*layers);
  return shape;
}

/// Reads the loads. A word such as "zipf:1.0", without layers, gives the loads
/// of one layer.
static Result<ExpertLoads> readRequested(const PlacementRequest &request,
                                         LoadShape shape) {
  if (request.sources.empty())
    return Error{"", "experts are placed by their loads, which are not given",
                 "give --load=FILE, --load=zipf:1.0 or --trace=FILE"};
  Result<std::optional<SyntheticLoad>> word =
      parseSyntheticLoad(request.sources.load);
  if (!word)
    return word.error();
  if (*word && !shape.experts)
    return Error{"", "loads of a word need a number of experts",
                 "give --experts=N, or a model"};
  if (*word && shape.layers.empty())
    shape.layers = {0};
  return readSources(request.sources, shape);
}

/// Returns how many slots a rank has if its experts must fit in the budget,
/// over all layers.
static Result<int64_t> slotsOfBudget(const PlacementRequest &request,
                                     const LoadProfile &loads) {
  Checked bytes =
      request.expertBytes ? request.expertBytes : request.model.expertBytes;
  if (bytes.isZero())
    return Error{"", "a budget of memory needs the bytes of an expert",
                 "give --expert-bytes=SIZE, or a model"};
  size_t layers =
      std::max(request.model.shape.layers.size(), loads.layers.size());
  Result<int64_t> slots =
      slotsWithin(request.budgetBytes, bytes * static_cast<int64_t>(layers),
                  loads.experts, request.ranks);
  if (slots)
    return slots;
  return Error{"",
               "--expert-budget over " + countOf(layers, "layer") + ": " +
                   slots.error().message,
               slots.error().note};
}

static Result<PlacementSpace> spaceOf(const PlacementRequest &request,
                                      const LoadProfile &loads) {
  int64_t experts = loads.experts;
  PlacementSpace space;
  space.experts = experts;
  space.ranks = request.ranks;
  space.nodes = request.nodes;
  space.groups = request.groups ? request.groups : request.model.groups;
  space.slotsPerRank = request.slotsPerRank;
  if (request.budgetBytes) {
    Result<int64_t> slots = slotsOfBudget(request, loads);
    if (!slots)
      return slots.error();
    space.slotsPerRank = *slots;
  }
  if (space.slotsPerRank)
    return space;
  int64_t slots = experts + request.redundant;
  if (slots % request.ranks == 0) {
    space.slotsPerRank = slots / request.ranks;
    return space;
  }
  int64_t least = (experts + request.ranks - 1) / request.ranks;
  return Error{
      "",
      countOf(experts, "expert") + " and " + std::to_string(request.redundant) +
          " redundant ones do not lie evenly on " +
          countOf(request.ranks, "rank"),
      "--redundant=" + std::to_string(least * request.ranks - experts) +
          " or " + std::to_string((least + 1) * request.ranks - experts) +
          " would do"};
}

static Result<PlacementOptions> optionsOf(const PlacementRequest &request) {
  PlacementOptions options;
  std::optional<PlacementPolicy> policy = parsePlacementPolicy(request.policy);
  if (!policy)
    return Error{"",
                 "unknown policy \"" + shorten(request.policy) +
                     "\", expected " + policyChoices(),
                 ""};
  options.policy = *policy;
  options.groupsInNode = request.groupsInNode;
  options.tolerance = request.tolerance;
  return options;
}

//===----------------------------------------------------------------------===//
// Running a request and printing its result
//===----------------------------------------------------------------------===//

static Result<std::string> print(const PlacementRequest &request,
                                 const ExpertPlacement &placement) {
  if (request.engine.empty())
    return request.format == "json" ? placementJson(placement, request.map)
                                    : placementText(placement, request.map);
  std::optional<EngineFormat> format = parseEngineFormat(request.engine);
  if (!format)
    return Error{"",
                 "unknown engine \"" + shorten(request.engine) +
                     "\", expected sglang, vllm or vllm_ascend",
                 ""};
  int64_t layers = request.decoderLayers ? request.decoderLayers
                                         : request.model.decoderLayers;
  if (!layers)
    return Error{"", "a map of an engine needs the layers of the model",
                 "give --decoder-layers=N, those without experts too, or a "
                 "model"};
  size_t placed = placement.layers.size(),
         all = request.model.shape.layers.size();
  if (all > placed && *format != EngineFormat::sglang)
    return Error{"",
                 "a map of " + request.engine + " has all " +
                     std::to_string(all) + " layers with experts, not " +
                     std::to_string(placed),
                 "leave out --layers"};
  return writeEngineMap(placement, *format, layers);
}

static Result<ExpertPlacement> place(const PlacementRequest &request,
                                     const ExpertLoads &read,
                                     const PlacementSpace &space,
                                     const PlacementOptions &options) {
  if (request.map.empty())
    return placeExperts(read.loads, space, options, read.traceOrNull());
  Result<JsonDocument> document = JsonDocument::readFile(request.map);
  return document ? evaluateEngineMap(*document, read, space)
                  : document.error();
}

Result<std::string> autopar::placement::runPlacement(PlacementRequest request) {
  Result<LoadShape> shape = shapeOf(request);
  if (!shape)
    return shape.error();
  Result<PlacementOptions> options = optionsOf(request);
  if (!options)
    return options.error();
  Result<ExpertLoads> read = readRequested(request, *shape);
  if (!read)
    return read.error();
  Result<PlacementSpace> space = spaceOf(request, read->loads);
  if (!space)
    return space.error();
  Result<ExpertPlacement> placement = place(request, *read, *space, *options);
  return placement ? print(request, *placement) : placement.error();
}
