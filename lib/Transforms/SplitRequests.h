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
  };
  llvm::SmallVector<Source> sources() const;
  /// Requests on results that an op computes whole (`FactorKind::gathered`), in
  /// the order of the IR.
  llvm::SmallVector<Source> gathered() const;

private:
  using Key = std::pair<mlir::Value, unsigned>;

  void seed(ShardingOpInterface op, const TensorParallelFactor &factor);
  void request(mlir::Value value, unsigned dim, SplitRule rule);
  void spread(ShardingOpInterface op, Key key, SplitRule rule);

  mlir::Operation *function;
  llvm::DenseMap<Key, SplitRule> requests;
  llvm::SmallVector<Key> worklist;
};

} // namespace autopar

#endif // AUTOPAR_LIB_TRANSFORMS_SPLITREQUESTS_H
