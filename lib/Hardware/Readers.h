//===- Readers.h - From JSON to chips and systems ---------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_HARDWARE_READERS_H
#define AUTOPAR_LIB_HARDWARE_READERS_H

#include "autopar/Hardware/Figures.h"

namespace autopar::hardware {

/// The kinds of collectives in files, and the kind called `name`.
inline constexpr std::string_view measuredKinds =
    "all_reduce, all_gather, reduce_scatter, all_to_all, permute";
std::optional<program::CollectiveKind> measuredKind(std::string_view name);
/// Reads an entry of `tiers[].algorithms`.
Algorithm readAlgorithm(const JsonReader &reader);

/// Reads the chip at the root of a document whose overrides are applied.
Chip readChip(const JsonReader &reader);

/// A file of hardware/systems; the chip is only named.
struct System {
  std::string name, title, chip;
  int64_t devicesPerNode = 1;
  std::vector<Tier> tiers;
  std::optional<Figure> price;
  /// Whether the last tier reaches any number of nodes.
  bool connectsNodes = false;
};
System readSystem(const JsonReader &reader);

/// Resolves `text`, which is no name of `systems`: to the only system with its
/// words, or to the one that `names.json` of `directory` gives. Returns nothing
/// if no system fits, and an error if it is ambiguous.
Result<std::optional<TakenName>>
takeName(const std::string &text, const std::string &directory,
         const std::vector<std::string> &systems);
/// The error for an unknown `text`; it lists the `systems` that it may mean.
Error unknownSystem(const std::string &text, const std::string &directory,
                    const std::vector<std::string> &systems);

/// The entries of `spreads.json` in `directory` for the borrowed curves of
/// `chip`. The file is optional.
Result<std::map<std::string, CurveSpread>>
readSpreads(const Chip &chip, const std::string &directory);

/// The two files that an `autopar.node/1` file expands to.
struct ExpandedNode {
  JsonDocument chip, system;
  /// The parts that come from the library.
  std::string derived;
};
/// Whether `document` is of `autopar.node/1`, which need not be said.
bool isNode(const JsonDocument &document);
Result<ExpandedNode> expandNode(const JsonDocument &document,
                                const HardwareLibrary &library,
                                const std::string &directory);

/// Shortest time of a point of a collective's curve, in us.
inline constexpr double leastTimeUs = 1e-3;

} // namespace autopar::hardware

#endif // AUTOPAR_LIB_HARDWARE_READERS_H
