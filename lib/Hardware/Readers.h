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

/// The kinds of collectives that files speak of, and the one called `name`.
inline constexpr std::string_view measuredKinds =
    "all_reduce, all_gather, reduce_scatter, all_to_all, permute";
std::optional<program::CollectiveKind> measuredKind(std::string_view name);
/// An entry of `tiers[].algorithms`.
Algorithm readAlgorithm(const JsonReader &reader);

/// The chip at the root of a document whose overrides are applied.
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

/// The one of `systems` that `text` means, which is no name of theirs: the only
/// one that has its words, or the one that `names.json` of `directory` has for
/// it. Nothing where none fits; an error where nothing decides.
Result<std::optional<TakenName>>
takeName(const std::string &text, const std::string &directory,
         const std::vector<std::string> &systems);
/// `text` is no name of the library and none that `takeName` takes: which of
/// the `systems` it may mean.
Error unknownSystem(const std::string &text, const std::string &directory,
                    const std::vector<std::string> &systems);

/// What `spreads.json` of `directory` has, where `chip` has curves of others;
/// libraries need not have the file.
Result<std::map<std::string, CurveSpread>>
readSpreads(const Chip &chip, const std::string &directory);

/// The two files that a file of `autopar.node/1` stands for.
struct ExpandedNode {
  JsonDocument chip, system;
  /// What of them is the library's.
  std::string derived;
};
/// Whether `document` is of `autopar.node/1`, which need not be said.
bool isNode(const JsonDocument &document);
Result<ExpandedNode> expandNode(const JsonDocument &document,
                                const HardwareLibrary &library,
                                const std::string &directory);

/// The least time that a point of a collective's curve has.
inline constexpr double leastTimeUs = 1e-3;

} // namespace autopar::hardware

#endif // AUTOPAR_LIB_HARDWARE_READERS_H
