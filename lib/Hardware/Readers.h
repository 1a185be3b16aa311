//===- Readers.h - From JSON to chips and systems ---------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_HARDWARE_READERS_H
#define AUTOPAR_LIB_HARDWARE_READERS_H

#include "autopar/Hardware/Figures.h"

namespace autopar {

/// The chip at the root of a document whose overrides are applied.
Chip readChip(const JsonReader &reader);

/// A file of hardware/systems; the chip is only named.
struct System {
  std::string name, title, chip;
  int64_t devicesPerNode = 1;
  std::vector<Tier> tiers;
  /// Whether the last tier reaches any number of nodes.
  bool connectsNodes = false;
};
System readSystem(const JsonReader &reader);

/// The least time that a point of a collective's curve has.
inline constexpr double leastTimeUs = 1e-3;

} // namespace autopar

#endif // AUTOPAR_LIB_HARDWARE_READERS_H
