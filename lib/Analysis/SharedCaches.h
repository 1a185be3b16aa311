//===- SharedCaches.h - Caches that several layers have ---------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_ANALYSIS_SHAREDCACHES_H
#define AUTOPAR_LIB_ANALYSIS_SHAREDCACHES_H

#include "autopar/Dialect/Transformer/Transformer.h"
#include "autopar/Interfaces/WorkloadBuilder.h"

namespace autopar::analysis {

/// The caches of a model that have a name. Layers are extracted in the order in
/// which they run, so the first cache of a name is the one that is appended to;
/// the others are handles to it.
class SharedCaches {
public:
  /// Binds the handle of `cache` to the earlier cache of its name. Returns
  /// false if it is a cache of its own. Fails with a diagnostic if an earlier
  /// one has another type, or if not exactly one layer appends; a step runs the
  /// op `count` times.
  mlir::FailureOr<bool> bind(transformer::KVCacheOp cache, int64_t count,
                             WorkloadBuilder &builder);

private:
  llvm::DenseMap<mlir::StringAttr, transformer::KVCacheOp> known;
};

} // namespace autopar::analysis

#endif // AUTOPAR_LIB_ANALYSIS_SHAREDCACHES_H
