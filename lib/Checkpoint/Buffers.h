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

/// The reason why a tensor may be in a checkpoint, but not in the model.
struct Buffer {
  std::string_view why;
  /// Bytes of the tensor; an upper limit (`exact` is false) if only its name is
  /// known.
  Checked bytes;
  bool exact = true;
};

/// Returns why `tensor`, which `model` does not have, may be in a checkpoint;
/// nothing if it is no known buffer.
std::optional<Buffer> findBuffer(const CheckpointTensor &tensor,
                                 const std::vector<ModelTensor> &model);

/// Returns the bytes of a model's tensor in its checkpoint.
Checked bytesOf(const ModelTensor &tensor);

} // namespace autopar::checkpoint

#endif // AUTOPAR_LIB_CHECKPOINT_BUFFERS_H
