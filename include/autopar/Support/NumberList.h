//===- NumberList.h - Lists of numbers as text ------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SUPPORT_NUMBERLIST_H
#define AUTOPAR_SUPPORT_NUMBERLIST_H

#include "autopar/Support/Result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace autopar {

/// The counts of "64", "8|16,32" and "1..256", which is 1 and each number twice
/// the one before; rising, none twice. Errors name `flag`: no counts, or some
/// that are not from 1 to `most`.
Result<std::vector<int64_t>> readCounts(const std::string &flag,
                                        const std::string &text, int64_t most);

/// The same of any finite numbers: "2e12|3.35e12".
Result<std::vector<double>> readNumbers(const std::string &flag,
                                        const std::string &text);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_NUMBERLIST_H
