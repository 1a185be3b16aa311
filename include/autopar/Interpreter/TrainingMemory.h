//===- TrainingMemory.h - What iterations keep ------------------*- C++ -*-===//
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

/// Numbers of checkpoint tensors, by name ("model.layers.3.mlp.up_proj.weight")
/// and place, in row-major order.
using CheckpointElements = std::map<std::string, std::map<int64_t, double>>;

/// A weight in a layer: two that read one checkpoint tensor otherwise are two.
struct LayerWeight {
  std::string layer, name;
  /// The attribute that says how it is read.
  const void *storage = nullptr;

  bool operator<(const LayerWeight &other) const {
    return std::tie(layer, name, storage) <
           std::tie(other.layer, other.name, other.storage);
  }
};

/// What devices keep in an iteration for its backward and its update, and from
/// one iteration to the next.
struct TrainingMemory {
  /// Sums over microbatches, as they lie.
  struct Gradient {
    /// One of those that were added.
    mlir::Value addend;
    DeviceTensors sums;
  };
  /// The numbers of an optimizer.
  struct Moments {
    DeviceTensors first, second;
  };

  /// By layer, function and name; empty once it was read.
  std::map<std::string, DeviceTensors> saved;
  std::map<LayerWeight, Gradient> gradients;
  std::map<LayerWeight, Moments> moments;
  /// An op of each weight that the iteration has read, and the devices whose
  /// forwards and backwards have.
  struct ReadWeight {
    mlir::Operation *op = nullptr;
    std::set<int64_t> devices;
  };
  std::map<LayerWeight, ReadWeight> weights;
  /// Elements that were given to weights, and those that the next iteration
  /// has.
  CheckpointElements given, next;
  /// The number of the iteration, from 1.
  int64_t iteration = 0;
  /// An element of a checkpoint tensor that is `by` more than it should be;
  /// without a name, all elements of all, each `by` times its `directionOf`.
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

/// What a random direction through all weights has of an element: -1 to 1.
double directionOf(const std::string &name, int64_t offset);

} // namespace autopar::interpreter

#endif // AUTOPAR_INTERPRETER_TRAININGMEMORY_H
