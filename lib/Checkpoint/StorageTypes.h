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

/// An element type of safetensors or of ggml: blocks of `elements` values that
/// take `bits` bits.
struct StorageType {
  std::string_view name;
  int64_t elements, bits;
  /// The number that ggml gives to the type.
  uint32_t number = 0;
};

const StorageType *findSafetensorsType(std::string_view name);
std::string safetensorsTypeChoices();
const StorageType *findGgmlType(uint32_t number);
/// Returns the name of a type that ggml no longer has; "" if the number never
/// was one.
std::string_view removedGgmlType(uint32_t number);

/// Sets dtype, type, shape and bytes of a tensor. Returns what is wrong with
/// the shape; "" if nothing is.
std::string setStorage(CheckpointTensor &tensor, const StorageType &type,
                       std::vector<int64_t> shape);

/// Returns a shape as text: "[4096, 128]".
std::string formatShape(const std::vector<int64_t> &shape);

/// Returns what is wrong with the name of a tensor, "" if nothing is. Names are
/// printed to terminals.
std::string checkName(std::string_view name);

} // namespace autopar::checkpoint

#endif // AUTOPAR_LIB_CHECKPOINT_STORAGETYPES_H
