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

/// The dimensions of values that request an axis: the seeds, and all dimensions
/// connected to them by the factors of ops.
class SplitRequests {
public:
  struct Request {
    program::SplitRule rule = program::SplitRule::plain;
    int64_t multiple = 1;
    /// The part of the model that the dimension belongs to, each of which may
    /// have a tensor parallelism of its own.
    TensorParallelRole role = TensorParallelRole::dense;
    /// Axes of splits that types have already.
    llvm::SmallVector<mlir::StringAttr, 2> axes = {};
  };
  /// A request on a value that no other value determines.
  struct Seed : Request {
    mlir::Value value;
    unsigned dim;
  };

  /// The requests of tensor parallelism inside `function`.
  static SplitRequests ofTensorParallelism(mlir::Operation *function);
  /// The existing splits of weights, caches and arguments of functions, through
  /// calls and loops.
  static SplitRequests ofTypes(mlir::ModuleOp module);

  /// Requests on weights and caches, in the order of the IR.
  llvm::SmallVector<Seed> sources() const;
  /// Requests on arguments of functions and of loops, in the order of the IR.
  llvm::SmallVector<Seed> arguments() const;
  /// The request on dimension `dim` of `value`, or null.
  const Request *find(mlir::Value value, unsigned dim) const;

private:
  using Key = std::pair<mlir::Value, unsigned>;

  explicit SplitRequests(mlir::Operation *root) : root(root) {}

  /// Requests the dimensions of `op` that tensor parallelism splits, unless all
  /// of them have requests.
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
  /// Equal values on the two sides of a call or a loop.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value, 2>> links;
};

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_SPLIT_SPLITREQUESTS_H
