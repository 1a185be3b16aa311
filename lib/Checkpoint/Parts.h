//===- Parts.h - Checkpoints of several files ----------------- -*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_CHECKPOINT_PARTS_H
#define AUTOPAR_LIB_CHECKPOINT_PARTS_H

#include "autopar/Checkpoint/Checkpoint.h"

#include <unordered_set>

namespace autopar::checkpoint {

/// Combines the tensors of several files of one checkpoint.
class TensorMerge {
public:
  explicit TensorMerge(CheckpointFormat format) { whole.format = format; }

  /// Adds the tensors of a file; returns an error if one exists already.
  std::optional<Error> add(CheckpointIndex part);
  /// Adds a tensor, unless another file has described it already.
  void add(CheckpointTensor tensor);

  CheckpointIndex whole;

private:
  std::unordered_set<std::string> seen;
};

/// Whether the file is a Git LFS pointer: the small text that `git clone`
/// leaves in place of a large file if Git LFS is not installed.
bool isPointer(ByteSource &source);

} // namespace autopar::checkpoint

#endif // AUTOPAR_LIB_CHECKPOINT_PARTS_H
