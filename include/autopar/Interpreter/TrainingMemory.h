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

/// Elements of checkpoint tensors, by name
/// ("model.layers.3.mlp.up_proj.weight") and row-major offset.
using CheckpointElements = std::map<std::string, std::map<int64_t, double>>;

/// A weight in a layer. Weights that read one checkpoint tensor differently are
/// different.
struct LayerWeight {
  std::string layer, name;
  /// The attribute that describes its place in the checkpoint.
  const void *storage = nullptr;

  bool operator<(const LayerWeight &other) const {
    return std::tie(layer, name, storage) <
           std::tie(other.layer, other.name, other.storage);
  }
};

/// The values that devices keep in an iteration for its backward and its
/// update, and between iterations.
struct TrainingMemory {
  /// A sum over microbatches, in the layout of its addends.
  struct Gradient {
    /// One of the addends.
    mlir::Value addend;
    DeviceTensors sums;
  };
  /// The states of an optimizer.
  struct Moments {
    DeviceTensors first, second;
  };

  /// By layer, function and name; cleared when read.
  std::map<std::string, DeviceTensors> saved;
  std::map<LayerWeight, Gradient> gradients;
  std::map<LayerWeight, Moments> moments;
  /// An op of each weight that the iteration read, and the devices whose
  /// forwards and backwards read it.
  struct ReadWeight {
    mlir::Operation *op = nullptr;
    std::set<int64_t> devices;
  };
  std::map<LayerWeight, ReadWeight> weights;
  /// Elements that were set in weights, and those of the next iteration.
  CheckpointElements given, next;
  /// The number of the iteration, from 1.
  int64_t iteration = 0;
  /// A change of an element of a checkpoint tensor by `by`; without a name, of
  /// all elements, each by `by` times its `directionOf`.
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

/// The component of a random direction for one element, from -1 to 1.
double directionOf(const std::string &name, int64_t offset);

} // namespace autopar::interpreter

#endif // AUTOPAR_INTERPRETER_TRAININGMEMORY_H
