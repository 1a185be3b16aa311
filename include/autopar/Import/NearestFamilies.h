//===- NearestFamilies.h - Families that a model resembles ------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_IMPORT_NEARESTFAMILIES_H
#define AUTOPAR_IMPORT_NEARESTFAMILIES_H

#include "autopar/Checkpoint/Checkpoint.h"
#include "autopar/Model/Model.h"

namespace autopar::importer {

/// How similar a model is to the one that a known family would make of the same
/// config.
struct Likeness {
  std::string family;
  /// Number of tensors that both models have over the number that either has,
  /// from 0 to 1. Tensors count as equal if their shapes are, and the ends of
  /// their names after the last number.
  double share = 0;
  /// Whether both models have the same tensor names and shapes.
  bool isEqual = false;
  /// Whether the family builds on another one. Of equally similar families, one
  /// that does not is the better known.
  bool hasBase = false;
};

/// Reads `config` with every known family and returns at most `count` families
/// whose models share the most tensors with `checkpoint`, most first. Families
/// that share hardly any are left out.
std::vector<Likeness>
nearestFamilies(const JsonDocument &config,
                const checkpoint::CheckpointIndex &checkpoint, size_t count);

/// Returns the families as text: "qwen3 (87 % of tensors), llama (80 %)"; ""
/// for none.
std::string formatLikenesses(const std::vector<Likeness> &nearest);

/// Reads `config` with every known family and returns at most `count` families
/// that leave the fewest keys of it unread; of equals, those that read the
/// most.
std::vector<std::string> familiesThatRead(const JsonDocument &config,
                                          size_t count);

} // namespace autopar::importer

#endif // AUTOPAR_IMPORT_NEARESTFAMILIES_H
