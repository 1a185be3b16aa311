//===- PromptIterates.h - Generations of prompts ----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SERVING_PROMPTITERATES_H
#define AUTOPAR_LIB_SERVING_PROMPTITERATES_H

#include "PromptQueue.h"

#include <cmath>

namespace autopar::serving {

/// How far iterates of the generating function of what comes beside a prompt
/// are below 1, from 0 on, as far as they are above `least`: of Poisson's law,
/// and lengths of a gamma law.
struct PromptQueue::Iterates {
  static constexpr int most = 64;
  int count = 0;
  double below[most];
  /// The sum of those that follow.
  double rest = 0;

  Iterates(double growth, double squaredVariation, double least) {
    double now = 1;
    while (count < most && now > least) {
      below[count++] = now;
      double come = growth * now;
      if (squaredVariation > 0)
        come = std::log1p(squaredVariation * come) / squaredVariation;
      now = -std::expm1(-come);
    }
    // Each is growth * (1 - bend * itself) of the one before.
    double bend = growth * (1 + squaredVariation) / 2;
    if (bend > 0)
      rest = std::log1p(bend * now / (1 - growth)) / bend;
  }
};

} // namespace autopar::serving

#endif // AUTOPAR_LIB_SERVING_PROMPTITERATES_H
