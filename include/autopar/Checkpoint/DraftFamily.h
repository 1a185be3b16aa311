//===- DraftFamily.h - A family of a model that has none --------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_CHECKPOINT_DRAFTFAMILY_H
#define AUTOPAR_CHECKPOINT_DRAFTFAMILY_H

#include "autopar/Checkpoint/Checkpoint.h"
#include "autopar/Support/Json.h"

namespace autopar::checkpoint {

/// How a draft of a family came to be.
struct DraftedFamily {
  /// The family file.
  std::string text;
  /// What the names and shapes do not say.
  std::vector<std::string> guesses;
  /// Names of tensors without a place in a block, a line for all layers.
  std::vector<std::string> left;
  /// How many tensors have a place in a block; of the others, how many count
  /// as products of a token, and how many by their bytes alone.
  int64_t known = 0, products = 0, kept = 0;
  /// Whether the draft has numbers that no key of the config has: then it
  /// describes no other config.
  bool hasLiterals = false;

  int64_t tensors() const { return known + products + kept; }
  /// "214 of 231 tensors known, 12 more counted as products".
  std::string summary() const;
};

/// Writes a family of language models on top of "llama" from what a config says
/// and what a checkpoint holds: the layers, and products and norms by names and
/// shapes that models have in common. Whatever else the checkpoint holds counts
/// by its shape.
Result<DraftedFamily> draftFamily(const JsonDocument &config,
                                  const CheckpointIndex &checkpoint);

} // namespace autopar::checkpoint

#endif // AUTOPAR_CHECKPOINT_DRAFTFAMILY_H
