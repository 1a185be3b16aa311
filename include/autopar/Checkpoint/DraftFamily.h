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

/// A family file that was written by program, and what the program could not
/// find out.
struct DraftedFamily {
  /// The text of the family file.
  std::string text;
  /// Sentences about what the program had to guess, because names and shapes do
  /// not tell it.
  std::vector<std::string> guesses;
  /// Names of the tensors that no block of the family uses, one text for all
  /// layers.
  std::vector<std::string> left;
  /// Number of tensors by how the draft uses them: as a part of a block
  /// (`known`), as a matmul of each token (`products`), or only as bytes in
  /// memory (`kept`).
  int64_t known = 0, products = 0, kept = 0;
  /// Whether the draft contains numbers that are not in the config, so that it
  /// describes this config only.
  bool hasLiterals = false;

  int64_t tensors() const { return known + products + kept; }
  /// Returns a sentence like "214 of 231 tensors known, 12 more counted as
  /// products".
  std::string summary() const;
};

/// Drafts a family file for a language model, on top of the family "llama",
/// from the config and the names and shapes of the checkpoint: the kinds of
/// layers, and the matmuls and norms that models have in common. Any other
/// tensor of the checkpoint is counted by its shape.
Result<DraftedFamily> draftFamily(const JsonDocument &config,
                                  const CheckpointIndex &checkpoint);

} // namespace autopar::checkpoint

#endif // AUTOPAR_CHECKPOINT_DRAFTFAMILY_H
