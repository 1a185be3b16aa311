//===- Buffers.h - Tensors that are stored, but not needed ---- -*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_CHECKPOINT_BUFFERS_H
#define AUTOPAR_LIB_CHECKPOINT_BUFFERS_H

#include "autopar/Checkpoint/Verify.h"

namespace autopar::checkpoint {

/// Why a tensor may be in a checkpoint, but not in the model.
struct Buffer {
  std::string_view why;
  /// Its bytes: exactly, or at most where only its name is known.
  Checked bytes;
  bool exact = true;
};

/// Nothing where `tensor` is no known buffer. `model` has no tensor of its
/// name.
std::optional<Buffer> findBuffer(const CheckpointTensor &tensor,
                                 const std::vector<ModelTensor> &model);

/// Of a model's tensor as its checkpoint stores it.
Checked bytesOf(const ModelTensor &tensor);

} // namespace autopar::checkpoint

#endif // AUTOPAR_LIB_CHECKPOINT_BUFFERS_H
