//===- Costs.h - Dollars of tokens ------------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_EVALUATE_COSTS_H
#define AUTOPAR_EVALUATE_COSTS_H

#include <cstdint>

namespace autopar::evaluation {

/// Returns the cost in dollars per million tokens, of `devices` devices at
/// `price` dollars per hour each.
inline double dollarsPerMillionTokens(double price, int64_t devices,
                                      double tokensPerS) {
  return price * static_cast<double>(devices) / 3600 / tokensPerS * 1e6;
}

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_COSTS_H
