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

/// A tensor that a model expects in its checkpoint.
struct ModelTensor {
  std::string name;
  std::vector<int64_t> shape;
  ElementType type = ElementType::bf16;
};

struct Verification {
  bool equal = false;
  /// Text of at most one screen: totals, differences, and the verdict in the
  /// last line.
  std::string text;
};

/// Compares names, shapes, dtypes and bytes of the tensors of a model and a
/// checkpoint. A tensor that only the checkpoint has is a difference, unless it
/// is a known buffer or the stored copy of a tied head; with `strict` these are
/// differences, too. Tensors of which only an index file gives the name are
/// compared by name and by the sum of their bytes.
Verification verifyWeights(const std::vector<ModelTensor> &model,
                           const CheckpointIndex &checkpoint, bool strict);

/// Describes a checkpoint without comparing it to a model, and says what could
/// not be checked.
std::string describeWeights(const CheckpointIndex &checkpoint);

} // namespace autopar::checkpoint

#endif // AUTOPAR_CHECKPOINT_VERIFY_H
