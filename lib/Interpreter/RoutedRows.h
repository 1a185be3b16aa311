//===- RoutedRows.h - Places of routed tokens -------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_INTERPRETER_ROUTEDROWS_H
#define AUTOPAR_LIB_INTERPRETER_ROUTEDROWS_H

#include "Kernels.h"

namespace autopar::interpreter {

/// Which devices have which rows of a set of routed tokens, according to the
/// set's type.
class RowHomes {
public:
  RowHomes(const TensorView &set, const DeviceGrid &grid);

  /// Whether, along `axes`, `device` is where the row's token or its expert is.
  /// The type must have these axes.
  bool isAt(const RoutedRow &row, int64_t device,
            llvm::ArrayRef<mlir::StringAttr> axes) const;
  /// Whether the type states that `device` has the row.
  bool has(const RoutedRow &row, int64_t device) const;
  /// Returns the rows of a set that are on `device` along `axes`.
  LocalTensor select(const LocalTensor &rows, int64_t device,
                     llvm::ArrayRef<mlir::StringAttr> axes) const;
  /// Checks that each device has the rows that the type states, and that no row
  /// is missing. Errors are emitted.
  mlir::LogicalResult verify(mlir::Operation *op,
                             const std::vector<LocalTensor> &tensors) const;
  /// Returns the number of each row among the rows of all tokens, if each token
  /// has `most` rows.
  static std::vector<int64_t> numbersOf(const LocalTensor &rows, int64_t most);

private:
  /// Where the indices of one token dimension, or the experts, are.
  struct Home {
    DimRef dim;
    int64_t extent = 1;
    /// For each index, the parts that have it, as positions on `dim.axes`; an
    /// expert with copies has several.
    std::vector<std::vector<int64_t>> placesOf;
  };
  static Home makeHome(const DimRef &dim, const DeviceGrid &grid);
  static Home makeExperts(const DimRef &dim, const DeviceGrid &grid);
  /// Whether part `place` of `home` is on `device` along `axis`.
  bool isAt(const Home &home, int64_t place, int64_t device,
            mlir::StringAttr axis) const;

  const DeviceGrid &grid;
  DimRef set;
  std::vector<Home> tokens;
  Home experts;
};

/// Joins the rows that the devices of a group have, in the order of their
/// tokens.
LocalTensor joinRows(const std::vector<LocalTensor> &parts);

} // namespace autopar::interpreter

#endif // AUTOPAR_LIB_INTERPRETER_ROUTEDROWS_H
