//===- EngineMap.h - Placements as serving engines load them ----*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLACEMENT_ENGINEMAP_H
#define AUTOPAR_PLACEMENT_ENGINEMAP_H

#include "autopar/Placement/LoadSource.h"
#include "autopar/Placement/Placement.h"

namespace autopar::placement {

/// The file formats in which runtimes read which expert each slot holds.
///
/// sglang       `--init-expert-location FILE.json`: an object whose only member
///              `physical_to_logical_map` has a row for every decoder layer,
///              dense ones too; slot p belongs to rank p / slots per rank.
///              (python/sglang/srt/eplb/expert_location.py: the members are
///              passed on as arguments, so others break it; rows by
///              `num_layers=config.num_hidden_layers` of the models.) Needs
///              `--ep-num-redundant-experts`.
/// vllm         A bare array with a row for every layer that has experts:
///              `eplb_config.initial_expert_map_path` of pull request 49572,
///              which is open. Needs `eplb_config.num_redundant_experts`.
/// vllm_ascend  `moe_layer_count` and a `layer_list` of layers with experts,
///              each a `device_list` of `device_expert` lists
///              (vllm_ascend/eplb/core/eplb_utils.py,
///              vllm_ascend/ops/expert_load_balancer.py):
///              `eplb_config.expert_map_path` of its additional config.
enum class EngineFormat : uint8_t { sglang, vllm, vllm_ascend };
std::string_view nameOf(EngineFormat format);
std::optional<EngineFormat> parseEngineFormat(std::string_view text);

/// Writes the map in the format of a runtime. `decoderLayers` is the number of
/// layers of the model, dense ones included. Layers that were not placed get
/// the rows of `block`. Error: a placed layer beyond `decoderLayers`.
Result<std::string> writeEngineMap(const ExpertPlacement &placement,
                                   EngineFormat format, int64_t decoderLayers);

/// The experts in the slots of one layer, from a file.
struct LayerSlots {
  int64_t layer = 0;
  std::vector<int32_t> slots;
};

/// Reads the slots of the layers `layers`, a sorted list of the numbers of
/// those with experts. Every expert must have a slot.
Result<std::vector<LayerSlots>>
readEngineMap(const JsonDocument &document, EngineFormat format,
              const PlacementSpace &space, const std::vector<int64_t> &layers);

/// Evaluates the placement in `document`, a map of a runtime, under `loads`,
/// which must have its layers. The structure of the document tells its format.
Result<ExpertPlacement> evaluateEngineMap(const JsonDocument &document,
                                          const ExpertLoads &loads,
                                          const PlacementSpace &space);

} // namespace autopar::placement

#endif // AUTOPAR_PLACEMENT_ENGINEMAP_H
