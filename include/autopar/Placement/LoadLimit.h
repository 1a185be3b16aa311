//===- LoadLimit.h - What experts take of their loads -----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLACEMENT_LOADLIMIT_H
#define AUTOPAR_PLACEMENT_LOADLIMIT_H

#include <vector>

namespace autopar::placement {

/// An expert takes at most `factor` times the mean load of all experts, and
/// drops the rest; padded: works on as much, whatever its load is.
struct LoadLimit {
  double factor = 1;
  bool padded = false;
};

/// What experts work on whose loads are `tokens`.
std::vector<double> workedTokens(std::vector<double> tokens,
                                 const LoadLimit &limit);
/// Which share of `tokens` is not dropped; all of it where there are none.
double keptShare(const std::vector<double> &tokens, const LoadLimit &limit);

} // namespace autopar::placement

#endif // AUTOPAR_PLACEMENT_LOADLIMIT_H
