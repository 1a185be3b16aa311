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

/// An element of a checkpoint tensor, its gradient, and what differences of the
/// loss say that it is.
struct GradientElement {
  std::string name;
  int64_t offset = 0;
  double gradient = 0, expected = 0;
  /// Their difference, relative to the tensor's largest gradient, or to 0.001
  /// where that is less.
  double relative = 0;
};

/// Runs an iteration of `step`, and the forward twice for each of `count`
/// elements of every weight: with a little more and a little less of it. One of
/// them is that of the largest gradient, others are random. Errors are emitted.
mlir::FailureOr<std::vector<GradientElement>>
measureGradients(Execution &run, const program::Workload &step, int64_t count);

/// The derivative of the loss along `directionOf`: a sum over the gradients of
/// all elements, and what a difference of the loss says that it is.
struct DirectionalDerivative {
  double ofGradients = 0, expected = 0;
  /// Their difference, relative to the root of the sum of squared addends, or
  /// to 0.001 where that is less.
  double relative = 0;
};

/// Runs an iteration of `step`, and the forward twice. Errors are emitted.
mlir::FailureOr<DirectionalDerivative>
measureDirection(Execution &run, const program::Workload &step);

} // namespace autopar::interpreter

#endif // AUTOPAR_INTERPRETER_GRADIENTS_H
