//===- ReadLaw.h - Reading prompts of different lengths ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SERVING_READLAW_H
#define AUTOPAR_LIB_SERVING_READLAW_H

#include "TimeMoments.h"
#include "autopar/Serving/SteadyState.h"

#include <array>

namespace autopar::serving {

/// How prompts of different lengths are read, over how one of mean length is:
/// beside what decodes, and in all; and their longest steps: how these deviate
/// from their mean, over that, in the order of `gaussWeights`.
struct ReadLaw {
  double added = 1, squaredVariation = 0;
  /// Steps that prompts which are cut take beyond their first, in the mean.
  double furtherSteps = 0;
  std::array<double, gaussPoints.size()> deviations = {};
  double stepVariation = 0;
  TimeMoments whole = {1, 0, 0};
};

/// Steps that requests decode in, one at least: in the order of `gaussWeights`.
using StepCounts = std::array<double, gaussPoints.size()>;

} // namespace autopar::serving

#endif // AUTOPAR_LIB_SERVING_READLAW_H
