//===- SplitRequests.h - Dimensions that request an axis --------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_TRANSFORMS_SPLIT_SPLITREQUESTS_H
#define AUTOPAR_LIB_TRANSFORMS_SPLIT_SPLITREQUESTS_H

#include "autopar/Interfaces/Interfaces.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace autopar::transforms {

/// Which dimensions of values are to be split over an axis: the seeds, and all
/// dimensions connected to them by the factors of ops.
class SplitRequests {
public:
  struct Request {
    program::SplitRule rule = program::SplitRule::plain;
    int64_t multiple = 1;
    /// The part of the model to which the dimension belongs; each part may have
    /// a tensor parallelism of its own.
    TensorParallelRole role = TensorParallelRole::dense;
    /// The axes of splits that the types have already.
    llvm::SmallVector<mlir::StringAttr, 2> axes = {};
  };
  /// A request for a value that no other value determines.
  struct Seed : Request {
    mlir::Value value;
    unsigned dim;
  };

  /// Returns the requests of tensor parallelism for the values inside
  /// `function`.
  static SplitRequests ofTensorParallelism(mlir::Operation *function);
  /// Returns the existing splits of weights, KV caches and function arguments
  /// as requests, followed through calls and loops.
  static SplitRequests ofTypes(mlir::ModuleOp module);

  /// Returns the requests for weights and KV caches, in the order of the IR.
  llvm::SmallVector<Seed> sources() const;
  /// Returns the requests for arguments of functions and of loops, in the order
  /// of the IR.
  llvm::SmallVector<Seed> arguments() const;
  /// Returns the request for dimension `dim` of `value`; null if there is none.
  const Request *find(mlir::Value value, unsigned dim) const;

private:
  using Key = std::pair<mlir::Value, unsigned>;

  explicit SplitRequests(mlir::Operation *root) : root(root) {}

  /// Adds requests for the dimensions of `op` that tensor parallelism splits,
  /// unless all of them have requests already.
  void seed(ShardingOpInterface op, const TensorParallelFactor &factor);
  void seed(mlir::Value value);
  void request(mlir::Value value, unsigned dim, const Request &what);
  void spread();
  void spread(ShardingOpInterface op, Key key, const Request &what);
  void collectLinks(mlir::ModuleOp module);
  void link(mlir::Value a, mlir::Value b);
  void addSeeds(mlir::Value value, llvm::SmallVectorImpl<Seed> &seeds) const;

  mlir::Operation *root;
  llvm::DenseMap<Key, Request> requests;
  llvm::SmallVector<Key> worklist;
  /// For each value, the equal values on the other side of a call or a loop.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value, 2>> links;
};

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_SPLIT_SPLITREQUESTS_H
