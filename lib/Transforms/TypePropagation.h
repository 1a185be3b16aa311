//===- TypePropagation.h - New layouts through a function -------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_TRANSFORMS_TYPEPROPAGATION_H
#define AUTOPAR_LIB_TRANSFORMS_TYPEPROPAGATION_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace autopar {

/// Recomputes the types of a function's values from its weights and caches,
/// whose types were changed, on. Where an op cannot take an operand in its new
/// layout, a `parallel.reshard` goes before it; ops that know no factors
/// (calls, terminators, loops) get what they had; `original` has the types that
/// weights and caches had. Results that are in `resplit` are resharded to be
/// split as the types there.
void propagateTypes(mlir::FunctionOpInterface function,
                    const llvm::DenseMap<mlir::Value, mlir::Type> &original,
                    const llvm::DenseMap<mlir::Value, mlir::Type> &resplit);

} // namespace autopar

#endif // AUTOPAR_LIB_TRANSFORMS_TYPEPROPAGATION_H
