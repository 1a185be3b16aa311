//===- Statistics.h - Quantiles of measurements -----------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_VALIDATION_STATISTICS_H
#define AUTOPAR_VALIDATION_STATISTICS_H

#include <vector>

namespace autopar::validation {

/// The value below which `share` of `values` lie, linear between two of them
/// as numpy and spreadsheets have it; 0 where there are none.
double quantile(std::vector<double> values, double share);

} // namespace autopar::validation

#endif // AUTOPAR_VALIDATION_STATISTICS_H
