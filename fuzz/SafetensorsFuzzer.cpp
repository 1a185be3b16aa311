//===- SafetensorsFuzzer.cpp ---------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The input is a safetensors file.

#include "MemorySource.h"

#include "autopar/Checkpoint/Verify.h"

using namespace autopar;
using namespace autopar::checkpoint;

extern "C" int LLVMFuzzerTestOneInput(const char *data, size_t size) {
  fuzz::MemorySource source("a.safetensors", {data, size});
  Result<CheckpointIndex> index = readSafetensors(source);
  if (!index)
    return 0;
  describeWeights(*index);
  ModelTensor norm{"model.norm.weight", {8}, ElementType::bf16};
  ModelTensor head{"lm_head.weight", {16, 8}, ElementType::bf16};
  verifyWeights({norm, head}, *index, size % 2);
  return 0;
}
