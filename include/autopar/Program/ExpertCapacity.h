//===- ExpertCapacity.h - Token capacity of experts -------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PROGRAM_EXPERTCAPACITY_H
#define AUTOPAR_PROGRAM_EXPERTCAPACITY_H

#include "autopar/Program/Dim.h"

#include <cmath>

namespace autopar::program {

/// The capacity of an expert: it accepts at most
///
///     ceil(factor * tokens * topK / experts)
///
/// of the `tokens` of a rank and a microbatch, and drops the rest (Switch,
/// arXiv:2101.03961, section 2.2). A padded expert always computes that many
/// rows.
struct ExpertCapacity {
  /// The unit of `millionths`: capacity factors are stored as integers of 1e-6.
  static constexpr int64_t unit = 1'000'000;
  static constexpr double least = 1.0 / unit, most = 1000;

  int64_t millionths = unit;
  bool padded = false;
  int64_t experts = 1, topK = 1;
  /// The number of tokens of a rank and a microbatch, with the dimensions that
  /// routers have.
  Dims tokens = {};

  static int64_t toMillionths(double factor) {
    return std::llround(factor * static_cast<double>(unit));
  }
  double factor() const {
    return static_cast<double>(millionths) / static_cast<double>(unit);
  }
};

} // namespace autopar::program

#endif // AUTOPAR_PROGRAM_EXPERTCAPACITY_H
