//===- Money.h - What tokens cost -------------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_REPORT_MONEY_H
#define AUTOPAR_REPORT_MONEY_H

#include <cstdint>

namespace autopar::report {

/// Of devices at `price` an hour each.
inline double dollarsPerMillionTokens(double price, int64_t devices,
                                      double tokensPerS) {
  return price * static_cast<double>(devices) / 3600 / tokensPerS * 1e6;
}

} // namespace autopar::report

#endif // AUTOPAR_REPORT_MONEY_H
