//===- StorageTypes.h - Element types as checkpoints name them  -*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_CHECKPOINT_STORAGETYPES_H
#define AUTOPAR_LIB_CHECKPOINT_STORAGETYPES_H

#include "autopar/Checkpoint/Checkpoint.h"

namespace autopar::checkpoint {

/// A type of safetensors or of ggml: blocks of `elements` in `bits`.
struct StorageType {
  std::string_view name;
  int64_t elements, bits;
  /// Of ggml.
  uint32_t number = 0;
};

const StorageType *findSafetensorsType(std::string_view name);
std::string safetensorsTypeChoices();
const StorageType *findGgmlType(uint32_t number);
/// Types that ggml once had, or nothing.
std::string_view removedGgmlType(uint32_t number);

/// Sets dtype, type, shape and bytes. Says what is wrong with the shape, or "".
std::string setStorage(CheckpointTensor &tensor, const StorageType &type,
                       std::vector<int64_t> shape);

/// "[4096, 128]".
std::string formatShape(const std::vector<int64_t> &shape);

/// Says what is wrong with the name of a tensor, or "". Names reach terminals.
std::string checkName(std::string_view name);

} // namespace autopar::checkpoint

#endif // AUTOPAR_LIB_CHECKPOINT_STORAGETYPES_H
