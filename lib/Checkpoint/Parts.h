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

/// Puts the tensors of several files together.
class TensorMerge {
public:
  explicit TensorMerge(CheckpointFormat format) { whole.format = format; }

  /// An error where a tensor is there already.
  std::optional<Error> add(CheckpointIndex part);
  /// A tensor of which another file may know more.
  void add(CheckpointTensor tensor);

  CheckpointIndex whole;

private:
  std::unordered_set<std::string> seen;
};

/// Whether this is what `git clone` leaves of a large file where Git LFS is not
/// installed.
bool isPointer(ByteSource &source);

} // namespace autopar::checkpoint

#endif // AUTOPAR_LIB_CHECKPOINT_PARTS_H
