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

/// Parses a list of counts, such as "64", "8|16,32" or "1..256" (which doubles
/// from 1 up), and returns them sorted, without duplicates. Errors name `flag`:
/// invalid counts, or counts outside of 1 to `most`.
Result<std::vector<int64_t>> readCounts(const std::string &flag,
                                        const std::string &text, int64_t most);

/// Parses a list of finite numbers, such as "2e12|3.35e12". Errors name `flag`.
Result<std::vector<double>> readNumbers(const std::string &flag,
                                        const std::string &text);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_NUMBERLIST_H
