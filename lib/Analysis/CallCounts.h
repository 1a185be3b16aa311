//===- CallCounts.h - How often a step runs each function -------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_ANALYSIS_CALLCOUNTS_H
#define AUTOPAR_LIB_ANALYSIS_CALLCOUNTS_H

#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace autopar::analysis {

/// How often a step runs each function below an entry, with the trip counts of
/// loops.
class CallCounts {
public:
  /// Counts from `entry`, which runs once. Fails with a diagnostic at a call
  /// that cannot be followed, at recursion, and if a count overflows.
  mlir::LogicalResult count(mlir::FunctionOpInterface entry);

  int64_t operator[](mlir::Operation *function) const {
    return counts.lookup(function);
  }
  /// Returns the function that `call` runs; valid after `count`.
  mlir::FunctionOpInterface callee(mlir::CallOpInterface call) {
    return mlir::cast<mlir::FunctionOpInterface>(
        call.resolveCallableInTable(&symbols));
  }

private:
  mlir::LogicalResult visit(mlir::FunctionOpInterface function);
  mlir::LogicalResult propagate(mlir::FunctionOpInterface function);

  mlir::SymbolTableCollection symbols;
  llvm::DenseMap<mlir::Operation *, int64_t> counts;
  /// `postOrder`: called functions before their callers. `active`: functions on
  /// the current path of calls.
  llvm::SmallVector<mlir::FunctionOpInterface> postOrder;
  llvm::SmallPtrSet<mlir::Operation *, 8> visited, active;
};

/// Returns how often one run of the function around `op` runs `op`: the product
/// of the trip counts of the loops around it; nothing if one is unknown or the
/// product overflows.
std::optional<int64_t> tripCountAround(mlir::Operation *op);

} // namespace autopar::analysis

#endif // AUTOPAR_LIB_ANALYSIS_CALLCOUNTS_H
