//===- LoadLimit.h - Capacity limits of expert loads ------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLACEMENT_LOADLIMIT_H
#define AUTOPAR_PLACEMENT_LOADLIMIT_H

#include <vector>

namespace autopar::placement {

/// The capacity of experts: an expert accepts at most `factor` times the mean
/// load of all experts and drops further tokens. If `padded`, it always
/// computes that many rows.
struct LoadLimit {
  double factor = 1;
  bool padded = false;
};

/// Returns the number of tokens that each expert computes, if `tokens` are
/// routed to it.
std::vector<double> workedTokens(std::vector<double> tokens,
                                 const LoadLimit &limit);
/// Returns the share of the routed `tokens` that are not dropped; 1 if there
/// are none.
double keptShare(const std::vector<double> &tokens, const LoadLimit &limit);

} // namespace autopar::placement

#endif // AUTOPAR_PLACEMENT_LOADLIMIT_H
