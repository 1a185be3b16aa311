//===- Count.h - Counts as people write them --------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SUPPORT_COUNT_H
#define AUTOPAR_SUPPORT_COUNT_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace autopar {

/// Parses "131072", "131_072" and "128k" as 131,072: underscores may separate
/// digits, k is 1,024 and M is 1,048,576. Returns nothing for other text, or on
/// overflow.
std::optional<int64_t> parseCount(std::string_view text);

} // namespace autopar

#endif // AUTOPAR_SUPPORT_COUNT_H
