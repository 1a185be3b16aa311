//===- Propagation.h - Types that follow from seeds -------------*- C++ -*-===//
//
// Part of autopar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_TRANSFORMS_SPLIT_PROPAGATION_H
#define AUTOPAR_LIB_TRANSFORMS_SPLIT_PROPAGATION_H

#include "mlir/IR/BuiltinOps.h"

namespace autopar::transforms {

/// Removes everything that propagation inserts: all reshards, and all
/// collectives except those on weights and KV caches.
void dropLayoutOps(mlir::ModuleOp module);

/// Sets the types of all values of a module from its seeds, whose splits are
/// given: weights and KV caches, arguments and results of functions, and values
/// that loops carry. First removes all layout ops except those on weights and
/// caches; inserts a `parallel.reshard` where an op cannot take an operand as
/// it is. Passes that split seeds can therefore run one after the other.
void propagateSplits(mlir::ModuleOp module);

} // namespace autopar::transforms

#endif // AUTOPAR_LIB_TRANSFORMS_SPLIT_PROPAGATION_H
