//===- SplitRequests.h - Which dimensions want an axis ----------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_TRANSFORMS_SPLITREQUESTS_H
#define AUTOPAR_LIB_TRANSFORMS_SPLITREQUESTS_H

#include "autopar/Interfaces/Interfaces.h"

#include "llvm/ADT/DenseMap.h"

namespace autopar {

/// The dimensions of a function's values that tensor parallelism splits, and
/// by which rule: those that ops ask for, and all that follow along factors.
class SplitRequests {
public:
  explicit SplitRequests(mlir::Operation *function);

  /// Requests on values that no other value determines (weights, caches), in
  /// the order of the IR.
  struct Source {
    mlir::OpResult value;
    unsigned dim;
    SplitRule rule;
    TensorParallelRole role;
  };
  llvm::SmallVector<Source> sources() const;

private:
  using Key = std::pair<mlir::Value, unsigned>;
  struct Request {
    SplitRule rule;
    TensorParallelRole role;
  };

  void seed(ShardingOpInterface op, const TensorParallelFactor &factor);
  void request(mlir::Value value, unsigned dim, Request what);
  void spread(ShardingOpInterface op, Key key, Request what);

  mlir::Operation *function;
  llvm::DenseMap<Key, Request> requests;
  llvm::SmallVector<Key> worklist;
};

} // namespace autopar

#endif // AUTOPAR_LIB_TRANSFORMS_SPLITREQUESTS_H
