//===- TrainingMemory.h - Values that iterations keep -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_INTERPRETER_TRAININGMEMORY_H
#define AUTOPAR_INTERPRETER_TRAININGMEMORY_H

#include "autopar/Interpreter/Stages.h"

#include "mlir/IR/Operation.h"

#include <map>
#include <set>
#include <string>
#include <tuple>

namespace autopar::interpreter {

/// Elements of checkpoint tensors, by the tensor's name
/// ("model.layers.3.mlp.up_proj.weight") and the row-major offset.
using CheckpointElements = std::map<std::string, std::map<int64_t, double>>;

/// A weight of a layer. Weights that read different parts of one checkpoint
/// tensor are different.
struct LayerWeight {
  std::string layer, name;
  /// The attribute that states which part of the checkpoint tensor the weight
  /// reads.
  const void *storage = nullptr;

  bool operator<(const LayerWeight &other) const {
    return std::tie(layer, name, storage) <
           std::tie(other.layer, other.name, other.storage);
  }
};

/// The values that devices keep in an iteration for the backward and the
/// update, and from one iteration to the next.
struct TrainingMemory {
  /// A gradient summed over microbatches, in the layout of the gradients that
  /// are added.
  struct Gradient {
    /// One of the SSA values that were added, whose type gives the layout.
    mlir::Value addend;
    DeviceTensors sums;
  };
  /// The optimizer states of a weight.
  struct Moments {
    DeviceTensors first, second;
  };

  /// Values saved for the backward, by layer, function and name; reading
  /// removes them.
  std::map<std::string, DeviceTensors> saved;
  std::map<LayerWeight, Gradient> gradients;
  std::map<LayerWeight, Moments> moments;
  /// For each weight that the iteration read: one of its ops, and the devices
  /// whose forwards or backwards read it.
  struct ReadWeight {
    mlir::Operation *op = nullptr;
    std::set<int64_t> devices;
  };
  std::map<LayerWeight, ReadWeight> weights;
  /// Elements that replace those of the weights in this iteration (`given`),
  /// and in the next one (`next`).
  CheckpointElements given, next;
  /// The number of the iteration, from 1.
  int64_t iteration = 0;
  /// A change of one element of a checkpoint tensor by `by`; if `name` is "", a
  /// change of all elements, each by `by` times its `directionOf`.
  struct Nudge {
    std::string name;
    int64_t offset = 0;
    double by = 0;

    bool isOf(const std::string &tensor) const {
      return by != 0 && (name.empty() || name == tensor);
    }
  } nudged;

  void beginIteration();
  double nudgeOf(const std::string &name, int64_t offset) const;
};

/// Returns the component of a fixed random direction that belongs to one
/// element, from -1 to 1.
double directionOf(const std::string &name, int64_t offset);

} // namespace autopar::interpreter

#endif // AUTOPAR_INTERPRETER_TRAININGMEMORY_H
