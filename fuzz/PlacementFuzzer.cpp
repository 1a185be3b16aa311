//===- PlacementFuzzer.cpp -----------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The input is a load profile, a routing trace or the map of an engine, in any
// of their formats.

#include "autopar/Placement/EngineMap.h"
#include "autopar/Placement/PlacementReport.h"

using namespace autopar;
using namespace autopar::placement;

static const LoadShape shapes[] = {{}, {4, {1, 2}}};

/// What was placed is written, and read again is the same.
static void checkPlacement(const LoadProfile &loads,
                           const RoutingTrace *trace) {
  if (loads.experts > 64 || loads.layers.size() > 4)
    return;
  PlacementSpace space = {loads.experts, 4, loads.experts / 4 + 2, 2};
  Result<ExpertPlacement> placement = placeExperts(loads, space, {}, trace);
  if (!placement)
    __builtin_trap();
  Result<JsonDocument> json =
      JsonDocument::parse(placementJson(*placement), "placement.json");
  if (!json || placementText(*placement).empty())
    __builtin_trap();
  std::vector<int64_t> layers;
  for (const LayerLoads &layer : loads.layers)
    layers.push_back(layer.layer);
  for (EngineFormat format :
       {EngineFormat::sglang, EngineFormat::vllm, EngineFormat::vllm_ascend}) {
    if (layers.back() > 100)
      continue;
    Result<std::string> text =
        writeEngineMap(*placement, format, layers.back() + 1);
    Result<JsonDocument> map = JsonDocument::parse(*text, "map.json");
    auto read = readEngineMap(*map, format, space, layers);
    for (size_t i = 0; i < layers.size(); ++i)
      if (!read || (*read)[i].slots != placement->layers[i].slots)
        __builtin_trap();
  }
}

static void checkLoads(const Result<LoadProfile> &loads) {
  if (!loads)
    return;
  std::string written = writeLoads(*loads);
  Result<JsonDocument> document = JsonDocument::parse(written, "again.json");
  Result<LoadProfile> again = readLoadJson(*document, {});
  if (!again || writeLoads(*again) != written)
    __builtin_trap();
  checkPlacement(*loads, nullptr);
}

static void checkTrace(const Result<RoutingTrace> &trace) {
  if (!trace)
    return;
  std::string written = writeTrace(*trace);
  Result<RoutingTrace> again = readTraceJsonLines(written, "again.jsonl", {});
  if (!again || writeTrace(*again) != written)
    __builtin_trap();
  checkPlacement(loadsOf(*trace), &*trace);
}

extern "C" int LLVMFuzzerTestOneInput(const char *data, size_t size) {
  std::string_view text(data, size);
  Result<JsonDocument> document = JsonDocument::parse(text, "a.json");
  for (const LoadShape &shape : shapes) {
    if (document)
      checkLoads(readLoadJson(*document, shape));
    checkLoads(readLoadCsv(text, "a.csv", shape));
    checkTrace(readTraceJsonLines(text, "a.jsonl", shape));
    checkTrace(readTraceCsv(text, "a.csv", shape));
  }
  if (document)
    for (EngineFormat format :
         {EngineFormat::sglang, EngineFormat::vllm, EngineFormat::vllm_ascend})
      (void)readEngineMap(*document, format, {4, 2, 3}, {1, 2});
  return 0;
}
