//===- Compare.h - Whether two modules compute the same ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_INTERPRETER_COMPARE_H
#define AUTOPAR_INTERPRETER_COMPARE_H

#include "autopar/Interpreter/Execution.h"

namespace autopar {

/// Two elements that are not the same.
struct Difference {
  /// Of the split module; null where it is a result.
  mlir::Operation *op = nullptr;
  std::string layer;
  int64_t element = 0;
  double value = 0, expected = 0;
};

/// The first value that a split module computes otherwise than the unsplit one;
/// where all agree, the first element of a result. `tolerance` is relative to
/// the largest element of a value.
std::optional<Difference> findDifference(const Execution &split,
                                         const Execution &whole,
                                         double tolerance);

/// The largest difference of the results, relative to their largest element.
double largestDifference(const Execution &split, const Execution &whole);

} // namespace autopar

#endif // AUTOPAR_INTERPRETER_COMPARE_H
