//===- LaunchLimits.h -------------------------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LAUNCH_LAUNCHLIMITS_H
#define AUTOPAR_LAUNCH_LAUNCHLIMITS_H

#include <cstddef>
#include <cstdint>

namespace autopar::limits {

/// Limits of launches: bytes of a text, words of a script, bytes of one word,
/// and depth of scripts inside words of scripts (`bash -c`).
inline constexpr uint64_t maxLaunchBytes = uint64_t(16) << 20;
inline constexpr size_t maxShellWords = 200'000;
inline constexpr size_t maxShellWordBytes = size_t(1) << 20;
inline constexpr unsigned maxNestedScripts = 4;
/// The largest number of values of a YAML text, counted after aliases are
/// replaced.
inline constexpr size_t maxYamlValues = 200'000;

} // namespace autopar::limits

#endif // AUTOPAR_LAUNCH_LAUNCHLIMITS_H
