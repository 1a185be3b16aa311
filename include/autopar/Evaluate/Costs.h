//===- Costs.h - What tokens cost and draw ----------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_EVALUATE_COSTS_H
#define AUTOPAR_EVALUATE_COSTS_H

#include "autopar/Hardware/Hardware.h"
#include "autopar/Report/Report.h"

namespace autopar::evaluation {

/// Of devices that each cost `price` dollars an hour.
inline double dollarsPerMillionTokens(double price, int64_t devices,
                                      double tokensPerS) {
  return price * static_cast<double>(devices) / 3600 / tokensPerS * 1e6;
}

/// Adds to `report` what its tokens, and its iteration, cost and draw on
/// `machine`.
void addCosts(report::Report &report, const hardware::Machine &machine);

} // namespace autopar::evaluation

#endif // AUTOPAR_EVALUATE_COSTS_H
