//===- WireBytes.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Program/WireBytes.h"

using namespace autopar;
using namespace autopar::program;

double autopar::program::wireBytes(CollectiveKind kind, int64_t groupSize,
                                   double bytes) {
  if (kind == CollectiveKind::permute)
    return bytes;
  auto n = static_cast<double>(groupSize);
  return (kind == CollectiveKind::all_reduce ? 2 : 1) * (n - 1) / n * bytes;
}
