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

/// The kinds of collectives that files may name, and the kind that is called
/// `name`.
inline constexpr std::string_view measuredKinds =
    "all_reduce, all_gather, reduce_scatter, all_to_all, permute";
std::optional<program::CollectiveKind> measuredKind(std::string_view name);
/// Reads one entry of `tiers[].algorithms`.
Algorithm readAlgorithm(const JsonReader &reader);

/// Reads the chip at the root of a document to which overrides were applied.
Chip readChip(const JsonReader &reader);

/// A file of hardware/systems. It only names its chip.
struct System {
  std::string name, title, chip;
  int64_t devicesPerNode = 1;
  std::vector<Tier> tiers;
  std::optional<Figure> price;
  /// Whether the last tier connects any number of nodes.
  bool connectsNodes = false;
};
System readSystem(const JsonReader &reader);

/// Resolves `text`, which is none of the names `systems`: to the only system
/// that contains all of its words, or to the system that `names.json` in
/// `directory` gives. Returns nothing if no system fits, and an error if `text`
/// is ambiguous.
Result<std::optional<TakenName>>
takeName(const std::string &text, const std::string &directory,
         const std::vector<std::string> &systems);
/// Returns the error for the unknown name `text`. The error lists which of
/// `systems` it may mean.
Error unknownSystem(const std::string &text, const std::string &directory,
                    const std::vector<std::string> &systems);

/// Reads the entries of `spreads.json` in `directory` for the borrowed curves
/// of `chip`. The file is optional.
Result<std::map<std::string, CurveSpread>>
readSpreads(const Chip &chip, const std::string &directory);

/// The chip file and the system file to which an `autopar.node/1` file expands.
struct ExpandedNode {
  JsonDocument chip, system;
  /// Tells in words which figures come from the library.
  std::string derived;
};
/// Returns whether `document` has the schema `autopar.node/1`, which the
/// document need not name.
bool isNode(const JsonDocument &document);
Result<ExpandedNode> expandNode(const JsonDocument &document,
                                const HardwareLibrary &library,
                                const std::string &directory);

/// The shortest time in us that a point of a collective's curve may have.
inline constexpr double leastTimeUs = 1e-3;

} // namespace autopar::hardware

#endif // AUTOPAR_LIB_HARDWARE_READERS_H
