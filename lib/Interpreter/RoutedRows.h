//===- RoutedRows.h - Where routed tokens go --------------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_INTERPRETER_ROUTEDROWS_H
#define AUTOPAR_LIB_INTERPRETER_ROUTEDROWS_H

#include "Kernels.h"

namespace autopar {

/// Of `rows`, those whose experts are where `device` is along `axes`: the
/// experts of the weights that `set` is multiplied by.
LocalResult rowsFor(mlir::Operation *op, mlir::Value set, Device &device,
                    llvm::ArrayRef<mlir::StringAttr> axes,
                    const LocalTensor &rows);
/// Of `rows`, those of tokens from where `device` is along `axes`.
LocalTensor rowsFrom(Device &device, llvm::ArrayRef<mlir::StringAttr> axes,
                     const LocalTensor &rows);

} // namespace autopar

#endif // AUTOPAR_LIB_INTERPRETER_ROUTEDROWS_H
