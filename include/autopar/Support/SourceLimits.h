//===- SourceLimits.h - Bounds on the words of .mlir - ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SUPPORT_SOURCELIMITS_H
#define AUTOPAR_SUPPORT_SOURCELIMITS_H

#include <cstdint>

namespace autopar::limits {

/// Largest number of tokens of .mlir text, numbers and the commas between them
/// not counted: MLIR takes some 1.3 us and 130 bytes for each.
inline constexpr uint64_t maxSourceTokens = uint64_t(1) << 19;
/// Largest number of bytes of a line; errors print the line, slowly.
inline constexpr uint64_t maxLineBytes = uint64_t(1) << 20;
/// Largest number of dimensions and symbols of an affine map or set, which are
/// searched linearly.
inline constexpr uint64_t maxAffineNames = 256;
/// Largest alignment of a dialect resource.
inline constexpr uint64_t maxAlignment = 4096;
/// Largest number of bits of an integer type in .mlir text; each constant
/// allocates as many.
inline constexpr uint64_t maxIntegerBits = 4096;
/// Largest number of a `distinct` attribute. MLIR's table uses the two numbers
/// above for itself.
inline constexpr uint64_t maxDistinctNumber = UINT64_MAX - 2;
/// Largest sum of the numbers of results, as in `%x#2`; the parser also
/// allocates the results before each.
inline constexpr uint64_t maxResultNumbers = uint64_t(1) << 22;

} // namespace autopar::limits

#endif // AUTOPAR_SUPPORT_SOURCELIMITS_H
