//===- LayerKinds.h - A checkpoint sorted into layers -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_CHECKPOINT_LAYERKINDS_H
#define AUTOPAR_LIB_CHECKPOINT_LAYERKINDS_H

#include "autopar/Checkpoint/Checkpoint.h"

#include <map>
#include <string>
#include <vector>

namespace autopar::checkpoint {

/// Tensors that differ in the number of an expert alone, or a single one.
struct TensorGroup {
  /// Empty where only the name is known.
  std::vector<int64_t> shape;
  /// As safetensors spells it.
  std::string dtype;
  /// How many experts have it, whose number is "*" in the name; 0: no expert.
  int64_t experts = 0;
  /// Whether a block of the draft has it.
  bool taken = false;

  int64_t count() const { return experts ? experts : 1; }
};
/// By name.
using TensorGroups = std::map<std::string, TensorGroup>;

/// Layers that have tensors of the same names, shapes and dtypes.
struct LayerKind {
  std::vector<int64_t> layers;
  /// Names behind the number of the layer.
  TensorGroups tensors;
};

/// The tensors of a checkpoint: those of the stack of layers with most
/// elements, and all others.
struct SortedCheckpoint {
  /// What stands before the number of a layer: "model.layers".
  std::string prefix;
  /// In order of their first layer.
  std::vector<LayerKind> kinds;
  int64_t layers = 0;
  /// Names as the checkpoint has them.
  TensorGroups outer;
};
/// A stack called "decoder" comes before all that are not.
SortedCheckpoint sortIntoLayers(const CheckpointIndex &checkpoint);

/// Takes the layers from number `count` on out of `sorted`; returns their
/// tensors with names as the checkpoint has them.
TensorGroups takeLayersFrom(SortedCheckpoint &sorted, int64_t count);

} // namespace autopar::checkpoint

#endif // AUTOPAR_LIB_CHECKPOINT_LAYERKINDS_H
