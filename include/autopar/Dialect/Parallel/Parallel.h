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

/// The number of a set's grouping by experts in the place of a dimension.
inline constexpr int64_t expertsDim = -1;
/// The axes sorted by name, to compare unordered lists.
llvm::SmallVector<mlir::StringAttr>
sortedAxes(llvm::ArrayRef<mlir::StringAttr> axes);

/// Refuses a second op that divides the batch, and a number of microbatches
/// that no schedule has.
mlir::LogicalResult verifyMicrobatches(MicrobatchesOpInterface op);

/// The layout of a tensor on the mesh, as a value for computations.
struct Layout {
  llvm::SmallVector<DimAttr, 4> dims;
  llvm::SmallVector<mlir::StringAttr, 2> partial;

  /// Reads the layout off any tensor type, whatever its encoding.
  static Layout of(mlir::RankedTensorType type);

  bool isWhole() const;
  /// The dimension that is a set, null where there is none.
  DimAttr *findSet();
  bool uses(mlir::StringAttr axis) const;
  bool operator==(const Layout &other) const {
    return dims == other.dims && partial == other.partial;
  }
  /// Equal but for orders that mean nothing: of sets and of partial axes.
  bool isSameAs(const Layout &other) const;
  /// "[batch, query, _ by tp] partial [dp]", for messages.
  std::string str() const;
};

} // namespace autopar::parallel

#endif // AUTOPAR_DIALECT_PARALLEL_PARALLEL_H
