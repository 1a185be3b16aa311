//===- Verify.h - Checkpoints against models, and on their own  -*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_CHECKPOINT_VERIFY_H
#define AUTOPAR_CHECKPOINT_VERIFY_H

#include "autopar/Checkpoint/Checkpoint.h"

namespace autopar::checkpoint {

/// A tensor that a model expects of its checkpoint.
struct ModelTensor {
  std::string name;
  std::vector<int64_t> shape;
  ElementType type = ElementType::bf16;
};

struct Verification {
  bool equal = false;
  /// One screen: totals, what differs, and a last line with the verdict.
  std::string text;
};

/// Compares names, shapes, dtypes and bytes. What a checkpoint holds beyond the
/// model is a difference, unless it is a known buffer or the stored copy of a
/// tied head; `strict` makes these differences too. Of tensors that only an
/// index names, names and the sum of their bytes are compared.
Verification verifyWeights(const std::vector<ModelTensor> &model,
                           const CheckpointIndex &checkpoint, bool strict);

/// What can be said of a checkpoint without a model, and what cannot.
std::string describeWeights(const CheckpointIndex &checkpoint);

} // namespace autopar::checkpoint

#endif // AUTOPAR_CHECKPOINT_VERIFY_H
