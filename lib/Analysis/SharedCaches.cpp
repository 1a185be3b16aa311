//===- SharedCaches.cpp ---------------------------------------------------===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SharedCaches.h"

#include "autopar/Dialect/Parallel/Parallel.h"

using namespace autopar;
using namespace autopar::analysis;
using namespace autopar::transformer;
using namespace mlir;

/// Whether an op that uses `handle`, also behind a ring, appends to the cache.
static bool isAppendedTo(Value handle) {
  return llvm::any_of(handle.getUsers(), [](Operation *user) {
    if (auto ring = dyn_cast<parallel::RingOp>(user))
      return isAppendedTo(ring.getResult());
    return !isa<SharedAttentionOp>(user);
  });
}

FailureOr<bool> SharedCaches::bind(KVCacheOp cache, int64_t count,
                                   WorkloadBuilder &builder) {
  if (!cache.getName())
    return false;
  bool appends = isAppendedTo(cache.getResult());
  auto [it, isFirst] = known.try_emplace(cache.getNameAttr(), cache);
  if (isFirst && appends && count == 1)
    return false;
  if (isFirst)
    return appends ? cache.emitOpError()
                         << "has one name for " << count
                         << " layers that append: one cache is appended to "
                            "once in a step"
                   : cache.emitOpError()
                         << "is read, but no earlier layer appends to a cache "
                            "of this name";
  KVCacheOp own = it->second;
  const char *fault =
      appends ? "is appended to by a second layer"
      : cache.getWindow() != own.getWindow() || cache.getType() != own.getType()
          ? "has another type or window than an earlier cache "
            "of this name"
          : nullptr;
  if (!fault) {
    builder.bind(cache.getResult(), own.getResult());
    return true;
  }
  InFlightDiagnostic diag = cache.emitOpError(fault);
  diag.attachNote(own.getLoc()) << "the earlier cache is here";
  return diag;
}
