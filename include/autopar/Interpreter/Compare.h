//===- Compare.h - Whether two modules compute the same ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_INTERPRETER_COMPARE_H
#define AUTOPAR_INTERPRETER_COMPARE_H

#include "autopar/Interpreter/Execution.h"

namespace autopar::interpreter {

/// The first difference between two executions: an element or a shape of a
/// value.
struct Difference {
  /// The op of the split module whose value differs; null for a result of the
  /// function.
  mlir::Operation *op = nullptr;
  std::string layer;
  /// The pipeline stage that computes the value, if there are stages.
  std::optional<int64_t> stage = std::nullopt;
  /// The difference as text: "element 3 is 0.5, expected 1".
  std::string what;
};

/// Checks that both executions return equally many values of equal shapes;
/// otherwise emits an error at the split module's function.
mlir::LogicalResult haveSameResults(const Execution &split,
                                    const Execution &whole);

/// Returns the first value that a split module computes differently from the
/// unsplit one or, if all values agree, the first element of a result that
/// differs. Results must have the same shapes. `tolerance` is relative to the
/// largest element of a value.
std::optional<Difference> findDifference(const Execution &split,
                                         const Execution &whole,
                                         double tolerance);

/// Describes the first checkpoint tensor whose gradient, or whose updated
/// elements, differ between a split module and the unsplit one; "" if there is
/// none. Errors are emitted.
mlir::FailureOr<std::string> findTrainingDifference(const Execution &split,
                                                    const Execution &whole,
                                                    double tolerance);

/// Returns the largest difference between elements of the results, which must
/// have the same shapes, relative to the largest element.
double largestDifference(const Execution &split, const Execution &whole);

} // namespace autopar::interpreter

#endif // AUTOPAR_INTERPRETER_COMPARE_H
