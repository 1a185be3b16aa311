//===- WireBytes.cpp ------------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "autopar/Program/WireBytes.h"

using namespace autopar;

static int64_t passesOf(CollectiveKind kind) {
  return kind == CollectiveKind::all_reduce ? 2 : 1;
}

Checked autopar::countWireBytes(CollectiveKind kind, int64_t groupSize,
                                Checked bytes) {
  if (kind == CollectiveKind::permute)
    return bytes;
  return ceilDiv(bytes * passesOf(kind) * (groupSize - 1), groupSize);
}

double autopar::wireBytes(CollectiveKind kind, int64_t groupSize,
                          double bytes) {
  if (kind == CollectiveKind::permute)
    return bytes;
  double n = static_cast<double>(groupSize);
  return static_cast<double>(passesOf(kind)) * (n - 1) / n * bytes;
}
