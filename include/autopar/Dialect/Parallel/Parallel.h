//===- Parallel.h - The parallel dialect ------------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_DIALECT_PARALLEL_PARALLEL_H
#define AUTOPAR_DIALECT_PARALLEL_PARALLEL_H

#include "autopar/Interfaces/Interfaces.h"
#include "autopar/Placement/Placement.h"
#include "autopar/Schedule/Schedule.h"
#include "autopar/Schedule/Staging.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "autopar/Dialect/Parallel/ParallelDialect.h.inc"
#include "autopar/Dialect/Parallel/ParallelEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "autopar/Dialect/Parallel/ParallelAttrs.h.inc"
#define GET_OP_CLASSES
#include "autopar/Dialect/Parallel/ParallelOps.h.inc"

namespace autopar::parallel {

/// Stands for the grouping by experts of a set of routed tokens, in places
/// where a dimension number is expected.
inline constexpr int64_t expertsDim = -1;
/// Returns the axes sorted by name, so that unordered lists can be compared.
llvm::SmallVector<mlir::StringAttr>
sortedAxes(llvm::ArrayRef<mlir::StringAttr> axes);

/// Emits an error for a second op that divides the batch into microbatches, and
/// for a number of microbatches that no schedule allows.
mlir::LogicalResult verifyMicrobatches(MicrobatchesOpInterface op);

/// How a tensor is laid out on the mesh: a plain C++ value for computations.
struct Layout {
  llvm::SmallVector<DimAttr, 4> dims;
  llvm::SmallVector<mlir::StringAttr, 2> partial;

  /// Returns the layout that any tensor type states, whatever its encoding.
  static Layout of(mlir::RankedTensorType type);

  bool isWhole() const;
  /// Returns the dimension that is a set of routed tokens; null if there is
  /// none.
  DimAttr *findSet();
  bool uses(mlir::StringAttr axis) const;
  bool operator==(const Layout &other) const {
    return dims == other.dims && partial == other.partial;
  }
  /// Whether the layouts are equal, ignoring the order of sets and of partial
  /// axes, which has no meaning.
  bool isSameAs(const Layout &other) const;
  /// Returns the layout as text for messages: "[batch, query, _ by tp] partial
  /// [dp]".
  std::string str() const;
};

} // namespace autopar::parallel

#endif // AUTOPAR_DIALECT_PARALLEL_PARALLEL_H
