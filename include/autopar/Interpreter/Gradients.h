//===- Gradients.h - Whether gradients are derivatives -------- -*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_INTERPRETER_GRADIENTS_H
#define AUTOPAR_INTERPRETER_GRADIENTS_H

#include "autopar/Interpreter/Execution.h"

namespace autopar::interpreter {

/// One element of a checkpoint tensor, with its computed gradient and the value
/// `expected` from differences of the loss.
struct GradientElement {
  std::string name;
  int64_t offset = 0;
  double gradient = 0, expected = 0;
  /// Difference between `gradient` and `expected`, relative to the largest
  /// gradient of the tensor, or to 0.001 if that is larger.
  double relative = 0;
};

/// Checks gradients by differences: executes an iteration of `step`, then the
/// forward twice for each of `count` elements of every weight, with the element
/// slightly larger and slightly smaller. One of the elements is that with the
/// largest gradient, the others are random. Errors are emitted.
mlir::FailureOr<std::vector<GradientElement>>
measureGradients(Execution &run, const program::Workload &step, int64_t count);

/// The derivative of the loss along the random direction `directionOf`: the sum
/// over the gradients of all elements, and the value `expected` from a
/// difference of the loss.
struct DirectionalDerivative {
  double ofGradients = 0, expected = 0;
  /// Difference between `ofGradients` and `expected`, relative to the root of
  /// the sum of squared terms, or to 0.001 if that is larger.
  double relative = 0;
};

/// Computes the directional derivative: executes an iteration of `step`, and
/// the forward twice. Errors are emitted.
mlir::FailureOr<DirectionalDerivative>
measureDirection(Execution &run, const program::Workload &step);

} // namespace autopar::interpreter

#endif // AUTOPAR_INTERPRETER_GRADIENTS_H
