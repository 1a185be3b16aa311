//===- Roofline.h - Time of a kernel from FLOPs and bytes -------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_COST_ROOFLINE_H
#define AUTOPAR_COST_ROOFLINE_H

#include <optional>

namespace autopar {

/// (a^q + b^q)^(1/q): max(a, b) rounded off where the two are near, as
/// kernels that are bound by both are slower than either bound. q is 1, 3/2,
/// 2, 3 or 4, or `maximum` for max(a, b) itself; nothing for other values.
/// Square and cube roots only: `pow` costs ten times as much. Williams,
/// Waterman, Patterson, "Roofline" (2009) has the maximum; the exponent is
/// fitted by scripts/fit_kernels.py.
std::optional<double> smoothMaximum(double a, double b, double exponent);

/// The exponent that stands for infinity.
inline constexpr double maximumExponent = 0;

} // namespace autopar

#endif // AUTOPAR_COST_ROOFLINE_H
