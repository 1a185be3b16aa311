//===- GgufFuzzer.cpp ----------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The input is a GGUF file.

#include "MemorySource.h"

#include "autopar/Checkpoint/Verify.h"

using namespace autopar;
using namespace autopar::checkpoint;

extern "C" int LLVMFuzzerTestOneInput(const char *data, size_t size) {
  fuzz::MemorySource source("a.gguf", {data, size});
  Result<CheckpointIndex> index = readGguf(source);
  if (index)
    describeWeights(*index);
  return 0;
}
