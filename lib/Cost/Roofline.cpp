//===- Roofline.cpp -------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Cost/Roofline.h"

#include <algorithm>
#include <cmath>

using namespace autopar;

std::optional<double> autopar::smoothMaximum(double a, double b,
                                             double exponent) {
  double high = std::max(a, b), low = std::min(a, b);
  if (high <= 0)
    return 0;
  // Powers of a ratio up to 1 neither overflow nor vanish.
  double r = low / high;
  if (exponent == maximumExponent)
    return high;
  if (exponent == 1)
    return high + low;
  if (exponent == 1.5) {
    double root = std::cbrt(1 + r * std::sqrt(r));
    return high * root * root;
  }
  if (exponent == 2)
    return high * std::sqrt(1 + r * r);
  if (exponent == 3)
    return high * std::cbrt(1 + r * r * r);
  if (exponent == 4)
    return high * std::sqrt(std::sqrt(1 + r * r * r * r));
  return std::nullopt;
}
