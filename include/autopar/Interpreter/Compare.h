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

/// Two elements, or shapes, that are not the same.
struct Difference {
  /// Of the split module; null where it is a result.
  mlir::Operation *op = nullptr;
  std::string layer;
  /// The stage that computes it, of a pipeline.
  std::optional<int64_t> stage = std::nullopt;
  /// "element 3 is 0.5, expected 1".
  std::string what;
};

/// Whether both return values of the same number and shapes; an error of the
/// split module's function is emitted where they do not.
mlir::LogicalResult haveSameResults(const Execution &split,
                                    const Execution &whole);

/// The first value that a split module computes otherwise than the unsplit one;
/// where all agree, the first element of a result. Results are of the same
/// shapes. `tolerance` is relative to the largest element of a value.
std::optional<Difference> findDifference(const Execution &split,
                                         const Execution &whole,
                                         double tolerance);

/// The first checkpoint tensor whose gradient, or what an update has made of
/// it, is another in a split module than in the unsplit one; "" where there is
/// none. Errors are emitted.
mlir::FailureOr<std::string> findTrainingDifference(const Execution &split,
                                                    const Execution &whole,
                                                    double tolerance);

/// The largest difference of the results, which are of the same shapes,
/// relative to their largest element.
double largestDifference(const Execution &split, const Execution &whole);

} // namespace autopar::interpreter

#endif // AUTOPAR_INTERPRETER_COMPARE_H
