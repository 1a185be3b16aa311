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

/// A tensor, or several that differ only in the number of an expert.
struct TensorGroup {
  /// Dimensions of one tensor; empty if only the name is known.
  std::vector<int64_t> shape;
  /// The element type of the tensor, as safetensors spells it.
  std::string dtype;
  /// Number of experts that have the tensor, whose name has "*" for the
  /// expert's number; 0 if it belongs to no expert.
  int64_t experts = 0;
  /// Whether a block of the draft uses the tensor.
  bool taken = false;

  int64_t count() const { return experts ? experts : 1; }
};
/// The tensors of a layer kind, by name.
using TensorGroups = std::map<std::string, TensorGroup>;

/// A kind of layer: layers whose tensors have the same names, shapes and
/// dtypes.
struct LayerKind {
  std::vector<int64_t> layers;
  /// The tensors of one layer, by the part of the name after the layer's
  /// number.
  TensorGroups tensors;
};

/// The tensors of a checkpoint, divided into those of the stack of layers with
/// the most elements, and all others.
struct SortedCheckpoint {
  /// The names' beginning before the number of a layer: "model.layers".
  std::string prefix;
  /// The kinds of layers, in the order of their first layers.
  std::vector<LayerKind> kinds;
  int64_t layers = 0;
  /// Tensors outside of the stack, by their whole names.
  TensorGroups outer;
};
/// Divides the tensors of a checkpoint into layers and others. A stack called
/// "decoder" is preferred to all others.
SortedCheckpoint sortIntoLayers(const CheckpointIndex &checkpoint);

/// Removes the layers from number `count` on from `sorted`, and returns their
/// tensors by their whole names.
TensorGroups takeLayersFrom(SortedCheckpoint &sorted, int64_t count);

} // namespace autopar::checkpoint

#endif // AUTOPAR_LIB_CHECKPOINT_LAYERKINDS_H
