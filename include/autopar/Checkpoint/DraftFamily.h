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

struct DraftedFamily {
  /// The family file.
  std::string text;
  /// What the names and shapes do not say, and tensors of no block.
  std::vector<std::string> guesses, left;
};

/// Writes a family of language models on top of "llama" from what a config says
/// and what a checkpoint holds: the layers, and products and norms by names and
/// shapes that models have in common.
Result<DraftedFamily> draftFamily(const JsonDocument &config,
                                  const CheckpointIndex &checkpoint);

} // namespace autopar::checkpoint

#endif // AUTOPAR_CHECKPOINT_DRAFTFAMILY_H
