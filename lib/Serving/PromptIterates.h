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

namespace autopar {

/// How far iterates of the generating function of what comes beside a prompt
/// are below 1, from 0 on: of Poisson's law, and lengths of a gamma law.
struct PromptQueue::Iterates {
  static constexpr int most = 64;
  int count = 0;
  double below[most];

  Iterates(double growth, double squaredVariation) {
    constexpr double least = 1e-3;
    double now = 1;
    while (count < most && now > least) {
      below[count++] = now;
      double come = growth * now;
      if (squaredVariation > 0)
        come = std::log1p(squaredVariation * come) / squaredVariation;
      now = -std::expm1(-come);
    }
  }
};

} // namespace autopar

#endif // AUTOPAR_LIB_SERVING_PROMPTITERATES_H
